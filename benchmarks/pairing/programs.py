"""The programs that are compared: how each is called and what it answers.

Each class is one side of a comparison. targets names what the Makefile builds
for it; trial() runs it once against a broker and returns its figures. Figures
of paced programs are p50 and p99 in nanoseconds and more; of flat-out ones
per_second. Everything sent must have arrived, or the trial fails as a whole.
"""

import json
import os
import subprocess
from dataclasses import dataclass

from . import natscli
from .children import Failed, expect, finish, run, start


@dataclass(frozen=True)
class Paced:
    """A constant rate for warm-up and window, both in whole seconds."""

    rate: int
    size: int
    duration: int
    warmup: int

    @property
    def timeout(self):
        return 60 + 2 * (self.duration + self.warmup)


@dataclass(frozen=True)
class FlatOut:
    """So many messages as fast as they go."""

    messages: int
    size: int
    timeout: int = 300


@dataclass(frozen=True)
class Place:
    """Where a trial happens: binaries, a server and a directory of its own."""

    binaries: dict
    broker: object
    directory: str
    subject: str


def _decode(name, text):
    try:
        return json.loads(text)
    except json.JSONDecodeError as e:
        raise Failed(f"{name}: standard output is not one JSON object ({e}):\n{text[:2000]}") from e


def _intact(name, counters):
    harm = ("missing", "corrupted", "duplicated", "reordered", "foreign", "rejected", "not_sent")
    harmed = {k: counters[k] for k in harm if counters.get(k)}
    if harmed:
        raise Failed(f"{name}: {harmed}")


def _paced_figures(name, answer):
    """Figures from the JSON that Sixnines, natslat and bareloop share."""
    try:
        _intact(name, answer["counters"])
        if not {"50", "99"} <= answer["histograms"]["delivery.response"]["percentiles"].keys():
            # Ours withholds percentiles of an overloaded run.
            raise Failed(f"{name}: no p50 and p99: {answer.get('verdict')}")
        histograms, rate = answer["histograms"], answer["rate"]
        response, lag = histograms["delivery.response"], histograms["lag.own"]
        service = histograms["delivery.service"]
        if response["count"] != answer["counters"]["received"]:
            raise Failed(f"{name}: {response['count']} latencies of {answer['counters']['received']}")
        return {
            "p50": response["percentiles"]["50"],
            "p99": response["percentiles"]["99"],
            "max": response["max"],
            "service_p50": service["percentiles"]["50"],
            "service_p99": service["percentiles"]["99"],
            "lag_p50": lag["percentiles"]["50"],
            "lag_p99": lag["percentiles"]["99"],
            "rate_sent": rate["sent"],
            "rate_worst_second": rate["worst_second"],
        }
    except KeyError as e:
        raise Failed(f"{name}: its JSON has no {e}") from e


class Natslat:
    """The C reference client."""

    name = "natslat"
    targets = ("natslat",)

    def trial(self, place, load):
        argv = [
            place.binaries["natslat"], "--port", str(place.broker.port),
            "--subject", place.subject,
            "--rate", str(load.rate), "--size", str(load.size),
            "--duration", str(load.duration), "--warmup", str(load.warmup), "--checksum",
        ]  # fmt: skip
        answer = _decode(self.name, run(argv, load.timeout).stdout)
        return _paced_figures(self.name, answer), [argv]


class Bareloop:
    """A bare loop over nats.go, with its default write buffer or another one."""

    targets = ("bareloop",)

    def __init__(self, write_buffer):
        self.write_buffer = write_buffer
        self.name = "bareloop" if write_buffer == 0 else f"bareloop-{write_buffer}"

    def trial(self, place, load):
        argv = [
            place.binaries["bareloop"], "-url", place.broker.url, "-subject", place.subject,
            "-rate", str(load.rate), "-size", str(load.size),
            "-duration", f"{load.duration}s", "-warmup", f"{load.warmup}s",
            "-write-buffer", str(self.write_buffer), "-checksum",
        ]  # fmt: skip
        answer = _decode(self.name, run(argv, load.timeout).stdout)
        return _paced_figures(self.name, answer), [argv]


class Sixnines:
    """Ourselves, as a user calls it: recording and checksums are always on."""

    name = "sixnines"
    targets = ("sixnines",)

    def __init__(self, pattern="deliver", driver="nats", arguments=()):
        self.pattern = pattern
        self.driver = driver
        self.arguments = arguments

    def _run(self, place, load, *arguments):
        argv = [
            place.binaries["sixnines"], "run", self.driver, "--url", place.broker.url,
            "--pattern", self.pattern, "--size", f"{load.size}B", *arguments, *self.arguments,
            "--producers", "1",
            *(["--consumers", "1"] if self.pattern == "deliver" else []),
            "--json", "--quiet", "--out", place.directory,
        ]  # fmt: skip
        # 4 is a run that its own gates call invalid. It is kept, and counted:
        # leaving out what displeases one side would favour that side.
        answer = _decode(self.name, run(argv, load.timeout, codes=(0, 4)).stdout)
        try:
            verdict = answer["verdict"]
            figures = {"verdict": verdict["status"], "reasons": verdict.get("reasons") or []}
            _intact(self.name, answer["counters"])
        except KeyError as e:
            raise Failed(f"{self.name}: its JSON has no {e}") from e
        return answer, figures, [argv]

    def trial(self, place, load):
        if isinstance(load, FlatOut):
            return self._flat_out(place, load)
        answer, figures, argvs = self._run(
            place, load, "--rate", f"{load.rate}/s",
            "--duration", f"{load.duration}s", "--warmup", f"{load.warmup}s",
        )  # fmt: skip
        return {**_paced_figures(self.name, answer), **figures}, argvs

    def _flat_out(self, place, load):
        answer, figures, argvs = self._run(
            place, load, "--rate", "max", "--messages", str(load.messages), "--warmup", "0s"
        )
        try:
            throughput, counters = answer["throughput"], answer["counters"]
            done = [throughput["messages"], counters["sent"]]
            rate = throughput["per_second"]
            if self.pattern == "deliver":
                done += [throughput["received"], counters["received"]]
                rate = throughput["received_per_second"]
            if set(done) != {load.messages}:
                raise Failed(f"{self.name}: {load.messages} messages asked, counted {done}")
            return {"per_second": rate, **figures}, argvs
        except KeyError as e:
            raise Failed(f"{self.name}: its JSON has no {e}") from e


class NatscliProgram:
    """What the natscli programs have in common."""

    def __init__(self, version):
        self.version = version
        self.targets = (f"nats-{version}",)

    def _argv(self, place, *arguments):
        # No stored context of the user may redirect it.
        return [
            place.binaries[f"nats-{self.version}"], "--no-context",
            "--server", place.broker.url, *arguments,
        ]  # fmt: skip

    @staticmethod
    def _environment(place):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("NATS_", "XDG_"))}
        return {**kept, "HOME": place.directory}


class NatsLatency(NatscliProgram):
    """`nats latency`: it stamps when it really sends, so its figures are
    service times, which cannot be worse than response times."""

    name = "nats latency"

    def trial(self, place, load):
        prefix = os.path.join(place.directory, "latency")
        argv = self._argv(
            place, "latency", "--server-b", place.broker.url,
            "--rate", str(load.rate), "--size", str(load.size),
            "--duration", f"{load.duration + load.warmup}s", "--histogram", prefix,
        )  # fmt: skip
        outcome = run(argv, load.timeout, env=self._environment(place))
        try:
            with open(prefix + ".raw", encoding="ascii") as f:
                raw = f.read()
        except OSError as e:
            raise Failed(f"{self.name}: {e}") from e
        messages, warmup = load.rate * (load.duration + load.warmup), load.rate * load.warmup
        return natscli.latency(outcome.stderr + outcome.stdout, raw, messages, warmup), [argv]


class NatsBench(NatscliProgram):
    """`nats bench pub`, alone or with `nats bench sub` in another process.

    Both clocks of pub end with the server's PONG. With a subscriber the figure
    is the subscriber's, from its first message to its last.
    """

    def __init__(self, version, subscriber):
        super().__init__(version)
        self.subscriber = subscriber
        self.name = "nats bench pub+sub" if subscriber else "nats bench pub"

    def _bench(self, place, load, role):
        path = os.path.join(place.directory, f"{role}.csv")
        argv = self._argv(
            place, "bench", role, "--no-progress", "--clients", "1",
            "--msgs", str(load.messages), "--size", f"{load.size}B", "--csv", path, place.subject,
        )  # fmt: skip
        return path, argv

    @staticmethod
    def _rate(outcome, path, load):
        if "WARNING" in outcome.stderr + outcome.stdout:
            raise Failed(f"nats bench warns:\n{outcome.stderr}{outcome.stdout}")
        try:
            with open(path, encoding="ascii") as f:
                return natscli.bench_rate(f.read(), load.messages, load.size)
        except OSError as e:
            raise Failed(f"nats bench: {e}") from e

    def trial(self, place, load):
        environment = self._environment(place)
        pub_path, pub = self._bench(place, load, "pub")
        if not self.subscriber:
            outcome = run(pub, load.timeout, env=environment)
            return {"per_second": self._rate(outcome, pub_path, load)}, [pub]
        sub_path, sub = self._bench(place, load, "sub")
        process = start(
            sub, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        try:
            place.broker.await_subscription(place.subject, process)
            published = run(pub, load.timeout, env=environment)
            received = finish(process, load.timeout)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        expect(received)
        return {
            "per_second": self._rate(received, sub_path, load),
            "published_per_second": self._rate(published, pub_path, load),
        }, [sub, pub]
