"""The peers of brokers beside core NATS, and what they print, read strictly.

As in programs: targets names what must be there, trial() runs a program once.
All are run flat out.
"""

import csv
import math
import os
import re

from . import natscli
from .children import Failed, run
from .programs import NatscliProgram


def rdkafka_rate(text, messages, size):
    """Messages a second from rdkafka_performance, which reports every so often.

    Its clock starts before it has asked who leads the topic, which the library
    does once a second: a whole second of the run, sometimes. Ours starts when
    the first message was still to be delivered.
    """
    lines = re.findall(
        r"^% ([0-9]+) messages produced \(([0-9]+) bytes\), ([0-9]+) delivered \(offset -?[0-9]+, ([0-9]+) failed\)"
        r" in ([0-9]+)ms: ", text, re.MULTILINE,
    )  # fmt: skip
    if not lines:
        raise Failed(f"rdkafka_performance: no line with the rate in:\n{text[-2000:]}")
    produced, produced_bytes, delivered, failed, end = map(int, lines[-1])
    if (produced, delivered, failed, produced_bytes) != (messages, messages, 0, messages * size):
        raise Failed(f"rdkafka_performance: {delivered} of {messages} messages were delivered, {failed} failed")
    idle = [int(milliseconds) for _, _, delivered, _, milliseconds in lines if delivered == "0"]
    took = end - max(idle, default=0)
    if took <= 0:
        raise Failed("rdkafka_performance: it took no time; send more messages")
    return messages * 1000 / took


def kafka_perf_rate(text, messages):
    """Messages a second from kafka-producer-perf-test, whose last line is the sum."""
    lines = re.findall(r"^([0-9]+) records sent, ([0-9.]+) records/sec .*95th.*$", text, re.MULTILINE)
    if not lines:
        raise Failed(f"kafka-producer-perf-test: no line with the rate in:\n{text[-2000:]}")
    sent, rate = int(lines[-1][0]), float(lines[-1][1])
    if sent != messages or not rate > 0:
        raise Failed(f"kafka-producer-perf-test: {sent} of {messages} messages were sent")
    return rate


def perf_test_rates(text):
    """(sent, received) a second on average, from RabbitMQ's PerfTest."""
    rates = []
    for what in ("sending", "receiving"):
        m = re.search(rf"^id: [^,]+, {what} rate avg: ([0-9]+) msg/s$", text, re.MULTILINE)
        if not m or int(m.group(1)) == 0:
            raise Failed(f"PerfTest: no {what} rate in:\n{text[-2000:]}")
        rates.append(int(m.group(1)))
    return tuple(rates)


def redis_rate(text):
    """Commands a second from the CSV of redis-benchmark for one command."""
    rows = [r for r in csv.reader(text.splitlines()) if len(r) > 1]
    try:
        if len(rows) != 2 or rows[0][:2] != ["test", "rps"]:
            raise ValueError("not the CSV of one command")
        rate = float(rows[1][1])
        if not rate > 0:
            raise ValueError("no rate")
        return rate
    except ValueError as e:
        raise Failed(f"redis-benchmark: {e}:\n{text[-2000:]}") from e


class KafkaProgram:
    """What the programs that publish to Kafka have in common."""

    @staticmethod
    def _java(place, main, *arguments):
        return [
            place.binaries["java"], "-Xmx512m", "-cp", os.path.join(place.broker.path, "libs", "*"),
            f"org.apache.kafka.tools.{main}", *arguments,
        ]  # fmt: skip

    def prepare(self, place):
        """Makes the topic, as Sixnines does before its clock starts."""
        run(self._java(
            place, "TopicCommand", "--bootstrap-server", place.broker.addresses,
            "--create", "--topic", place.subject, "--partitions", "1",
        ), 120)  # fmt: skip


class RdkafkaPerformance(KafkaProgram):
    """rdkafka_performance, of the client in C, with its own settings but acks."""

    name = "rdkafka_performance"
    targets = ("rdkafka_performance", "java")

    def trial(self, place, load):
        argv = [
            place.binaries["rdkafka_performance"], "-P", "-t", place.subject,
            "-b", place.broker.addresses, "-s", str(load.size), "-a", "1", "-c", str(load.messages), "-i", "10",
        ]  # fmt: skip
        outcome = run(argv, load.timeout)
        return {"per_second": rdkafka_rate(outcome.stdout + outcome.stderr, load.messages, load.size)}, [argv]


class KafkaPerfTest(KafkaProgram):
    """kafka-producer-perf-test, from the jars of the broker that is measured."""

    name = "kafka-producer-perf-test"
    targets = ("java",)

    def trial(self, place, load):
        argv = self._java(
            place, "ProducerPerformance", "--topic", place.subject,
            "--num-records", str(load.messages), "--record-size", str(load.size), "--throughput", "-1",
            "--producer-props", f"bootstrap.servers={place.broker.addresses}", "acks=1",
        )  # fmt: skip
        return {"per_second": kafka_perf_rate(run(argv, load.timeout).stdout, load.messages)}, [argv]


class PerfTest:
    """RabbitMQ's PerfTest: one producer, one consumer that acknowledges nothing,
    and so many unconfirmed messages at most; 0: no confirms."""

    targets = ("perf-test", "java")

    def __init__(self, confirms=0):
        self.confirms = confirms
        self.name = f"PerfTest -c {confirms}" if confirms else "PerfTest"

    def trial(self, place, load):
        argv = [
            place.binaries["java"], "-cp", os.path.join(place.binaries["perf-test"], "*"),
            "com.rabbitmq.perf.PerfTest", "--uri", place.broker.url, "--queue", place.subject,
            # As ours: s9.RUN/t0, with the topic's name as the key.
            "--exchange", "/".join(place.subject.rsplit(".", 1)), "--routing-key", place.subject.rsplit(".", 1)[-1],
            "--auto-delete", "true", "--producers", "1", "--consumers", "1", "--autoack",
            "--size", str(load.size), "--pmessages", str(load.messages), "--cmessages", str(load.messages),
            *(["--confirm", str(self.confirms)] if self.confirms else []),
        ]  # fmt: skip
        sent, received = perf_test_rates(run(argv, load.timeout).stdout)
        return {"per_second": received, "published_per_second": sent}, [argv]


class RedisBenchmark:
    """redis-benchmark with one connection and 64 commands at a time."""

    name = "redis-benchmark -P 64"
    targets = ("redis-benchmark",)

    def trial(self, place, load):
        host, port = place.broker.addresses.rsplit(":", 1)
        argv = [
            place.binaries["redis-benchmark"], "-h", host, "-p", port, "-n", str(load.messages),
            "-c", "1", "-P", "64", "--csv", "PUBLISH", place.subject, "x" * load.size,
        ]  # fmt: skip
        return {"per_second": redis_rate(run(argv, load.timeout).stdout)}, [argv]


class NatsBenchJetStream(NatscliProgram):
    """`nats bench js pub async`: batches of 500, each awaited, into memory."""

    name = "nats bench js pub async"

    def trial(self, place, load):
        path = os.path.join(place.directory, "js.csv")
        argv = self._argv(
            place, "bench", "js", "pub", "async", "--no-progress", "--clients", "1", "--create",
            "--storage", "memory", "--maxbytes", "8GB", "--stream", place.subject.replace(".", "-"),
            "--msgs", str(load.messages), "--size", f"{load.size}B", "--csv", path, place.subject,
        )  # fmt: skip
        run(argv, load.timeout, env=self._environment(place))
        try:
            with open(path, encoding="ascii") as f:
                return {"per_second": natscli.bench_rate(f.read(), load.messages, load.size, counts=2)}, [argv]
        except OSError as e:
            raise Failed(f"{self.name}: {e}") from e
