"""Interleaved trials A B B A of two programs, and what they give."""

import os
import tempfile
from dataclasses import dataclass, field, replace
from math import sqrt
from statistics import median

from . import machine, ratios
from .children import Failed, processor_seconds
from .managed import NATS
from .programs import FlatOut, Paced, Place

# Below this no median has an interval of 95 %, and drift is not averaged out.
LEAST_ROUNDS = 7

# A latency that is off by more than this factor is wrong, whatever the median says.
WRONG = 3


@dataclass(frozen=True)
class Bound:
    """What the median of a ratio should not go beyond."""

    limit: float
    at_most: bool = True
    least: float | None = None  # what it should not be below either

    def met(self, value):
        if self.least is not None and value < self.least:
            return False
        return value <= self.limit if self.at_most else value >= self.limit

    def __str__(self):
        if self.least is not None:
            return f"{self.least:g} to {self.limit:g}"
        return f"{'≤' if self.at_most else '≥'} {self.limit:g}"


@dataclass(frozen=True)
class Comparison:
    """A against B under one load. bounds maps each figure whose ratio A/B is
    taken to its Bound, or to None where nothing is demanded. broker opens a
    fresh one for each pair. Where A is judged, each of its trials is also held
    against what it says of itself, see judge."""

    name: str
    what: str
    a: object
    b: object
    load: object
    bounds: dict = field(default_factory=dict)
    broker: object = NATS()
    judged: bool = False

    def with_before(self):
        """A against another binary of ours under the same load, which should be no worse by
        more than a twentieth."""
        bounds = {name: Bound(0.95, at_most=False) if name == "per_second" else Bound(1.05) for name in self.bounds}
        return replace(self, what=f"{self.what}; B is another binary of ours", b=self.a.before(), bounds=bounds, judged=False)

    @property
    def targets(self):
        return sorted({*self.broker.targets, *self.a.targets, *self.b.targets})


def vouched(figures, percentile):
    """Whether a trial of ours says that this percentile holds."""
    to = figures.get("valid_to")
    return figures["verdict"] == "VALID" and (to is None or float(percentile) <= float(to))


def verdict_words(figures):
    """The verdict of a trial of ours: "VALID", "VALID to p99"."""
    to = figures.get("valid_to")
    return figures["verdict"] + (f" to p{to}" if to else "")


def judge(pairs):
    """How many trials of A say that their p50 holds although it is above WRONG
    times that of B in the same pair, in discarded pairs apart; in how many pairs B
    kept the rate, and in how many of these A did."""

    def wrong(p):
        a, b = p["a"]["figures"], p["b"]["figures"]
        return vouched(a, "50") and a["p50"] > WRONG * b["p50"]

    kept = [p["a"]["figures"] for p in pairs if p["b"]["figures"]["rate_kept"] and not p["discarded"]]
    return {
        "wrong_but_valid": sum(wrong(p) for p in pairs if not p["discarded"]),
        "wrong_but_valid_discarded": sum(wrong(p) for p in pairs if p["discarded"]),
        "rate_kept_by_b": len(kept),
        "rate_kept_by_both": sum(a["rate_kept"] for a in kept),
    }


def subject(process, number):
    """The subject, topic, channel or queue of a trial: as long and in as many parts as
    Sixnines' own, s9.RUN.t0, whose RUN has eight characters. A server reads names
    byte by byte, and the side with shorter ones would win by that."""
    return f"s9.{process % 100_000:05d}{number % 1000:03d}.t0"


def trial(side, load, binaries, broker, number):
    """One program once: its figures and what happened around it."""
    with tempfile.TemporaryDirectory(prefix="pairs-trial-") as directory:
        place = Place(binaries, broker, directory, subject(os.getpid(), number))
        if hasattr(side, "prepare"):
            side.prepare(place)
        messages_before = broker.messages()
        seconds, ticks = processor_seconds(), machine.processor_times()
        figures, commands = side.trial(place, load)
        ticks_after, seconds_after = machine.processor_times(), processor_seconds()
        messages_after = broker.messages()
    taken = given = None
    if messages_before is not None:
        taken, given = (after - before for before, after in zip(messages_before, messages_after))
    if isinstance(load, FlatOut):
        if taken is not None and taken < load.messages:
            raise Failed(f"{side.name}: the server has taken {taken} of {load.messages} messages")
        # Starting and ending are in it: what a user pays for so many messages.
        figures["processor_ns_per_message"] = (seconds_after - seconds) * 1e9 / load.messages
    return {
        "program": side.name,
        "figures": figures,
        "steal": machine.steal_share(ticks, ticks_after),
        "processor_seconds": seconds_after - seconds,
        "server_messages": {"in": taken, "out": given},
        "commands": commands,
    }


def run_pairs(comparison, binaries, rounds, tell):
    """Runs the rounds; returns one dict a pair, in order.

    A round is A B B A: two pairs, in each order once, so that what changes
    steadily, and what the first trial leaves behind for the second, strikes both
    sides alike. Each pair has a server of its own: a restart may settle
    elsewhere, and that belongs to the spread that is reported.
    """
    pairs = []
    for round_number in range(1, rounds + 1):
        for order in ("AB", "BA"):
            pair = {"round": round_number, "order": order}
            # Equal arrivals in all pairs would hide what arrivals do.
            load = comparison.load
            if isinstance(load, Paced):
                load = replace(load, seed=len(pairs) + 1)
            with comparison.broker.open(binaries) as broker:
                pair["broker"] = broker.version
                for number, letter in enumerate(order):
                    side = comparison.a if letter == "A" else comparison.b
                    pair[letter.lower()] = trial(side, load, binaries, broker, number)
            steal = max(pair["a"]["steal"], pair["b"]["steal"])
            pair["discarded"] = steal > machine.STEAL_LIMIT
            pair["ratios"] = {
                name: pair["a"]["figures"][name] / pair["b"]["figures"][name]
                for name in comparison.bounds
            }
            pairs.append(pair)
            tell(comparison, pair, rounds)
    return pairs


def by_rounds(comparison, pairs):
    """For each figure the Ratio of the rounds: the geometric mean of a round's two
    pairs, discarded or not.

    Where a trial leaves much behind for the second one of its pair (two gigabytes in
    the broker's log), the ratios of pairs are two heaps, one for each order, and their
    median is anywhere between; in this mean the order is not.
    """
    rounds = {}
    for p in pairs:
        rounds.setdefault(p["round"], {})[p["order"]] = p["ratios"]
    whole = [r for r in rounds.values() if len(r) == 2]
    if not whole:
        return {}
    return {
        name: ratios.describe([sqrt(r["AB"][name] * r["BA"][name]) for r in whole]).as_dict()
        for name in comparison.bounds
    }


def summarise(comparison, pairs):
    """What the pairs that were not discarded say."""
    kept = [p for p in pairs if not p["discarded"]]
    summary = {
        "pairs": len(pairs), "discarded": len(pairs) - len(kept), "figures": {}, "sides": {},
        "rounds": by_rounds(comparison, pairs),
    }  # fmt: skip
    if comparison.judged:
        summary["judged"] = judge(pairs)
    if not kept:
        return summary
    for name, bound in comparison.bounds.items():
        ratio = ratios.describe([p["ratios"][name] for p in kept])
        # With too few pairs for an interval the rounds decide, if there are any.
        by = "pairs" if ratio.low is not None or not summary["rounds"] else "rounds"
        decisive = ratio.median if by == "pairs" else summary["rounds"][name]["median"]
        summary["figures"][name] = {
            "a_median": median(p["a"]["figures"][name] for p in kept),
            "b_median": median(p["b"]["figures"][name] for p in kept),
            "ratio": ratio.as_dict(),
            "bound": str(bound) if bound else None,
            "met": bound.met(decisive) if bound else None,
            "by": by,
        }
    for letter in ("a", "b"):
        trials = [p[letter] for p in kept]
        side = {
            "program": trials[0]["program"],
            "processor_seconds_median": median(t["processor_seconds"] for t in trials),
            "figures_median": {
                k: median(t["figures"][k] for t in trials)
                for k, v in trials[0]["figures"].items()
                if isinstance(v, (int, float)) and not isinstance(v, bool)
            },
        }
        if "verdict" in trials[0]["figures"]:
            verdicts = [verdict_words(t["figures"]) for t in trials]
            side["verdicts"] = {v: verdicts.count(v) for v in sorted(set(verdicts))}
        if "rate_sent" in trials[0]["figures"]:
            asked = comparison.load.rate
            side["rate_worst_deviation"] = max(
                abs(t["figures"]["rate_sent"] / asked - 1) for t in trials
            )
        summary["sides"][letter] = side
    return summary
