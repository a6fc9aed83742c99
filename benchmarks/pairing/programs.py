"""The programs that are compared: how each is called and what it answers.

Each class is one side of a comparison. targets names what the Makefile builds
for it; trial() runs it once against a broker and returns its figures. Figures
of paced programs are p50 and p99 in nanoseconds and more; of flat-out ones
per_second. Everything sent must have arrived, or the trial fails as a whole.
"""

import copy
import json
import math
import os
import re
import subprocess
import time
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from . import natscli
from .children import Failed, expect, finish, run, start, stop

# A program keeps the rate if it sends this share of what is due in the window
# before the window ends.
KEPT = 0.99


@dataclass(frozen=True)
class Paced:
    """A rate for warm-up and window, both in whole seconds.

    connections producers and as many subjects share it, with fanout subscribers
    of each. poisson: each producer has random gaps, drawn from seed. stalled:
    the program is stopped for 3 ms once a minute.
    """

    rate: int
    size: int
    duration: int
    warmup: int
    connections: int = 1
    fanout: int = 1
    poisson: bool = False
    seed: int = 1
    stalled: bool = False
    patience: int = 60  # seconds beyond twice its length

    @property
    def timeout(self):
        return self.patience + 2 * (self.duration + self.warmup)

    @property
    def stalls(self):
        """When the program is stopped, in seconds from its start: in the middle of
        each minute of the window, or of the window if that is shorter."""
        if not self.stalled:
            return ()
        return range(self.warmup + min(self.duration, 60) // 2, self.warmup + self.duration, 60)

    def run(self, argv, codes=(0,)):
        """Runs a program under this load, and stops it where that is asked."""
        return run(argv, self.timeout, codes, stalls=self.stalls)


@dataclass(frozen=True)
class FlatOut:
    """So many messages as fast as they go."""

    messages: int
    size: int
    timeout: int = 300

    def run(self, argv, codes=(0,)):
        return run(argv, self.timeout, codes)


@dataclass(frozen=True)
class Place:
    """Where a trial happens: binaries, a server and a directory of its own."""

    binaries: dict
    broker: object
    directory: str
    subject: str

    @property
    def stem(self):
        """The subject's beginning for a program that adds .0 and so on: what it makes
        has as many bytes and parts as ours, whose last part is t0."""
        return self.subject.removesuffix(".t0") + "t"


def _decode(name, text):
    try:
        return json.loads(text)
    except json.JSONDecodeError as e:
        raise Failed(f"{name}: standard output is not one JSON object ({e}):\n{text[:2000]}") from e


def _harm(counters):
    """What happened to messages that should not have."""
    harm = ("missing", "corrupted", "duplicated", "reordered", "foreign", "rejected", "not_sent")
    return {k: counters[k] for k in harm if counters.get(k)}


def _intact(name, counters):
    if harm := _harm(counters):
        raise Failed(f"{name}: {harm}")


def _percentile(histogram, name):
    """A percentile in nanoseconds; infinite where it is withheld or refused."""
    value = histogram["percentiles"].get(name)
    return value if isinstance(value, (int, float)) else math.inf


def _valid_to(verdict):
    """The highest percentile of the delivery's response time that a VALID verdict
    covers, "0" where it covers none; None where its status speaks for all of them.

    The verdict's own valid_to is that of the run's first latency, which may be
    the publication's.
    """
    if verdict["status"] != "VALID":
        return None
    for limit in verdict.get("limits") or []:
        if limit["metric"] == "delivery.response":
            return limit.get("valid_to") or "0"
    return None if "limits" in verdict else verdict.get("valid_to")


def _paced_figures(name, answer, load, withheld=False):
    """Figures from the JSON that Sixnines and the C clients share.

    With withheld, percentiles that are not printed are infinite.
    """
    try:
        histograms, rate, counters = answer["histograms"], answer["rate"], answer["counters"]
        response, lag = histograms["delivery.response"], histograms["lag.own"]
        service = histograms["delivery.service"]
        figures = {
            "p50": _percentile(response, "50"),
            "p99": _percentile(response, "99"),
            "max": response["max"],
            "service_p50": _percentile(service, "50"),
            "service_p99": _percentile(service, "99"),
            "lag_p50": _percentile(lag, "50"),
            "lag_p99": _percentile(lag, "99"),
            "rate_sent": rate["sent"],
            "rate_worst_second": rate["worst_second"],
            "rate_kept": rate["sent"] * load.duration >= KEPT * counters["scheduled"],
        }
        if withheld:
            return figures
        _intact(name, counters)
        if math.inf in (figures["p50"], figures["p99"]):
            # Ours withholds percentiles of an overloaded run.
            raise Failed(f"{name}: no p50 and p99: {answer.get('verdict')}")
        if response["count"] != counters["received"]:
            raise Failed(f"{name}: {response['count']} latencies of {counters['received']}")
        return figures
    except KeyError as e:
        raise Failed(f"{name}: its JSON has no {e}") from e


def _published_figures(name, answer, load):
    """Figures of a paced load that is published and acknowledged. Response times
    are not among them: who sends late by a timer's slack does not compare by them."""
    try:
        service, counters, rate = answer["histograms"]["publish.service"], answer["counters"], answer["rate"]["sent"]
        if not counters["scheduled"] == counters["acked"] == service["count"]:
            raise Failed(f"{name}: {service['count']} latencies, {counters}")
        return {
            "p50": _percentile(service, "50"), "p99": _percentile(service, "99"), "max": service["max"],
            "rate_sent": rate, "rate_kept": rate * load.duration >= KEPT * counters["scheduled"],
        }  # fmt: skip
    except KeyError as e:
        raise Failed(f"{name}: its JSON has no {e}") from e


class CClient:
    """A C reference client: natslat or redislat."""

    def __init__(self, name):
        self.name = name
        self.targets = (name,)

    def trial(self, place, load):
        at = urlsplit(place.broker.url)
        argv = [
            place.binaries[self.name], "--host", at.hostname, "--port", str(at.port),
            "--subject", place.stem,
            "--rate", str(load.rate), "--size", str(load.size),
            "--duration", str(load.duration), "--warmup", str(load.warmup), "--checksum",
            "-c", str(load.connections), "--fanout", str(load.fanout),
            *(["--arrivals", "poisson", "--seed", str(load.seed)] if load.poisson else []),
        ]  # fmt: skip
        answer = _decode(self.name, load.run(argv).stdout)
        return _paced_figures(self.name, answer, load), [argv]


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
        answer = _decode(self.name, load.run(argv).stdout)
        return _paced_figures(self.name, answer, load), [argv]


class Ordinary:
    """An ordinary program that publishes through a client library. Its figures are
    service times until the acknowledgement."""

    targets = ("ordinary",)

    def __init__(self, client):
        self.client = client
        self.name = f"ordinary {client}"

    def trial(self, place, load):
        argv = [
            place.binaries["ordinary"], "-client", self.client, "-url", place.broker.url, "-topic", place.subject,
            "-rate", str(load.rate), "-size", str(load.size),
            "-duration", f"{load.duration}s", "-warmup", f"{load.warmup}s",
        ]  # fmt: skip
        return _published_figures(self.name, _decode(self.name, load.run(argv).stdout), load), [argv]


class Sixnines:
    """Ourselves, as a user calls it: recording and checksums are always on.

    Where it is judged, a paced run whose percentiles are withheld, or that has
    lost messages, is a trial like any other, with infinite figures.
    """

    name = "sixnines"
    targets = ("sixnines",)

    def before(self):
        """The same as run by another binary of ours, which --before names."""
        other = copy.copy(self)
        other.name = "sixnines-before"
        other.targets = (other.name,)
        return other

    def __init__(self, pattern="deliver", driver="nats", arguments=(), judged=False):
        self.pattern = pattern
        self.driver = driver
        self.arguments = arguments
        self.judged = judged

    def _run(self, place, load, *arguments):
        argv = [
            place.binaries[self.name], "run", self.driver, "--url", place.broker.url,
            "--pattern", self.pattern, "--size", f"{load.size}B", *arguments, *self.arguments,
            "--json", "--quiet", "--out", place.directory,
        ]  # fmt: skip
        # 4 is a run that its own gates call invalid. It is kept, and counted:
        # leaving out what displeases one side would favour that side.
        outcome = load.run(argv, codes=(0, 4))
        answer = _decode(self.name, outcome.stdout)
        try:
            verdict, counters = answer["verdict"], answer["counters"]
            figures = {
                "verdict": verdict["status"], "valid_to": _valid_to(verdict),
                "reasons": verdict.get("reasons") or [],
            }  # fmt: skip
        except KeyError as e:
            raise Failed(f"{self.name}: its JSON has no {e}") from e
        return answer, counters, figures, [argv]

    @staticmethod
    def _spread(load):
        """One connection for each producer and consumer, which is what there is
        without being asked up to 16."""
        producers, consumers = load.connections, load.connections * load.fanout
        arguments = ["--producers", str(producers), "--consumers", str(consumers), "--topics", str(producers)]
        if producers > 16:
            arguments += ["--producer-connections", str(producers)]
        if consumers > 16:
            arguments += ["--consumer-connections", str(consumers)]
        return arguments

    def trial(self, place, load):
        if isinstance(load, FlatOut):
            return self._flat_out(place, load)
        if self.pattern == "publish":
            return self._published(place, load)
        answer, counters, verdict, argvs = self._run(
            place, load, "--rate", f"{load.rate}/s",
            "--duration", f"{load.duration}s", "--warmup", f"{load.warmup}s", *self._spread(load),
            *(["--arrivals", "poisson", "--seed", str(load.seed)] if load.poisson else []),
        )  # fmt: skip
        figures = {**_paced_figures(self.name, answer, load, withheld=self.judged), **verdict}
        if self.judged and (harm := _harm(counters)):
            figures |= {"p50": math.inf, "p99": math.inf, "harm": harm}
        return figures, argvs

    def _published(self, place, load):
        answer, _, verdict, argvs = self._run(
            place, load, "--rate", f"{load.rate}/s", "--duration", f"{load.duration}s", "--warmup", f"{load.warmup}s",
        )
        return {**_published_figures(self.name, answer, load), **verdict}, argvs

    def _flat_out(self, place, load):
        answer, counters, figures, argvs = self._run(
            place, load, "--rate", "max", "--messages", str(load.messages), "--warmup", "0s", "--producers", "1",
            *(["--consumers", "1"] if self.pattern == "deliver" else []),
        )
        _intact(self.name, counters)
        try:
            throughput = answer["throughput"]
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


class Fleet(Sixnines):
    """The same load shared by agents, each a process, with a control plane of their own. All are on this
    machine, and are there before the run and end after it."""

    name = "sixnines-fleet"

    def __init__(self, agents, arguments=()):
        super().__init__(arguments=arguments)
        self.agents = agents

    def _run(self, place, load, *arguments):
        program, control = place.binaries["sixnines"], os.path.join(place.directory, "control")
        place = replace(place, binaries={**place.binaries, self.name: program}, directory=os.path.join(place.directory, "out"))
        started = []
        try:
            os.mkdir(control)
            path = os.path.join(control, "log")
            with open(path, "w") as log:
                started.append(start([program, "fleet", "serve", "--listen", "127.0.0.1:0", "--dir", control], stderr=log, stdout=log))
            variable, token, url, pin = self._join(path, started[0])
            for k in range(self.agents):
                argv = [program, "agent", "--join", url, "--pin", pin, "--name", f"m{k + 1}", "--dir", os.path.join(control, f"m{k + 1}")]
                started.append(start(argv, env={**os.environ, variable: token}, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
            return super()._run(place, load, *arguments, "--fleet", url, "--fleet-pin", pin,
                                "--fleet-token-file", os.path.join(control, "token"), "--fleet-agents", str(self.agents))
        finally:
            for process in reversed(started):
                stop(process)

    def _join(self, path, process):
        """What agents join by, which the control plane prints when it is ready."""
        end = time.monotonic() + 30
        while time.monotonic() < end and process.poll() is None:
            with open(path) as log:
                m = re.search(r"agents join by: (\w+)=(\S+) sixnines agent --join (\S+) --pin (\S+)\n", log.read())
            if m:
                return m.groups()
            time.sleep(0.05)
        raise Failed(f"{self.name}: the control plane does not start, see {path}")


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
