import json
import os
import stat
import tempfile
import textwrap
import unittest

from .children import Failed
from .managed import Managed, Product
from .natscli import bench_rate
from .peers import PerfTest, RedisBenchmark, kafka_perf_rate, perf_test_rates, rdkafka_rate, redis_rate
from .programs import FlatOut, Place

RDKAFKA = (
    "% Sending 1000 messages of size 256 bytes\n"
    "% 900 messages produced (230400 bytes), 0 delivered (offset 0, 0 failed) in 990ms: 0 msgs/s and 0.00 MB/s\n"
    "% 1000 messages produced (256000 bytes), 400 delivered (offset 0, 0 failed) in 1000ms: 400 msgs/s and 0.10 MB/s\n"
    "% 1000 messages produced (256000 bytes), 1000 delivered (offset 0, 0 failed) in 1040ms: 961 msgs/s and 0.25 MB/s\n"
)
KAFKA = (
    "500 records sent, 99.0 records/sec (0.10 MB/sec), 12.1 ms avg latency, 42.0 ms max latency.\n"
    "1000 records sent, 4321.5 records/sec (4.2 MB/sec), 12.1 ms avg latency, 42.0 ms max latency,"
    " 9 ms 50th, 30 ms 95th, 41 ms 99th, 42 ms 99.9th.\n"
)
PERF_TEST = "id: t-1, sending rate avg: 50 msg/s\nid: t-1, receiving rate avg: 40 msg/s\n"
REDIS = '"test","rps","avg_latency_ms"\n"PUBLISH c xx","123456.78","0.100"\n'


class Outputs(unittest.TestCase):
    def test_rates(self):
        self.assertEqual(rdkafka_rate(RDKAFKA, 1000, 256), 1000 / 0.050)
        self.assertEqual(kafka_perf_rate(KAFKA, 1000), 4321.5)
        self.assertEqual(perf_test_rates(PERF_TEST), (50, 40))
        self.assertEqual(redis_rate(REDIS), 123456.78)

    def test_a_clock_that_was_never_idle_counts_from_its_start(self):
        self.assertEqual(rdkafka_rate(RDKAFKA.splitlines()[3], 1000, 256), 1000 / 1.040)

    def test_anything_else_is_refused(self):
        for name, (read, *arguments) in {
            "rdkafka: nothing": (rdkafka_rate, "", 1000, 256),
            "rdkafka: count": (rdkafka_rate, RDKAFKA, 1001, 256),
            "rdkafka: size": (rdkafka_rate, RDKAFKA, 1000, 255),
            "rdkafka: failures": (rdkafka_rate, RDKAFKA.replace("1000 delivered (offset 0, 0", "1000 delivered (offset 0, 1"), 1000, 256),
            "rdkafka: lost": (rdkafka_rate, RDKAFKA.replace("1000 delivered", "999 delivered"), 1000, 256),
            "rdkafka: no time": (rdkafka_rate, RDKAFKA.replace("1040ms", "990ms"), 1000, 256),
            "kafka: no sum": (kafka_perf_rate, KAFKA.splitlines()[0], 500),
            "kafka: count": (kafka_perf_rate, KAFKA, 999),
            "PerfTest: nothing received": (perf_test_rates, PERF_TEST.replace("40", "0")),
            "PerfTest: half": (perf_test_rates, PERF_TEST.splitlines()[0]),
            "redis: error": (redis_rate, "ERR unknown command"),
            "redis: two commands": (redis_rate, REDIS + REDIS.splitlines()[1] + "\n"),
            "redis: no rate": (redis_rate, REDIS.replace("123456.78", "soon")),
        }.items():
            with self.subTest(name), self.assertRaises(Failed):
                read(*arguments)

    def test_acknowledgements_in_a_count(self):
        text = (
            "#RunID,ClientID,MsgCount,MsgBytes,MsgsPerSec,BytesPerSec,DurationSecs,AvgLatencyMicroSecs\n"
            "VxZJ,P0,40000,5120000,82633,21154249.390834,0.242032,12.101588\n"
        )
        self.assertAlmostEqual(bench_rate(text, 20000, 256, counts=2), 20000 / 0.242032)
        with self.assertRaises(Failed):
            bench_rate(text, 20000, 256)


def program(directory, name, text):
    """A script in the place of a program."""
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/usr/bin/env python3\n" + textwrap.dedent(text))
    os.chmod(path, stat.S_IRWXU)
    return path


ANSWER = {"url": "redis://127.0.0.1:7,127.0.0.1:8", "urls": {}, "version": "1", "path": "/p"}


class Brokers(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def test_a_broker_ends_when_it_is_closed(self):
        left = os.path.join(self.directory, "left")
        start = program(self.directory, "start", f"""\
            import sys
            print({json.dumps(ANSWER)!r}, flush=True)
            sys.stdin.read()
            open({left!r}, "w").write(" ".join(sys.argv[1:]))
            """)
        with Managed(start, Product("kafka", (("a", "b"),))) as broker:
            self.assertEqual((broker.version, broker.addresses), ("1", "127.0.0.1:7,127.0.0.1:8"))
            self.assertIsNone(broker.messages())
            self.assertFalse(os.path.exists(left))
        with open(left, encoding="ascii") as f:
            self.assertEqual(f.read(), "-set a=b kafka")

    def test_a_broker_that_does_not_start_says_why(self):
        start = program(self.directory, "start", """\
            import sys
            sys.exit("no such product")
            """)
        with self.assertRaisesRegex(Failed, "no such product"):
            Managed(start, Product("redis"))
        mute = program(self.directory, "mute", """\
            import sys
            sys.stdin.read()
            """)
        with self.assertRaisesRegex(Failed, "too long"):
            Managed(mute, Product("redis"), patience=0.2)

    def test_programs_are_asked_for_what_is_compared(self):
        says = program(self.directory, "says", f"""\
            import sys
            sys.stdout.write({PERF_TEST!r} if "com.rabbitmq.perf.PerfTest" in sys.argv else {REDIS!r})
            """)

        class FakeBroker:
            url, addresses = "amqp://127.0.0.1:5", "127.0.0.1:6"

        place = Place({"java": says, "perf-test": "/jars", "redis-benchmark": says}, FakeBroker, self.directory, "s9.1.t0")
        figures, (argv,) = PerfTest(1000).trial(place, FlatOut(7, 33))
        self.assertEqual(figures["per_second"], 40)
        for words in ("--confirm 1000", "--size 33", "--pmessages 7", "--cmessages 7", "--autoack",
                      "--queue s9.1.t0 --exchange s9.1/t0 --routing-key t0"):
            self.assertIn(words, " ".join(argv))
        self.assertNotIn("--confirm", PerfTest().trial(place, FlatOut(7, 33))[1][0])
        figures, (argv,) = RedisBenchmark().trial(place, FlatOut(7, 33))
        self.assertEqual(figures["per_second"], 123456.78)
        self.assertIn("-p 6 -n 7 -c 1 -P 64 --csv PUBLISH s9.1.t0 " + "x" * 33, " ".join(argv))
