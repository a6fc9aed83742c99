import json
import math
import os
import signal
import stat
import tempfile
import threading
import time
import unittest
from contextlib import nullcontext
from dataclasses import replace

from .children import Failed, run, stalled
from .comparison import Bound, Comparison, judge, run_pairs, subject, summarise, verdict_words, vouched
from .programs import CClient, FlatOut, Fleet, Paced, Place, Sixnines


class FakeBroker:
    url, port = "nats://127.0.0.1:1", 1


def histogram(p50, p99, count):
    return {"count": count, "max": p99, "percentiles": {"50": p50, "99": p99}}


PACED = {
    "verdict": {"status": "VALID", "reasons": []},
    "counters": {"scheduled": 10, "sent": 10, "received": 10, "missing": 0},
    "rate": {"asked": 5, "sent": 5.0, "worst_second": 5},
    "histograms": {
        "delivery.response": histogram(7, 9, 10),
        "delivery.service": histogram(5, 6, 10),
        "lag.own": histogram(2, 3, 10),
    },
}
FLAT = {
    "verdict": {"status": "VALID", "reasons": []},
    "counters": {"scheduled": 4, "sent": 4, "received": 4, "missing": 0},
    "throughput": {
        "messages": 4, "bytes": 1024, "elapsed_ns": 8, "per_second": 5e8,
        "received": 4, "received_per_second": 4e8,
    },
}


class AFleet(unittest.TestCase):
    def test_agents_join_and_all_end(self):
        """A program that notes how it is called, in the place of sixnines."""
        with tempfile.TemporaryDirectory() as directory:
            path, calls = os.path.join(directory, "sixnines"), os.path.join(directory, "calls")
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"""#!/bin/sh
echo "$$ $SIXNINES_FLEET_TOKEN $*" >> {calls}
case $1 in
fleet) echo 'agents join by: SIXNINES_FLEET_TOKEN=secret sixnines agent --join tls://127.0.0.1:9 --pin abc' >&2; exec sleep 60;;
agent) exec sleep 60;;
esac
while [ "$(grep -c ' agent ' {calls})" != 2 ]; do sleep 0.01; done
cat <<'END'
{json.dumps(PACED)}
END
""")
            os.chmod(path, stat.S_IRWXU)
            figures, argvs = Fleet(2).trial(Place({"sixnines": path}, FakeBroker, directory, "subject"), Paced(5, 256, 2, 0, connections=2))
            with open(calls, encoding="utf-8") as f:
                lines = sorted(f.read().splitlines(), key=lambda line: line.split(" ", 2)[2])
            self.assertEqual(figures["p50"], 7)
            self.assertIn("--fleet-agents 2", " ".join(argvs[0]))
            for k in (0, 1):
                self.assertIn(f"secret agent --join tls://127.0.0.1:9 --pin abc --name m{k + 1}", lines[k])
            for line in lines[:3]:
                self.assertFalse(os.path.exists(f"/proc/{line.split()[0]}"))


class SixninesAnswers(unittest.TestCase):
    def trial(self, answer, load, code=0, pattern="deliver", judged=False, before=False):
        """A program that prints the answer, in the place of sixnines."""
        side = Sixnines(pattern, judged=judged)
        if before:
            side = side.before()
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, side.name)
            text = answer if isinstance(answer, str) else json.dumps(answer)
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n")
            os.chmod(path, stat.S_IRWXU)
            place = Place({side.name: path}, FakeBroker, directory, "subject")
            return side.trial(place, load)

    paced, flat = Paced(5, 256, 2, 1), FlatOut(4, 256)

    def test_paced(self):
        figures, ((*argv,),) = self.trial(PACED, self.paced)
        self.assertEqual((figures["p50"], figures["p99"], figures["lag_p50"]), (7, 9, 2))
        self.assertEqual(figures["verdict"], "VALID")
        for words in ("--rate 5/s", "--size 256B", "--duration 2s", "--warmup 1s", "--consumers 1"):
            self.assertIn(words, " ".join(argv))

    def test_flat_out(self):
        for pattern, rate in (("publish", 5e8), ("deliver", 4e8)):
            figures, ((*argv,),) = self.trial(FLAT, self.flat, pattern=pattern)
            self.assertEqual(figures["per_second"], rate)
            self.assertIn("--rate max --messages 4", " ".join(argv))
            self.assertEqual("--consumers" in argv, pattern == "deliver")

    def test_published(self):
        acked = {
            "counters": {"scheduled": 10, "acked": 10}, "rate": {"sent": 5.0},
            "histograms": {"publish.service": histogram(3, 4, 10)}, "verdict": PACED["verdict"],
        }  # fmt: skip
        figures, ((*argv,),) = self.trial(acked, self.paced, pattern="publish")
        self.assertEqual((figures["p50"], figures["p99"], figures["rate_kept"]), (3, 4, True))
        self.assertNotIn("--consumers", argv)
        for harm in ({"counters": {"scheduled": 10, "acked": 9}}, {"histograms": {"publish.service": histogram(3, 4, 9)}}):
            with self.assertRaises(Failed):
                self.trial({**acked, **harm}, self.paced, pattern="publish")

    def test_an_invalid_run_is_kept_with_its_verdict(self):
        answer = {**PACED, "verdict": {"status": "INVALID", "reasons": ["steal"]}}
        figures, _ = self.trial(answer, self.paced, code=4)
        self.assertEqual((figures["verdict"], figures["reasons"]), ("INVALID", ["steal"]))

    def test_many_connections(self):
        _, ((*argv,),) = self.trial(PACED, replace(self.paced, connections=8, fanout=2, poisson=True, seed=9))
        words = " ".join(argv)
        for asked in ("--producers 8 --consumers 16 --topics 8", "--arrivals poisson --seed 9"):
            self.assertIn(asked, words)
        self.assertNotIn("connections", words)  # up to 16 there is one for each
        _, ((*argv,),) = self.trial(PACED, replace(self.paced, connections=17, fanout=4))
        self.assertIn("--producer-connections 17 --consumer-connections 68", " ".join(argv))

    def test_another_binary_of_ours(self):
        figures, ((program, *argv),) = self.trial(PACED, self.paced, before=True)
        _, ((ours, *same),) = self.trial(PACED, self.paced)
        self.assertEqual((figures["p50"], os.path.basename(program), os.path.basename(ours)), (7, "sixnines-before", "sixnines"))
        self.assertEqual(argv[: argv.index("--out")], same[: same.index("--out")])

    def test_a_rate_that_is_not_kept(self):
        for sent, kept in ((5.0, True), (4.96, True), (4.9, False)):
            answer = {**PACED, "rate": {**PACED["rate"], "sent": sent}}
            self.assertEqual(self.trial(answer, self.paced)[0]["rate_kept"], kept, sent)

    def test_judged_trials_are_kept_whatever_happened(self):
        figures, _ = self.trial(PACED, self.paced, judged=True)
        self.assertEqual((figures["p50"], figures["p99"]), (7, 9))
        bare = {**PACED["histograms"]["delivery.response"], "percentiles": {}}
        for name, part in {
            "withheld": {"histograms": {**PACED["histograms"], "delivery.response": bare}},
            "loss": {"counters": {**PACED["counters"], "missing": 1}},
            "refused": {"histograms": {**PACED["histograms"], "delivery.response": histogram("refused", "refused", 10)}},
        }.items():
            with self.subTest(name):
                figures, _ = self.trial({**PACED, **part}, self.paced, code=4, judged=True)
                self.assertEqual((figures["p50"], figures["p99"]), (math.inf, math.inf))
                self.assertEqual(figures.get("harm"), {"missing": 1} if name == "loss" else None)

    def test_what_the_verdict_covers(self):
        def limit(metric, **to):
            return {"metric": metric, "suspect_from": "99.9", "why": "own lag", **to}

        ours, other = "delivery.response", limit("publish.response", valid_to="50")
        for verdict, expected in (
            ({}, None), ({"valid_to": "99"}, "99"),
            ({"valid_to": "50", "limits": [other]}, None),
            ({"valid_to": "50", "limits": [other, limit(ours, valid_to="99")]}, "99"),
            ({"limits": [limit(ours)]}, "0"),
            ({"status": "INVALID", "limits": [limit(ours, valid_to="99")]}, None),
        ):  # fmt: skip
            answer = {**PACED, "verdict": {**PACED["verdict"], **verdict}}
            self.assertEqual(self.trial(answer, self.paced)[0]["valid_to"], expected, verdict)

    def test_refused(self):
        def without(key):
            return {k: v for k, v in PACED.items() if k != key}

        lossy = {**PACED, "counters": {**PACED["counters"], "missing": 1}}
        short = {**PACED, "histograms": {**PACED["histograms"], "delivery.response": histogram(1, 1, 9)}}
        few = {**FLAT, "throughput": {**FLAT["throughput"], "messages": 3}}
        undelivered = {**FLAT, "throughput": {**FLAT["throughput"], "received": 3}}
        bare = {**PACED["histograms"]["delivery.response"], "percentiles": {}}
        unstable = {**PACED, "histograms": {**PACED["histograms"], "delivery.response": bare}}
        for name, (answer, load, code) in {
            "failure": (PACED, self.paced, 1),
            "usage": (PACED, self.paced, 2),
            "not JSON": ("p50 7 ns", self.paced, 0),
            "no verdict": (without("verdict"), self.paced, 0),
            "no histograms": (without("histograms"), self.paced, 0),
            "no counters": (without("counters"), self.paced, 0),
            "loss": (lossy, self.paced, 0),
            "a message not recorded": (short, self.paced, 0),
            "no throughput": (PACED, self.flat, 0),
            "fewer messages": (few, self.flat, 0),
            "fewer deliveries": (undelivered, self.flat, 0),
            "percentiles withheld": (unstable, self.paced, 4),
        }.items():
            with self.subTest(name), self.assertRaises(Failed):
                self.trial(answer, load, code)


class Names(unittest.TestCase):
    def test_both_sides_have_names_alike(self):
        """Ours is s9.RUN.t0, and a run is known by eight characters."""
        ours = "s9.k3v9x0aa.t0"
        for process, number in ((1, 0), (4194304, 1999)):
            name = subject(process, number)
            place = Place({}, FakeBroker, "", name)
            for other in (name, place.stem + ".0"):
                self.assertEqual((len(other), other.count(".")), (len(ours), ours.count(".")), other)


class CClientCalls(unittest.TestCase):
    def test_arguments(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "redislat")
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"#!/bin/sh\ncat <<'END'\n{json.dumps(PACED)}\nEND\n")
            os.chmod(path, stat.S_IRWXU)
            place = Place({"redislat": path}, FakeBroker, directory, "subject")
            load = Paced(5, 256, 2, 1, connections=3, fanout=4, poisson=True, seed=6)
            figures, ((*argv,),) = CClient("redislat").trial(place, load)
        self.assertEqual((figures["p50"], figures["rate_kept"]), (7, True))
        words = " ".join(argv)
        for asked in ("--host 127.0.0.1 --port 1 ", "-c 3 --fanout 4", "--arrivals poisson --seed 6", "--rate 5 --size 256"):
            self.assertIn(asked, words)


class Stalls(unittest.TestCase):
    def test_when(self):
        self.assertEqual(list(Paced(5, 256, 20, 3).stalls), [])
        self.assertEqual(list(Paced(5, 256, 20, 3, stalled=True).stalls), [13])
        self.assertEqual(list(Paced(5, 256, 60, 3, stalled=True).stalls), [33])
        self.assertEqual(list(Paced(5, 256, 180, 3, stalled=True).stalls), [33, 93, 153])
        self.assertEqual(list(Paced(5, 256, 1, 0, stalled=True).stalls), [0])

    def test_a_program_is_stopped_and_goes_on(self):
        class Process:
            signals, all = [], threading.Event()

            def send_signal(self, number):
                self.signals.append(number)
                if len(self.signals) == 4:
                    self.all.set()

        with stalled(Process(), (0, 0.01)):
            self.assertTrue(Process.all.wait(60))
        self.assertEqual(Process.signals, [signal.SIGSTOP, signal.SIGCONT] * 2)
        self.assertEqual(run(["sleep", "0.2"], 60, stalls=(0, 0.05)).code, 0)

    def test_a_program_that_ends_before(self):
        began = time.monotonic()
        self.assertEqual(run(["true"], 60, stalls=(600,)).code, 0)
        self.assertLess(time.monotonic() - began, 300)


class Judging(unittest.TestCase):
    def test_vouched(self):
        for status, to, percentile, expected in (
            ("VALID", None, "99", True), ("VALID", "99", "50", True), ("VALID", "99", "99", True),
            ("VALID", "50", "99", False), ("VALID", "99.9", "99", True), ("SUSPECT", None, "50", False),
            ("INVALID", None, "50", False), ("UNSTABLE", None, "50", False),
        ):  # fmt: skip
            self.assertEqual(vouched({"verdict": status, "valid_to": to}, percentile), expected, (status, to, percentile))

    def test_words(self):
        self.assertEqual(verdict_words({"verdict": "VALID", "valid_to": "99"}), "VALID to p99")
        self.assertEqual(verdict_words({"verdict": "SUSPECT"}), "SUSPECT")

    def test_judge(self):
        def pair(p50, verdict="VALID", to=None, kept=(True, True), discarded=False):
            return {
                "discarded": discarded,
                "a": {"figures": {"p50": p50, "verdict": verdict, "valid_to": to, "rate_kept": kept[0]}},
                "b": {"figures": {"p50": 10, "rate_kept": kept[1]}},
            }

        self.assertEqual(
            judge([
                pair(10), pair(30), pair(31), pair(31, "SUSPECT"), pair(31, to="99"), pair(math.inf, "UNSTABLE"),
                pair(10, kept=(False, True)), pair(10, kept=(False, False)),
                pair(31, discarded=True), pair(10, kept=(False, True), discarded=True),
            ]),
            {"wrong_but_valid": 2, "wrong_but_valid_discarded": 1, "rate_kept_by_b": 7, "rate_kept_by_both": 6},
        )  # fmt: skip

    def test_before(self):
        bounds = {"per_second": Bound(0.75, at_most=False), "processor_ns_per_message": None}
        c = Comparison("c", "what", Sixnines(judged=True), CClient("natslat"), FlatOut(4, 256), bounds, judged=True).with_before()
        self.assertEqual((c.name, c.a.targets, c.b.targets, c.judged), ("c", ("sixnines",), ("sixnines-before",), False))
        self.assertEqual({k: str(b) for k, b in c.bounds.items()}, {"per_second": "≥ 0.95", "processor_ns_per_message": "≤ 1.05"})

    def test_each_pair_has_arrivals_of_its_own(self):
        class Side:
            name, targets, seeds = "x", (), []

            def trial(self, place, load):
                self.seeds.append(load.seed)
                return {"p50": 1}, []

        class Kind:
            targets = ()

            def open(self, binaries):
                broker = FakeBroker()
                broker.version, broker.messages = "1", lambda: None
                return nullcontext(broker)

        c = Comparison("c", "", Side(), Side(), Paced(5, 256, 2, 1), {"p50": None}, Kind())
        run_pairs(c, {}, 2, lambda *_: None)
        self.assertEqual(Side.seeds, [1, 1, 2, 2, 3, 3, 4, 4])


class Summaries(unittest.TestCase):
    pairs = 0  # made so far in a test

    def pair(self, a, b, discarded=False):
        def side(name, p50):
            return {"program": name, "figures": {"p50": p50, "rate_sent": 5.01}, "processor_seconds": 1}

        self.pairs += 1
        return {
            "a": side("x", a), "b": side("y", b), "discarded": discarded, "ratios": {"p50": a / b},
            "round": (self.pairs + 1) // 2, "order": "AB" if self.pairs % 2 else "BA",
        }  # fmt: skip

    comparison = Comparison("c", "", None, None, Paced(5, 256, 2, 1), {"p50": Bound(1.4)})

    def test_discarded_pairs_do_not_count(self):
        pairs = [self.pair(10, 10) for _ in range(6)] + [self.pair(1000, 10, discarded=True)]
        s = summarise(self.comparison, pairs)
        self.assertEqual((s["pairs"], s["discarded"]), (7, 1))
        figure = s["figures"]["p50"]
        self.assertEqual((figure["ratio"]["median"], figure["met"], figure["bound"]), (1, True, "≤ 1.4"))
        self.assertAlmostEqual(s["sides"]["a"]["rate_worst_deviation"], 0.002)

    def test_the_median_of_ratios_is_not_the_ratio_of_medians(self):
        pairs = [self.pair(30, 10), self.pair(10, 20), self.pair(20, 10)]
        s = summarise(self.comparison, [p | {"order": "AB"} for p in pairs])
        figure = s["figures"]["p50"]
        self.assertEqual((figure["a_median"], figure["b_median"], figure["ratio"]["median"]), (20, 10, 2))
        self.assertFalse(figure["met"])

    def test_rounds_know_no_order(self):
        # Who comes second takes twice as long; A is 1.1 times B.
        pairs = [self.pair(*p, discarded=True) for _ in range(7) for p in ((110, 200), (220, 100))]
        rounds = summarise(self.comparison, pairs)["rounds"]["p50"]
        for key in ("median", "low", "high"):
            self.assertAlmostEqual(rounds[key], 1.1)
        self.assertEqual(len(rounds["values"]), 7)
        self.assertEqual(summarise(self.comparison, pairs[:1])["rounds"], {})

    def test_rounds_decide_where_few_pairs_are_kept(self):
        # A is 1.1 times B, and who comes second takes twice as long.
        pairs = [self.pair(220, 100)] + [self.pair(110, 200, discarded=True) for _ in range(6)]
        pairs[0]["order"], pairs[1]["order"], pairs[1]["round"] = "BA", "AB", 1
        figure = summarise(self.comparison, pairs)["figures"]["p50"]
        self.assertEqual((figure["ratio"]["median"], figure["met"], figure["by"]), (2.2, True, "rounds"))

    def test_withheld_figures(self):
        pairs = [self.pair(math.inf, 10) for _ in range(8)] + [self.pair(10, 10) for _ in range(6)]
        s = summarise(self.comparison, pairs)
        self.assertEqual((s["figures"]["p50"]["ratio"]["median"], s["figures"]["p50"]["met"]), (math.inf, False))

    def test_nothing_kept(self):
        s = summarise(self.comparison, [self.pair(1, 1, discarded=True)])
        self.assertEqual((s["figures"], s["discarded"]), ({}, 1))

    def test_bounds(self):
        self.assertTrue(Bound(0.75, at_most=False).met(0.75))
        self.assertFalse(Bound(0.75, at_most=False).met(0.74))
        self.assertTrue(Bound(1.03, least=0.97).met(0.97))
        self.assertFalse(Bound(1.03, least=0.97).met(0.96))
        self.assertFalse(Bound(1.03, least=0.97).met(1.04))
        self.assertTrue(Bound(1.4).met(1.4))
