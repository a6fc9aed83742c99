"""Brokers beside NATS, for the time of one pair of trials."""

import json
import os
import select
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from .broker import Broker
from .children import Failed, start, stop


@dataclass(frozen=True)
class NATS:
    """A nats-server with default settings, with JetStream if that is asked for."""

    jetstream: bool = False
    targets = ("nats-server",)

    def open(self, binaries):
        return Broker(binaries["nats-server"], jetstream=self.jetstream)


@dataclass(frozen=True)
class Product:
    """A broker by the name that Sixnines has for it, see startbroker.

    settings are lines of its own configuration.
    """

    name: str
    settings: tuple[tuple[str, str], ...] = ()
    targets = ("startbroker",)

    def open(self, binaries):
        return Managed(binaries["startbroker"], self)


class Managed:
    """A running broker; a context manager that stops it for sure.

    The program that starts it stops it when its standard input ends, which
    happens even when this interpreter is killed.
    """

    def __init__(self, binary, product, patience=150):
        self._product = product
        arguments = [a for name, value in product.settings for a in ("-set", f"{name}={value}")]
        with tempfile.TemporaryFile() as words:
            self._process = start(
                [binary, *arguments, product.name],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, text=True,
            )  # fmt: skip
            try:
                answer = self._answer(patience, words)
            except BaseException:
                self.close()
                raise
        self.version, self.path, self.urls = answer["version"], answer["path"], answer["urls"]
        self.url = answer["url"]

    def _answer(self, patience, words):
        limit = time.monotonic() + patience
        readable = select.select([self._process.stdout], [], [], limit - time.monotonic())[0]
        line = self._process.stdout.readline() if readable else ""
        try:
            return json.loads(line)
        except json.JSONDecodeError:
            words.seek(0)
            said = words.read().decode("utf-8", "replace")
            raise Failed(f"{self._product.name} does not start: {said or line or 'it takes too long'}") from None

    @property
    def addresses(self):
        """host:port of its nodes, separated by commas."""
        return ",".join(urlsplit(u if "://" in u else f"//{u}").netloc for u in self.url.split(","))

    def messages(self):
        """(in, out) as Broker.messages, or None where the broker does not count.

        Redis counts commands, of which every publish is one.
        """
        if self._product.name != "redis":
            return None
        host, port = self.addresses.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(b"INFO stats\r\n")
            received = b""
            while b"total_commands_processed:" not in received or not received.endswith(b"\r\n"):
                part = connection.recv(1 << 16)
                if not part:
                    raise Failed("redis: no answer to INFO")
                received += part
        counted = received.split(b"total_commands_processed:")[1].split(b"\r\n")[0]
        return int(counted), 0

    def close(self):
        if self._process.poll() is None:
            self._process.stdin.close()
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                stop(self._process)
        self._process.stdout.close()
        if not self._process.stdin.closed:
            self._process.stdin.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
