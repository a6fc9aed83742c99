import io
import json
import math
import os
import tempfile
import unittest
from contextlib import nullcontext
from unittest import mock

from . import hunt
from .children import Failed, hog


def figures(p50, p99, verdict=None, kept=True, **more):
    reasons = [{"status": "SUSPECT", "code": "own-lag"}] * 2 + [{"status": "VALID", "code": "same-host"}]
    own = {"verdict": verdict, "valid_to": None, "reasons": reasons} if verdict else {}
    return {"p50": p50, "p99": p99, "rate_kept": kept, **own, **more}


MS = 1_000_000
BEFORE, AFTER = figures(10, 1 * MS), figures(12, 2 * MS)


class Cases(unittest.TestCase):
    def test_a_trial_is_the_same_whatever_ran_before(self):
        self.assertEqual(hunt.draw(7, 3), hunt.draw(7, 3))
        self.assertNotEqual(hunt.draw(7, 3), hunt.draw(7, 4))
        self.assertNotEqual(hunt.draw(7, 3), hunt.draw(8, 3))

    def test_the_whole_range_is_drawn(self):
        cases = [hunt.draw(1, n) for n in range(2000)]
        loads = [c.load for c in cases]
        for values, low, high in (
            ([w.rate for w in loads], 10, 100_000), ([w.size for w in loads], 64, 65536), ([w.connections for w in loads], 1, 64),
        ):  # fmt: skip
            self.assertTrue(low <= min(values) < 1.2 * low and high / 1.2 < max(values) <= high)
            middle = (low * high) ** 0.5
            self.assertAlmostEqual(sum(v < middle for v in values) / len(values), 0.5, delta=0.06)
        self.assertEqual({w.fanout for w in loads}, {1, 4, 16})
        for values in ([w.poisson for w in loads], [c.busy for c in cases], [c.driver == "redis" for c in cases]):
            self.assertAlmostEqual(sum(values) / len(values), 0.5, delta=0.06)


class Lies(unittest.TestCase):
    def check(self, ours, *expected):
        found = [(w["figure"], w["direction"], w["vouched"]) for w in hunt.assess(ours, BEFORE, AFTER)]
        self.assertEqual(found, list(expected))

    def test_within_the_factor(self):
        self.check(figures(36, 6 * MS, "VALID"))
        self.check(figures(4, 0.4 * MS, "VALID"))

    def test_beyond_it(self):
        self.check(figures(37, 2 * MS, "VALID"), ("p50", "above", True))
        self.check(figures(3, 2 * MS, "VALID"), ("p50", "below", True))
        self.check(figures(11, 6.1 * MS, "VALID"), ("p99", "above", True))

    def test_a_p99_within_a_millisecond_is_not_wrong(self):
        self.check(figures(11, 0.1 * MS, "VALID"))
        self.assertEqual(hunt.differs("p99", 1.2 * MS, 0.3 * MS, 0.1 * MS), None)
        self.assertEqual(hunt.differs("p99", 1.31 * MS, 0.3 * MS, 0.1 * MS), "above")

    def test_both_trials_of_the_c_client_must_disagree(self):
        self.assertIsNone(hunt.differs("p50", 100, 10, 40))
        self.assertIsNone(hunt.differs("p50", 1, 10, 2))
        # In the same direction.
        self.assertIsNone(hunt.differs("p50", 100, 10, 1000))

    def test_what_a_trial_does_not_vouch_for_is_no_lie(self):
        self.check(figures(99, 9 * MS, "SUSPECT"), ("p50", "above", False), ("p99", "above", False))
        self.check(figures(99, 9 * MS, "VALID") | {"valid_to": "90"}, ("p50", "above", True), ("p99", "above", False))

    def test_below_a_c_client_that_was_late_itself(self):
        before, after = BEFORE | {"service_p50": 5}, AFTER | {"service_p50": 6}
        late = lambda p50: [w["late"] for w in hunt.assess(figures(p50, 2 * MS, "VALID"), before, after)]  # noqa: E731
        self.assertEqual(late(2), [True])  # of the 10 the broker took 5
        self.assertEqual(late(1), [False])
        self.assertEqual(late(99), [False])  # lateness makes none of ours too high

    def test_a_percentile_that_is_not_printed_says_nothing(self):
        self.check(figures(11, math.inf, "VALID"))


class Running(unittest.TestCase):
    """Cases with trials that are made up."""

    def run_case(self, *answers, busy=False, bound=math.inf):
        given = list(answers)
        self.hogs = []

        def trial(side, load, binaries, broker, number):
            answer = given.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return {"program": side.name, "figures": answer, "steal": answer.get("steal", 0)}

        class Kind:
            def open(self, binaries):
                return nullcontext(mock.Mock(version="1"))

        def hog(wanted):
            self.hogs.append(wanted)
            return nullcontext()

        case = hunt.Case(0, "nats", busy, hunt.Paced(100, 64, 3, 1, fanout=4))
        with mock.patch.object(hunt, "trial", trial), mock.patch.object(hunt, "hog", hog), \
                mock.patch.dict(hunt.BROKERS, {"nats": (Kind(), "natslat")}):  # fmt: skip
            row = hunt.run_case(case, {}, {"nats": bound})
        self.left = given
        self.assertEqual(json.loads(json.dumps(hunt.finite(row)))["number"], 0)
        line = hunt.table_row(row)
        self.assertEqual(line.count("own-lag"), int(len(row["trials"]) > 1))
        self.assertNotIn("same-host", line)
        return row

    def test_outcomes(self):
        good, lie = figures(11, 2 * MS, "VALID"), figures(99, 2 * MS, "VALID")
        self.assertEqual(self.run_case(BEFORE, good, AFTER)["outcome"], "no lie")
        self.assertEqual(self.run_case(BEFORE, lie, AFTER)["outcome"], "lie")
        self.assertEqual(self.run_case(BEFORE, lie | {"verdict": "UNSTABLE"}, AFTER)["outcome"], "no lie")
        late = [BEFORE | {"service_p50": 5}, figures(2, 2 * MS, "VALID"), AFTER | {"service_p50": 5}]
        row = self.run_case(*late)
        self.assertEqual((row["outcome"], hunt.summarise([row])["c_client_late"]), ("no lie", [0]))
        self.assertIn("p50 below the C client's (late itself)", hunt.table_row(row))
        harmed = figures(math.inf, math.inf, "VALID", harm={"missing": 1})
        self.assertEqual(self.run_case(BEFORE, harmed, AFTER)["outcome"], "sixnines failed")
        self.assertEqual(self.run_case(BEFORE, Failed("no"), AFTER)["outcome"], "sixnines failed")

    def test_what_is_not_counted(self):
        lie = figures(99, 2 * MS, "VALID")
        for name, answers in {
            "the C client failed before": (Failed("slow"),),
            "the C client failed after": (BEFORE, lie, Failed("slow")),
            "the rate before": (BEFORE | {"rate_kept": False}, lie, AFTER),
            "the rate after": (BEFORE, lie, AFTER | {"rate_kept": False}),
            "steal": (BEFORE, lie | {"steal": 0.02}, AFTER),
        }.items():
            with self.subTest(name):
                row = self.run_case(*answers)
                self.assertEqual((row["outcome"], bool(row["mark"])), ("not counted", True))
                self.assertEqual(self.left, [])

    def test_more_than_the_machine_carries_is_kept_but_not_run(self):
        row = self.run_case(BEFORE, bound=100 * 64 * 4 - 1)
        self.assertEqual((row["outcome"], row["trials"], len(self.left)), ("not counted", [], 1))
        self.assertEqual(self.run_case(BEFORE, figures(11, MS, "VALID"), AFTER, bound=100 * 64 * 4)["outcome"], "no lie")

    def test_a_busy_machine_is_busy_in_each_trial(self):
        for busy in (False, True):
            self.run_case(BEFORE, figures(11, 2 * MS, "VALID"), AFTER, busy=busy)
            self.assertEqual(self.hogs, [busy] * 3)


class Hunting(unittest.TestCase):
    def hunt(self, path, numbers, seed=1, outcome="no lie", mark=None, again=False):
        ran, told = [], io.StringIO()

        def run_case(case, binaries, bounds):
            ran.append(case.number)
            trials = [{"figures": f} for f in (BEFORE, figures(11, math.inf, "VALID"), AFTER)]
            return {**hunt.asdict(case), "outcome": outcome, "mark": mark, "trials": trials, "wrong": []}

        with mock.patch.object(hunt, "run_case", run_case), mock.patch.object(hunt, "capacity", lambda *_: 1 << 30):
            found = hunt.hunt({}, seed, numbers, path, lambda line: print(line, file=told), again)
        self.assertEqual(len(told.getvalue().splitlines()), len(hunt.BROKERS) + 1 + len(numbers))
        return ran, found

    def test_a_hunt_goes_on_where_it_was_left(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "hunt")
            self.assertEqual(self.hunt(path, range(2), outcome="lie")[0], [0, 1])
            ran, found = self.hunt(path, range(4))
            self.assertEqual(ran, [2, 3])
            self.assertEqual(found["summary"]["lies"], [0, 1])
            self.assertEqual(found["summary"]["outcomes"], {"no lie": 2, "lie": 2})
            self.assertEqual(found["summary"]["verdicts"], {"VALID": 4})
            self.assertEqual(found["summary"]["vouched"], {"p50": 4, "p99": 0})
            with self.assertRaisesRegex(Failed, "another seed"):
                self.hunt(path, range(2), seed=2)

    def test_what_was_stolen_is_run_again_where_that_is_asked(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "hunt")
            self.hunt(path, range(1), outcome="not counted", mark=hunt.STOLEN)
            self.hunt(path, range(1, 2), outcome="not counted", mark="the C client does not keep the rate")
            self.assertEqual(self.hunt(path, range(2))[0], [])
            ran, found = self.hunt(path, range(2), again=True)
            self.assertEqual((ran, found["summary"]["not_counted"]), ([0], [1]))
            self.assertEqual(self.hunt(path, range(2), again=True)[1], found)

    def test_one_trial_alone(self):
        ran, found = self.hunt(None, range(5, 6))
        self.assertEqual((ran, found["summary"]["cases"]), ([5], 1))


class Hogs(unittest.TestCase):
    def test_a_hog_ends(self):
        with hog() as process:
            self.assertIsNone(process.poll())
        self.assertIsNotNone(process.poll())
        with hog(False) as process:
            self.assertIsNone(process)
