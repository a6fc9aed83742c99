import unittest

from .children import Failed
from .natscli import bench_rate, go_duration, latency

CSV = (
    "#RunID,ClientID,MsgCount,MsgBytes,MsgsPerSec,BytesPerSec,DurationSecs\n"
    "sG6p38,S0,1000000,256000000,1362106,348699275.424699,0.734157\n"
)
CSV_WITH_LATENCIES = (
    "#RunID,ClientID,MsgCount,MsgBytes,MsgsPerSec,BytesPerSec,DurationSecs,MinLatencyMicroSecs\n"
    "tvuyd5,P0,1000000,256000000,3952992,1011966155.882943,0.252973,0.06\n"
)


class Bench(unittest.TestCase):
    def test_rates(self):
        self.assertAlmostEqual(bench_rate(CSV, 1000000, 256), 1000000 / 0.734157)
        self.assertAlmostEqual(bench_rate(CSV_WITH_LATENCIES, 1000000, 256), 1000000 / 0.252973)

    def test_anything_else_is_refused(self):
        for name, text in {
            "empty": "",
            "header only": CSV.splitlines()[0],
            "other columns": CSV.replace("DurationSecs", "Seconds"),
            "two clients": CSV + CSV.splitlines()[1] + "\n",
            "not a number": CSV.replace("0.734157", "soon"),
            "no time": CSV.replace("0.734157", "0.000000"),
            "rate not of this time": CSV.replace("1362106", "2362106"),
            "count": CSV.replace("1000000", "999999"),
            "bytes": CSV.replace("256000000", "128000000"),
        }.items():
            with self.subTest(name), self.assertRaises(Failed):
                bench_rate(text, 1000000, 256)


class Durations(unittest.TestCase):
    def test_go(self):
        for text, ns in {"83µs": 83e3, "1.189ms": 1.189e6, "2.5s": 2.5e9, "1m2.5s": 62.5e9, "0s": 0}.items():
            self.assertAlmostEqual(go_duration(text), ns)

    def test_others(self):
        for text in ("", "5", "µs", "1.2parsec", "1ms!"):
            with self.assertRaises(Failed):
                go_duration(text)


class Latency(unittest.TestCase):
    raw = "".join(f"{v / 1000:.6f}\n" for v in range(1, 1001))  # 1 to 1000 µs
    text = (
        "14:08:53 HDR Percentiles:\n14:08:53 10:       100µs\n14:08:53 50:       500µs\n"
        "14:08:53 90:       900µs\n14:08:53 99:       990µs\n14:08:53 99.9:     999µs\n"
        "14:08:53 Actual Msgs/Sec: 3003\n"
    )

    def test_figures(self):
        self.assertEqual(
            latency(self.text, self.raw, 1000, 0),
            {"p50": 500000, "p99": 990000, "max": 1000000, "rate_sent": 3003},
        )

    def test_warm_up_is_left_out(self):
        self.assertEqual(latency(self.text, self.raw, 1000, 900)["p50"], 950000)

    def test_anything_else_is_refused(self):
        for name, (text, raw) in {
            "no percentiles": ("Actual Msgs/Sec: 3003\n", self.raw),
            "no rate": (self.text.replace("Actual", "Real"), self.raw),
            "p99 that was not recorded": (self.text.replace("990µs", "1.9ms"), self.raw),
            "too few": (self.text, self.raw[: len(self.raw) // 2]),
            "not numbers": (self.text, "fast\n" * 1000),
        }.items():
            with self.subTest(name), self.assertRaises(Failed):
                latency(text, raw, 1000, 0)
