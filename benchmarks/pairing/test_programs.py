import json
import os
import stat
import tempfile
import unittest

from .children import Failed
from .comparison import Bound, Comparison, summarise
from .programs import FlatOut, Paced, Place, Sixnines


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


class SixninesAnswers(unittest.TestCase):
    def trial(self, answer, load, code=0, pattern="deliver"):
        """A program that prints the answer, in the place of sixnines."""
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "sixnines")
            text = answer if isinstance(answer, str) else json.dumps(answer)
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n")
            os.chmod(path, stat.S_IRWXU)
            place = Place({"sixnines": path}, FakeBroker, directory, "subject")
            return Sixnines(pattern).trial(place, load)

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

    def test_an_invalid_run_is_kept_with_its_verdict(self):
        answer = {**PACED, "verdict": {"status": "INVALID", "reasons": ["steal"]}}
        figures, _ = self.trial(answer, self.paced, code=4)
        self.assertEqual((figures["verdict"], figures["reasons"]), ("INVALID", ["steal"]))

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

    def test_nothing_kept(self):
        s = summarise(self.comparison, [self.pair(1, 1, discarded=True)])
        self.assertEqual((s["figures"], s["discarded"]), ({}, 1))

    def test_bounds(self):
        self.assertTrue(Bound(0.75, at_most=False).met(0.75))
        self.assertFalse(Bound(0.75, at_most=False).met(0.74))
        self.assertTrue(Bound(1.4).met(1.4))
