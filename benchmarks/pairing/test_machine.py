import unittest

from .machine import processor_times, steal_share


class Steal(unittest.TestCase):
    def test_columns(self):
        text = "cpu  10 1 20 300 4 5 6 7 90 91\ncpu0 1 1 1 1 1 1 1 1 1 1\n"
        self.assertEqual(processor_times(text), (7, 353))

    def test_share(self):
        self.assertEqual(steal_share((10, 1000), (15, 2000)), 0.005)
        self.assertEqual(steal_share((10, 1000), (10, 1000)), 0)

    def test_no_steal_column(self):
        for text in ("", "cpu 1 2 3\n", "intr 5\n"):
            with self.assertRaises(ValueError):
                processor_times(text)

    def test_this_machine(self):
        steal, total = processor_times()
        self.assertLessEqual(steal, total)
