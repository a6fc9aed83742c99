"""A nats-server on loopback for the time of one pair of trials."""

import json
import os
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from .children import Failed, start, stop


class Broker:
    """A running server; a context manager that stops it for sure.

    The server itself chooses both ports, so nothing is guessed or raced for.
    Its configuration is the default but for where it listens. The monitoring
    port is read before and after a trial, never during one that is timed.
    """

    def __init__(self, binary, patience=15, jetstream=False):
        self._directory = tempfile.TemporaryDirectory(prefix="pairs-nats-")
        self._process = None
        try:
            self._open(binary, patience, jetstream)
        except BaseException:
            self.close()
            raise

    def _open(self, binary, patience, jetstream):
        directory = self._directory.name
        config = os.path.join(directory, "nats.conf")
        with open(config, "w", encoding="ascii") as f:
            f.write(
                'listen: "127.0.0.1:-1"\n'
                'http: "127.0.0.1:-1"\n'
                f"ports_file_dir: {json.dumps(directory)}\n"
            )
            if jetstream:
                f.write(f"jetstream {{ store_dir: {json.dumps(directory)} }}\n")
        self._log = os.path.join(directory, "log")
        with open(self._log, "wb") as log:
            self._process = start([binary, "-c", config], stdout=log, stderr=log)
        limit = time.monotonic() + patience
        name = f"{os.path.basename(binary)}_{self._process.pid}.ports"
        while not (ports := self._read_ports(directory, name)):
            self._wait_before(limit, "write its ports")
        self.url = ports["nats"][0]
        self._monitor = ports["monitoring"][0]
        while not self._healthy():
            self._wait_before(limit, "become healthy")
        self.port = int(self.url.rsplit(":", 1)[1])
        self.version = self.monitor("varz")["version"]

    def _wait_before(self, limit, what):
        if self._process.poll() is not None or time.monotonic() > limit:
            with open(self._log, encoding="utf-8", errors="replace") as f:
                raise Failed(f"nats-server did not {what}:\n{f.read()}")
        time.sleep(0.01)

    @staticmethod
    def _read_ports(directory, name):
        try:
            with open(os.path.join(directory, name), encoding="ascii") as f:
                ports = json.load(f)
        except (FileNotFoundError, json.JSONDecodeError):  # not there, or half written
            return None
        return ports if ports.get("nats") and ports.get("monitoring") else None

    def _healthy(self):
        try:
            return self.monitor("healthz").get("status") == "ok"
        except (urllib.error.URLError, ConnectionError):
            return False

    def monitor(self, path):
        """One of the server's monitoring documents."""
        with urllib.request.urlopen(f"{self._monitor}/{path}", timeout=10) as answer:
            return json.load(answer)

    def messages(self):
        """(in, out): messages taken from and given to clients so far."""
        varz = self.monitor("varz")
        return varz["in_msgs"], varz["out_msgs"]

    def await_subscription(self, subject, process, patience=15):
        """Returns when the server has a subscription to subject; Failed when
        the process that was to subscribe ended or took too long."""
        limit = time.monotonic() + patience
        while True:
            listed = self.monitor("subsz?subs=1&limit=100000").get("subscriptions_list") or []
            if any(s.get("subject") == subject for s in listed):
                return
            if process.poll() is not None or time.monotonic() > limit:
                raise Failed(f"nobody subscribed to {subject}")
            time.sleep(0.01)

    def close(self):
        if self._process is not None:
            stop(self._process)
        self._directory.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
