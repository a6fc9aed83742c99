#!/usr/bin/env python3
"""Compare Sixnines with a plain C client and with brokers' own tools, in pairs.

Builds what a comparison needs, starts the broker on loopback, runs A B B A
rounds and prints the median of each ratio A/B with a distribution-free interval.
See README.md beside this file for what is compared and why.
"""

import argparse
import datetime
import fnmatch
import json
import os
import re
import shlex
import signal
import sys
from dataclasses import replace

from pairing import hunt, machine
from pairing.builds import obtain, versions
from pairing.children import Failed
from pairing.comparison import LEAST_ROUNDS, WRONG, Bound, Comparison, run_pairs, summarise, verdict_words
from pairing.managed import NATS, Product
from pairing.peers import KafkaPerfTest, NatsBenchJetStream, PerfTest, RdkafkaPerformance, RedisBenchmark
from pairing.programs import Bareloop, CClient, FlatOut, Fleet, NatsBench, NatsLatency, Ordinary, Paced, Sixnines

NATSCLI_VERSIONS = ("v0.3.0", "v0.4.0")
EXIT_FAILURE, EXIT_BOUND = 1, 3  # argparse ends with 2 itself
BUSY = 0.5  # a load average from which on a warning is due


def comparisons(o):
    """Every comparison there is, under the loads the options give."""

    def paced(rate, size):
        return Paced(o.rate or rate, o.size or size, o.duration, o.warmup)

    def flat_out(messages, size):
        return FlatOut(o.messages or messages, o.size or size)

    def peer(name, what, sixnines, other, load, rate, processor=None, broker=NATS()):
        bounds = {"per_second": Bound(rate, at_most=False), "processor_ns_per_message": processor and Bound(processor)}
        return Comparison(name, what, sixnines, other, load, bounds, broker)

    def against_c(driver, name, what, load):
        """Ours against the C client of the same broker, and against its own verdict."""
        broker, client = {"nats": (NATS(), "natslat"), "redis": (Product("redis"), "redislat")}[driver]
        return Comparison(
            name, what, Sixnines(driver=driver, judged=True), CClient(client), load,
            {"p50": Bound(1.2), "p99": Bound(1.5)}, broker, judged=True,
        )  # fmt: skip

    def many(driver):
        for n in (1, 2, 4, 8, 16):
            load = replace(paced(20000, 512), connections=n)
            what = f"20,000/s of 512 B over {n} connections, against the C client"
            yield against_c(driver, f"many-{driver}-{n}", what, load)
            yield against_c(driver, f"many-{driver}-{n}-poisson", f"{what}, Poisson", replace(load, poisson=True))
            yield against_c(driver, f"many-{driver}-{n}-stall", f"{what}, both stopped for 3 ms once a minute",
                            replace(load, stalled=True))

    def fast(driver):
        for rate in (25000, 30000, 40000, 60000, 80000):
            what = f"{rate:,}/s of 256 B on one connection, against the C client"
            yield against_c(driver, f"fast-{driver}-{rate}", what, paced(rate, 256))

    def ordinary(name, client, driver, broker, *options):
        """Through the same library, from our pacer's thread and from a goroutine."""
        return Comparison(
            f"ordinary-{name}", f"publishing by {client}, 1,000/s of 256 B, against an ordinary program",
            Sixnines("publish", driver, [a for o in options for a in ("--option", o)]), Ordinary(client),
            paced(1000, 256), {"p50": None, "p99": None}, broker,
        )  # fmt: skip

    flat = flat_out(10_000_000, 256)
    unwatched = ("--set", "record.probe=off")  # a fleet has no probe beside it
    acks_1 = Sixnines("publish", "kafka", ("--option", "acks=1"))
    sides = {"natslat": CClient("natslat"), "bareloop": Bareloop(0), "bareloop-1": Bareloop(1)}
    p = [
        Comparison(
            "floor-20k", "Sixnines against the C client, 20,000/s of 1 KiB",
            Sixnines(), CClient("natslat"), paced(20000, 1024), {"p50": Bound(1.4), "p99": Bound(1.5)},
        ),
        Comparison(
            "floor-3k", "Sixnines against the C client, 3,000/s of 256 B",
            Sixnines(), CClient("natslat"), paced(3000, 256), {"p50": Bound(1.2), "p99": Bound(1.5)},
        ),
        Comparison(
            "nats-latency", "Sixnines' response times against nats latency's service times",
            Sixnines(), NatsLatency(o.natscli), paced(20000, 1024),
            {"p50": Bound(0.5), "p99": Bound(0.5)},
        ),
        Comparison(
            "pub", "publishing flat out, against nats bench pub",
            Sixnines("publish"), NatsBench(o.natscli, False), flat,
            {"per_second": Bound(0.75, at_most=False)},
        ),
        Comparison(
            "pubsub", "publishing and delivering flat out, against nats bench pub and sub",
            Sixnines("deliver"), NatsBench(o.natscli, True), flat,
            {"per_second": Bound(0.95, at_most=False)},
        ),
        Comparison(
            "library", "nats.go with its default write buffer against the C client",
            sides["bareloop"], sides["natslat"], paced(20000, 1024), {"p50": None, "p99": None},
        ),
        Comparison(
            "library-direct", "nats.go writing on the caller's thread against the C client",
            sides["bareloop-1"], sides["natslat"], paced(20000, 1024), {"p50": None, "p99": None},
        ),
        Comparison(
            "library-latency", "nats latency's service times against the C client's response times",
            NatsLatency(o.natscli), sides["natslat"], paced(20000, 1024), {"p50": None, "p99": None},
        ),
        Comparison(
            "null", "the C client against itself: what this method finds where nothing is",
            sides["natslat"], CClient("natslat"), paced(20000, 1024), {"p50": None, "p99": None},
        ),
        Comparison(
            "null-8", "the C client against itself, 20,000/s of 512 B over 8 connections",
            sides["natslat"], CClient("natslat"), replace(paced(20000, 512), connections=8), {"p50": None, "p99": None},
        ),
        Comparison(
            "fleet", "three agents at 1,000/s each against one process at 3,000/s, 256 B",
            Fleet(3, unwatched), Sixnines(arguments=unwatched), replace(paced(3000, 256), connections=3),
            {"p50": Bound(1.03, least=0.97), "p99": None},
        ),
        peer(
            "kafka-producer", "publishing to Kafka flat out, acks=1, against rdkafka_performance",
            acks_1, RdkafkaPerformance(), flat_out(2_000_000, 1024), 1.0, 1.5, Product("kafka"),
        ),
        peer(
            "kafka-perf-test", "publishing to Kafka flat out, acks=1, against kafka-producer-perf-test",
            acks_1, KafkaPerfTest(), flat_out(2_000_000, 1024), 2.0, 0.25, Product("kafka"),
        ),
        peer(
            "rabbitmq", "RabbitMQ flat out, nothing acknowledged, against PerfTest",
            Sixnines("deliver", "rabbitmq", ("--option", "confirms=false", "--option", "ack_every=0")),
            PerfTest(), flat_out(1_000_000, 1024), 1.2, 0.6, Product("rabbitmq"),
        ),
        peer(
            "rabbitmq-confirms", "RabbitMQ flat out, 1,000 unconfirmed messages, against PerfTest -c 1000",
            Sixnines("deliver", "rabbitmq", ("--option", "ack_every=0", "--in-flight", "1000")),
            PerfTest(1000), flat_out(1_000_000, 1024), 1.0, None, Product("rabbitmq"),
        ),
        peer(
            "redis", "PUBLISH to Redis in pipelines, against redis-benchmark -P 64",
            Sixnines("publish", "redis"), RedisBenchmark(), flat_out(5_000_000, 256), 1.0, None, Product("redis"),
        ),
        peer(
            "jetstream", "publishing to JetStream in memory, against nats bench js pub async",
            Sixnines("publish", "jetstream", ("--option", "storage=memory")),
            NatsBenchJetStream(o.natscli), flat_out(2_000_000, 256), 1.0, None, NATS(jetstream=True),
        ),
        ordinary("franz-go", "franz-go", "kafka", Product("kafka"), "acks=1"),
        ordinary("amqp091", "amqp091", "rabbitmq", Product("rabbitmq"), "client=library", "exchange=default", "persistent=false"),
        ordinary("nats.go", "nats.go", "jetstream", NATS(jetstream=True), "storage=memory", "client=library"),
        *many("nats"), *many("redis"), *fast("nats"), *fast("redis"),
    ]  # fmt: skip
    return {c.name: c for c in p}


def whole(low):
    """An argparse type: a whole number from low up."""

    def parse(text):
        if not re.fullmatch("[0-9]+", text) or int(text) < low:
            raise argparse.ArgumentTypeError(f"{text}: a whole number from {low} up is needed")
        return int(text)

    return parse


def numbers(text):
    """An argparse type: K or K-L, both included."""
    m = re.fullmatch("([0-9]+)(?:-([0-9]+))?", text)
    if not m or int(m[2] or m[1]) < int(m[1]):
        raise argparse.ArgumentTypeError(f"{text}: the number of a trial is needed, or two as in 3-5")
    return range(int(m[1]), int(m[2] or m[1]) + 1)


def add_common_options(p):
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    p.add_argument("--bin-dir", default=os.path.join(cache, "sixnines-benchmarks"),
                   help="where programs are built and kept (%(default)s)")
    p.add_argument("--sixnines", metavar="PATH", help="a sixnines binary (built from this tree)")
    p.add_argument("--json", action="store_true", help="one JSON object on standard output")


def parse_hunt(argv):
    p = argparse.ArgumentParser(
        prog="pairs.py hunt", description=hunt.__doc__,
        epilog="Exit status 3 where there was a lie, 1 where Sixnines failed or lost messages.",
    )  # fmt: skip
    p.add_argument("--trials", type=whole(1), default=100, help="loads to draw (100)")
    p.add_argument("--seed", type=whole(0), default=1, help="what they are drawn from (1)")
    p.add_argument("--only", type=numbers, metavar="K", help="only trial K, from 0 up, or trials K-L")
    p.add_argument("--out", metavar="FILE", help="add each trial to FILE, and run none that it has already")
    p.add_argument("--again", action="store_true", help="run those again that FILE has with steal, which do not count")
    add_common_options(p)
    return p.parse_args(argv)


def parse_options(argv):
    p = argparse.ArgumentParser(
        prog="pairs.py", description=__doc__.split("\n\n")[0],
        epilog="pairs.py hunt runs random loads and looks for results that are wrong and called VALID; see pairs.py hunt --help.",
    )  # fmt: skip
    p.add_argument("comparison", nargs="*", help="names or patterns such as many-nats-*; without any: list what there is")
    p.add_argument("--rounds", type=whole(1), default=LEAST_ROUNDS,
                   help=f"A B B A rounds, two pairs each ({LEAST_ROUNDS}; fewer are a trial of the scripts)")
    p.add_argument("--duration", type=whole(1), default=20, help="seconds measured in a paced trial (20)")
    p.add_argument("--warmup", type=whole(0), default=3, help="seconds of the same load before it (3)")
    p.add_argument("--messages", type=whole(1), help="messages in a flat-out trial, another number than the comparison's")
    p.add_argument("--rate", type=whole(1), help="another rate than the comparison's, a second")
    p.add_argument("--size", type=whole(32), help="another payload than the comparison's, bytes")
    p.add_argument("--natscli", choices=NATSCLI_VERSIONS, default=NATSCLI_VERSIONS[0],
                   help="release of natscli: v0.3.0 stamps nothing in bench pub, v0.4.0 every message (v0.3.0)")
    p.add_argument("--before", metavar="PATH",
                   help="another sixnines binary, which is compared with this one in place of each other program")
    p.add_argument("--check", action="store_true", help="exit status 3 where a bound is missed")
    add_common_options(p)
    o = p.parse_args(argv)
    known = comparisons(o)
    chosen = []
    for wanted in o.comparison:
        names = fnmatch.filter(known, wanted)
        if not names:
            p.error(f"no comparison {wanted!r}; there are {', '.join(known)}")
        chosen += [n for n in names if n not in chosen]
    o.comparison = chosen
    if o.before:
        for n in chosen:
            if not isinstance(known[n].a, Sixnines):
                p.error(f"--before: {n} does not run Sixnines, so there is nothing to compare with it")
            known[n] = known[n].with_before()
    return o, known


def amount(name, value):
    """A figure with its unit."""
    return f"{value:,.0f}/s" if "per_second" in name else f"{value / 1000:,.1f} µs"


def tell(comparison, pair, rounds):
    """A line of progress for people."""
    parts = [
        f"{name} {amount(name, pair['a']['figures'][name])} : {amount(name, pair['b']['figures'][name])}"
        f" = {ratio:.3f}" for name, ratio in pair["ratios"].items()
    ]
    steal = max(pair["a"]["steal"], pair["b"]["steal"])
    note = f"  discarded: steal {steal:.2%}" if pair["discarded"] else ""
    if comparison.judged:
        parts.append(verdict_words(pair["a"]["figures"]))
        parts += [f"{letter.upper()} does not keep the rate" for letter in ("a", "b") if not pair[letter]["figures"]["rate_kept"]]
    print(f"{comparison.name} {pair['round']}/{rounds} {pair['order']}  " + "  ".join(parts) + note,
          file=sys.stderr, flush=True)


def interval(ratio):
    """The interval of a Ratio in words."""
    if ratio["low"] is None:
        return "no interval: too few of them"
    return f"[{ratio['low']:.3f}, {ratio['high']:.3f}] ({ratio['coverage']:.1%})"


def print_report(report):
    shape = report["machine"]
    print(f"machine: {shape['cores']} cores, {shape['model']}, {shape['kernel']}, clock {shape['clocksource']}")
    for name, version in report["versions"].items():
        print(f"version: {name}: {version}")
    for c in report["comparisons"]:
        s = c["summary"]
        print(f"\n{c['name']}: {c['what']}")
        for argv in c["commands"]["a"] + c["commands"]["b"]:
            print("  $ " + shlex.join(argv))
        print(f"  broker: {', '.join(c['broker'])}")
        print(f"  pairs: {s['pairs']}, rounds A B B A: {c['rounds']}, each pair with a fresh server;"
              f" {s['discarded']} discarded (steal above {machine.STEAL_LIMIT:.1%})")
        if c["rounds"] < LEAST_ROUNDS:
            print(f"  fewer than {LEAST_ROUNDS} rounds: a trial of the scripts, not a measurement")
        for name, f in s["figures"].items():
            ratio = f["ratio"]
            bound = f"  asked {f['bound']}: {'met' if f['met'] else 'MISSED'} by {f['by']}" if f["bound"] else ""
            print(f"  {name}: A {amount(name, f['a_median'])}  B {amount(name, f['b_median'])}"
                  f"  A/B {ratio['median']:.3f} {interval(ratio)}{bound}")
        for name, ratio in s["rounds"].items():
            print(f"  {name} by rounds, discarded pairs included: A/B {ratio['median']:.3f} {interval(ratio)}")
        if judged := s.get("judged"):
            print(f"  trials of A that call a p50 of more than {WRONG} times B's valid: {judged['wrong_but_valid']}"
                  f" (in discarded pairs {judged['wrong_but_valid_discarded']});"
                  f" rate kept by A in {judged['rate_kept_by_both']} of the {judged['rate_kept_by_b']} pairs where B kept it")
        for letter, side in s["sides"].items():
            extra = [f"{side['processor_seconds_median']:.2f} s of processor a trial"]
            for k in ("service_p50", "service_p99", "lag_p50", "lag_p99"):
                if k in side["figures_median"]:
                    extra.append(f"{k} {amount(k, side['figures_median'][k])}")
            if "rate_worst_deviation" in side:
                extra.append(f"rate within {side['rate_worst_deviation']:.3%}")
            if "verdicts" in side:
                extra.append("verdicts " + ", ".join(f"{v} {n}×" for v, n in side["verdicts"].items()))
            print(f"  {letter.upper()} = {side['program']}: " + ", ".join(extra))


def warn_if_busy():
    if (load := os.getloadavg()[0]) > BUSY:
        print(f"pairs.py: load average {load:.2f}: something else runs here, and will be measured too", file=sys.stderr)


def compare(o, chosen):
    """Runs the chosen comparisons; the report as plain data."""
    binaries = obtain(o.bin_dir, o.sixnines, sorted({t for c in chosen for t in c.targets}), o.before)
    warn_if_busy()
    report = {
        "started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": machine.shape(),
        "versions": versions(binaries),
        "rule": f"a pair is discarded where steal exceeded {machine.STEAL_LIMIT:.1%} in either trial",
        "comparisons": [],
    }
    for c in chosen:
        pairs = run_pairs(c, binaries, o.rounds, tell)
        report["comparisons"].append({
            "name": c.name, "what": c.what, "rounds": o.rounds,
            "load": {"kind": type(c.load).__name__, **vars(c.load)},
            "commands": {s: pairs[0][s]["commands"] for s in ("a", "b")},
            "broker": sorted({p["broker"] for p in pairs}),
            "pairs": pairs, "summary": summarise(c, pairs),
        })  # fmt: skip
    return report


def main_compare(argv):
    o, known = parse_options(argv)
    if not o.comparison:
        for c in known.values():
            bounds = ", ".join(f"{k} {b}" for k, b in c.bounds.items() if b)
            print(f"{c.name:24} {c.what}" + (f" (asked: {bounds})" if bounds else ""))
        return 0
    report = compare(o, [known[n] for n in o.comparison])
    if o.json:
        json.dump(hunt.finite(report), sys.stdout, indent=1)
        print()
    else:
        print_report(report)
    return EXIT_BOUND if o.check and any(missed(c["summary"]) for c in report["comparisons"]) else 0


def missed(summary):
    """Whether a bound is missed or could not be decided."""
    judged = summary.get("judged")
    if judged and (judged["wrong_but_valid"] or judged["rate_kept_by_both"] < judged["rate_kept_by_b"]):
        return True
    return not summary["figures"] or any(f["met"] is False for f in summary["figures"].values())


def main_hunt(argv):
    o = parse_hunt(argv)
    binaries = obtain(o.bin_dir, o.sixnines, hunt.TARGETS)
    warn_if_busy()
    rows = sys.stderr if o.json else sys.stdout
    found = hunt.hunt(
        binaries, o.seed, o.only or range(o.trials), o.out, lambda line: print(line, file=rows, flush=True), o.again
    )
    if o.json:
        report = {"machine": machine.shape(), "versions": versions(binaries), **found}
        json.dump(hunt.finite(report), sys.stdout, indent=1)
        print()
    else:
        print(json.dumps(found["summary"], indent=1))
    if found["summary"]["lies"]:
        return EXIT_BOUND
    return EXIT_FAILURE if found["summary"]["failed"] else 0


def main(argv):
    # A polite kill must stop the server and the programs too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_FAILURE))
    try:
        return main_hunt(argv[1:]) if argv[:1] == ["hunt"] else main_compare(argv)
    except Failed as e:
        print(f"pairs.py: {e}", file=sys.stderr)
        return EXIT_FAILURE
    except KeyboardInterrupt:
        print("pairs.py: interrupted", file=sys.stderr)
        return EXIT_FAILURE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
