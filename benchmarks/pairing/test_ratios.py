import unittest
from itertools import product

from .ratios import coverage, describe, interval_rank, nearest_rank


class Intervals(unittest.TestCase):
    def test_coverage_counts_every_way_to_fall(self):
        # n values lie below or above the true median with equal chance: count.
        for n in range(1, 11):
            for rank in range(1, n // 2 + 1):
                inside = sum(rank <= sum(signs) <= n - rank for signs in product((0, 1), repeat=n))
                self.assertAlmostEqual(coverage(n, rank), inside / 2**n)

    def test_known_ranks(self):
        # Sizes and ranks of the sign test's tables for 95 %.
        for n, rank in ((5, None), (6, 1), (8, 1), (9, 2), (14, 3), (20, 6), (100, 40)):
            self.assertEqual(interval_rank(n), rank, n)

    def test_describe(self):
        r = describe([14, 3, 1, 2, 13, 5, 4, 12, 6, 11, 7, 10, 8, 9])
        self.assertEqual((r.median, r.low, r.high), (7.5, 3, 12))
        self.assertGreaterEqual(r.coverage, 0.95)

    def test_too_few(self):
        r = describe([2.0, 1.0])
        self.assertEqual((r.median, r.low, r.high, r.coverage), (1.5, None, None, None))

    def test_nearest_rank(self):
        self.assertEqual(nearest_rank(range(1, 1001), 9990), 999)
        self.assertEqual(nearest_rank([7], 5000), 7)
        self.assertEqual(nearest_rank([1, 2, 3], 5000), 2)
