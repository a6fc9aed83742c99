#!/usr/bin/env python3
"""Compare Sixnines with a plain C client and with brokers' own tools, in pairs.

Builds what a comparison needs, starts the broker on loopback, runs A B B A
rounds and prints the median of each ratio A/B with a distribution-free interval.
See README.md beside this file for what is compared and why.
"""

import argparse
import datetime
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys

from pairing import machine
from pairing.children import Failed, run
from pairing.comparison import LEAST_ROUNDS, Bound, Comparison, run_pairs, summarise
from pairing.managed import NATS, Product
from pairing.peers import KafkaPerfTest, NatsBenchJetStream, PerfTest, RdkafkaPerformance, RedisBenchmark
from pairing.programs import Bareloop, FlatOut, NatsBench, NatsLatency, Natslat, Paced, Sixnines

HERE = os.path.dirname(os.path.abspath(__file__))
NATS_SERVER_VERSION = "v2.15.2"
PERF_TEST_VERSION = "2.22.1"
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

    flat = flat_out(10_000_000, 256)
    acks_1 = Sixnines("publish", "kafka", ("--option", "acks=1"))
    sides = {"natslat": Natslat(), "bareloop": Bareloop(0), "bareloop-1": Bareloop(1)}
    p = [
        Comparison(
            "floor-20k", "Sixnines against the C client, 20,000/s of 1 KiB",
            Sixnines(), Natslat(), paced(20000, 1024), {"p50": Bound(1.4), "p99": Bound(1.5)},
        ),
        Comparison(
            "floor-3k", "Sixnines against the C client, 3,000/s of 256 B",
            Sixnines(), Natslat(), paced(3000, 256), {"p50": Bound(1.2), "p99": Bound(1.5)},
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
            sides["natslat"], Natslat(), paced(20000, 1024), {"p50": None, "p99": None},
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
    ]  # fmt: skip
    return {c.name: c for c in p}


def whole(low):
    """An argparse type: a whole number from low up."""

    def parse(text):
        if not re.fullmatch("[0-9]+", text) or int(text) < low:
            raise argparse.ArgumentTypeError(f"{text}: a whole number from {low} up is needed")
        return int(text)

    return parse


def parse_options(argv):
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    p = argparse.ArgumentParser(prog="pairs.py", description=__doc__.split("\n\n")[0])
    p.add_argument("comparison", nargs="*", help="names; without any: list what there is")
    p.add_argument("--rounds", type=whole(1), default=LEAST_ROUNDS,
                   help=f"A B B A rounds, two pairs each ({LEAST_ROUNDS}; fewer are a trial of the scripts)")
    p.add_argument("--duration", type=whole(1), default=20, help="seconds measured in a paced trial (20)")
    p.add_argument("--warmup", type=whole(0), default=3, help="seconds of the same load before it (3)")
    p.add_argument("--messages", type=whole(1), help="messages in a flat-out trial, another number than the comparison's")
    p.add_argument("--rate", type=whole(1), help="another rate than the comparison's, a second")
    p.add_argument("--size", type=whole(32), help="another payload than the comparison's, bytes")
    p.add_argument("--natscli", choices=NATSCLI_VERSIONS, default=NATSCLI_VERSIONS[0],
                   help="release of natscli: v0.3.0 stamps nothing in bench pub, v0.4.0 every message (v0.3.0)")
    p.add_argument("--bin-dir", default=os.path.join(cache, "sixnines-benchmarks"),
                   help="where programs are built and kept (%(default)s)")
    p.add_argument("--sixnines", metavar="PATH", help="a sixnines binary (built from this tree)")
    p.add_argument("--json", action="store_true", help="one JSON object on standard output")
    p.add_argument("--check", action="store_true", help="exit status 3 where a bound is missed")
    o = p.parse_args(argv)
    known = comparisons(o)
    unknown = [n for n in o.comparison if n not in known]
    if unknown:
        p.error(f"no comparison {unknown[0]!r}; there are {', '.join(known)}")
    return o, known


def server_given():
    """The nats-server from $NATS_SERVER, or from PATH where it is the pinned version."""
    if given := os.environ.get("NATS_SERVER"):
        return given
    found = shutil.which("nats-server")
    if found and run([found, "--version"], 10).stdout.strip() == f"nats-server: {NATS_SERVER_VERSION}":
        return found
    return None


# Programs that are not built from this tree: the variable that names each, its
# name on PATH, and how to come by it.
FOREIGN = {
    "rdkafka_performance": (
        "RDKAFKA_PERFORMANCE", "it is an example in librdkafka's sources that nobody packages: see README.md",
    ),
    "redis-benchmark": ("REDIS_BENCHMARK", "install redis-tools"),
    "java": ("JAVA", "install default-jre-headless"),
}  # fmt: skip


def foreign(target, directory):
    """The program from its variable, from PATH or from where programs are kept."""
    variable, advice = FOREIGN[target]
    kept = os.path.join(directory, target)
    found = os.environ.get(variable) or shutil.which(target) or (os.access(kept, os.X_OK) and kept)
    if not found:
        raise Failed(f"there is no {target} on PATH, in {directory} or named by ${variable}; {advice}")
    return found


def obtain(o, targets):
    """Builds what is not given; a path for each target."""
    directory = os.path.abspath(o.bin_dir)
    files = {t: t for t in targets} | {
        "nats-server": f"nats-server-{NATS_SERVER_VERSION}", "perf-test": f"perf-test-{PERF_TEST_VERSION}",
    }  # fmt: skip
    binaries = {t: os.path.join(directory, files[t]) for t in targets}
    given = {"sixnines": o.sixnines and os.path.abspath(o.sixnines)}
    given |= {t: foreign(t, directory) for t in targets if t in FOREIGN}
    if "nats-server" in targets:
        given["nats-server"] = server_given()
    for target, path in given.items():
        if path and target in binaries:
            if not os.access(path, os.X_OK):
                raise Failed(f"{path}: not a program")
            binaries[target] = path
    build = [t for t in targets if not given.get(t)]
    if build:
        run(["make", "-s", "-C", HERE, f"BIN={directory}", *build], 1800)
    return binaries


def foreign_version(name, path):
    """What a program that is not of Go says of itself."""
    # rdkafka_performance tells it with its usage, when nothing is asked of it.
    arguments = [] if name == "rdkafka_performance" else ["--version"]
    said = subprocess.run([path, *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    lines = (said.stdout + said.stderr).splitlines()
    return next((line.strip() for line in lines if "ersion" in line or "redis" in line or "openjdk" in line), "unknown")


def versions(binaries):
    """What each program says it was made from."""
    found = {}
    for name, path in sorted(binaries.items()):
        if name in ("natslat", "redislat"):
            compiler = os.environ.get("CC", "cc")
            found[name] = "this tree, " + run([compiler, "--version"], 10).stdout.splitlines()[0]
            continue
        if name == "perf-test":
            found[name] = PERF_TEST_VERSION
            continue
        if name in FOREIGN:
            found[name] = foreign_version(name, path)
            continue
        built = subprocess.run(["go", "version", "-m", path], capture_output=True, text=True, check=False).stdout
        toolchain = re.search(r": (go\S+)", built)
        module = re.search(r"^\tmod\t(\S+)\t(\S+)", built, re.MULTILINE)
        library = re.search(r"^\tdep\tgithub\.com/nats-io/nats\.go\t(\S+)", built, re.MULTILINE)
        parts = [" ".join(module.groups()) if module else "unknown", toolchain and toolchain[1]]
        if library and name != "nats-server":
            parts.append(f"nats.go {library[1]}")
        found[name] = ", ".join(p for p in parts if p)
    revision = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"],
                              capture_output=True, text=True, check=False).stdout.strip()
    found["this tree"] = revision or "unknown"
    return found


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


def compare(o, chosen):
    """Runs the chosen comparisons; the report as plain data."""
    binaries = obtain(o, sorted({t for c in chosen for t in c.targets}))
    if (load := os.getloadavg()[0]) > BUSY:
        print(f"pairs.py: load average {load:.2f}: something else runs here, and will be measured too", file=sys.stderr)
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


def main(argv):
    o, known = parse_options(argv)
    if not o.comparison:
        for c in known.values():
            bounds = ", ".join(f"{k} {b}" for k, b in c.bounds.items() if b)
            print(f"{c.name:16} {c.what}" + (f" (asked: {bounds})" if bounds else ""))
        return 0
    # A polite kill must stop the server and the programs too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_FAILURE))
    try:
        report = compare(o, [known[n] for n in o.comparison])
    except Failed as e:
        print(f"pairs.py: {e}", file=sys.stderr)
        return EXIT_FAILURE
    except KeyboardInterrupt:
        print("pairs.py: interrupted", file=sys.stderr)
        return EXIT_FAILURE
    if o.json:
        json.dump(report, sys.stdout, indent=1)
        print()
    else:
        print_report(report)
    missed = [f for c in report["comparisons"] for f in c["summary"]["figures"].values() if f["met"] is False]
    undecided = [c for c in report["comparisons"] if not c["summary"]["figures"]]
    return EXIT_BOUND if o.check and (missed or undecided) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
