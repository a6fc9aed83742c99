"""Medians and distribution-free intervals of a handful of ratios."""

from dataclasses import asdict, dataclass
from math import comb
from statistics import median


@dataclass(frozen=True)
class Ratio:
    """A median with an interval from order statistics.

    low and high are None where so few values cannot bracket their median with
    the confidence asked for. coverage is what the interval really has.
    """

    median: float
    low: float | None
    high: float | None
    coverage: float | None
    values: tuple[float, ...]

    def as_dict(self):
        return asdict(self)


def coverage(n, rank):
    """Probability that the median of a continuous distribution lies between
    the rank-th smallest and the rank-th largest of n independent values."""
    return 1 - 2 * sum(comb(n, k) for k in range(rank)) / 2**n


def interval_rank(n, confidence=0.95):
    """The largest rank whose interval still has the confidence, or None."""
    ranks = [r for r in range(1, n // 2 + 1) if coverage(n, r) >= confidence]
    return max(ranks, default=None)


def describe(values, confidence=0.95):
    """The Ratio of one or more values."""
    ordered = sorted(values)
    rank = interval_rank(len(ordered), confidence)
    if rank is None:
        return Ratio(median(ordered), None, None, None, tuple(values))
    return Ratio(
        median(ordered),
        ordered[rank - 1],
        ordered[-rank],
        coverage(len(ordered), rank),
        tuple(values),
    )


def nearest_rank(ordered, per_myriad):
    """The percentile, in ten-thousandths, of a sorted list: nearest rank."""
    return ordered[(len(ordered) * per_myriad + 9999) // 10000 - 1]
