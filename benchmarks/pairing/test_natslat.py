"""The C client against a server that speaks the protocol in awkward ways.

Needs the binary in $NATSLAT, as `make test` sets it.
"""

import json
import os
import socket
import subprocess
import threading
import unittest

INFO = b'INFO {"server_id":"x","max_payload":1048576,"headers":true}\r\n'


class Relay:
    """A server for one publisher and one subscriber.

    deliver maps the number of a message and its payload to the payloads that
    the subscriber gets; chunk is the number of bytes a write carries.
    """

    def __init__(self, deliver=lambda n, p: [p], chunk=None, info=INFO, reply_subject=False):
        self.deliver, self.chunk, self.info, self.reply = deliver, chunk, info, reply_subject
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.subscriber = None
        self.pongs = 0
        self.count = 0
        self.lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _write(self, connection, data):
        step = self.chunk or max(1, len(data))
        with self.lock:
            for i in range(0, len(data), step):
                connection.sendall(data[i : i + step])

    def _serve(self, connection):
        try:
            self._converse(connection)
        except OSError:
            pass  # a client that refuses what it was sent closes hard

    def _converse(self, connection):
        with connection, connection.makefile("rb") as stream:
            self._write(connection, self.info)
            while line := stream.readline():
                words = line.split()
                if words[0] == b"PING":
                    self._write(connection, b"PONG\r\n")
                elif words[0] == b"PONG":
                    self.pongs += 1
                elif words[0] == b"SUB":
                    self.subscriber, self.subject = connection, words[1]
                elif words[0] == b"PUB":
                    payload = stream.read(int(words[-1]) + 2)[:-2]
                    if payload and self.count % 10 == 0:  # both sides must answer at any time
                        self._write(connection, b"PING\r\n")
                        self._write(self.subscriber, b"PING\r\n+OK\r\n" + self.info)
                    reply = b" answer.7" if self.reply else b""
                    # At once: what is asked of the subscriber's connection in the
                    # meantime must not be answered between them.
                    self._write(self.subscriber, b"".join(
                        b"MSG %s 1%s %d\r\n" % (self.subject, reply, len(p)) + p + b"\r\n"
                        for p in self.deliver(self.count, payload)
                    ))  # fmt: skip
                    self.count += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def natslat(*arguments, timeout=60):
    return subprocess.run(
        [os.environ["NATSLAT"], *arguments], capture_output=True, text=True, timeout=timeout, check=False
    )


def measure(relay, *extra):
    return natslat(
        "--port", str(relay.port), "--rate", "500", "--size", "64",
        "--duration", "0.1", "--warmup", "0.02", "--checksum", *extra,
    )  # fmt: skip


class Measuring(unittest.TestCase):
    def check_complete(self, relay):
        done = measure(relay)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["counters"]["scheduled"], 50)
        self.assertEqual(answer["counters"]["received"], 50)
        self.assertEqual(answer["warmup"], {"scheduled": 10, "received": 10})
        histograms = answer["histograms"]
        self.assertEqual({h["count"] for h in histograms.values()}, {50})
        means = [histograms[k]["mean"] for k in ("delivery.response", "delivery.service", "lag.own")]
        self.assertAlmostEqual(means[0], means[1] + means[2], delta=1)
        self.assertGreaterEqual(histograms["lag.own"]["min"], 0)

    def test_whole_frames(self):
        with Relay() as relay:
            self.check_complete(relay)
            self.assertGreaterEqual(relay.pongs, 6)

    def test_byte_by_byte(self):
        with Relay(chunk=1) as relay:
            self.check_complete(relay)

    def test_reply_subjects(self):
        with Relay(reply_subject=True, chunk=7) as relay:
            self.check_complete(relay)

    def test_harm_is_counted(self):
        held = []

        def reorder(n, p):
            if n == 20:
                held.append(p)
                return []
            return [p, held.pop()] if n == 21 else [p]

        def at(n, change):
            return lambda i, p: change(p) if i == n else [p]

        for key, deliver in {
            "missing": at(30, lambda p: []),
            "duplicated": at(30, lambda p: [p, p]),
            "reordered": reorder,
            "corrupted": at(30, lambda p: [p[:40] + bytes([p[40] ^ 1]) + p[41:], p]),
            "foreign": at(30, lambda p: [p, p[:-1]]),
        }.items():
            with self.subTest(key), Relay(deliver) as relay:
                done = measure(relay)
                self.assertEqual(done.returncode, 1, done.stderr)
                counters = json.loads(done.stdout)["counters"]
                for k in ("missing", "duplicated", "reordered", "corrupted", "foreign"):
                    self.assertEqual(counters[k], 1 if k == key else 0, k)

    def test_a_second_copy_of_the_last_message(self):
        with Relay(lambda n, p: [p, p] if n == 59 else [p]) as relay:
            self.assertEqual(json.loads(measure(relay).stdout)["counters"]["duplicated"], 1)


class Refusing(unittest.TestCase):
    def test_servers(self):
        for name, info in {
            "error": b"-ERR 'no thanks'\r\n",
            "another protocol": b"HTTP/1.1 400 Bad Request\r\n",
            "no CR": b"INFO {}\n",
            "small payloads": b'INFO {"max_payload":63}\r\n',
        }.items():
            with self.subTest(name), Relay(info=info) as relay:
                done = measure(relay)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertTrue(done.stderr.startswith("natslat: "))

    def test_frames(self):
        for bad in (b"MSG x 1 y\r\n", b"MSG x 1 99999999\r\n", b"MSG x 1 2\r\nabcd\r\n", b"\r\n", b"HELLO\r\n"):
            with self.subTest(bad), Relay() as relay:

                def deliver(n, p, relay=relay, bad=bad):
                    if n == 5:
                        relay._write(relay.subscriber, bad)
                    return [p]

                relay.deliver = deliver
                done = measure(relay)
                self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_usage(self):
        for arguments in (
            ["--rate", "0"], ["--rate", "-1"], ["--rate", "1e3"], ["--rate", "10000001"], ["--size", "31"],
            ["--size", ""], ["--port", "0"], ["--port", "65536"], ["--duration", "0"], ["--duration", "nan"],
            ["--warmup", "-1"], ["--duration", "5s"], ["--subject", "a b"], ["--subject", "a.>"],
            ["--subject", ""], ["--subject", "a..b"], ["--bogus"], ["word"], ["--rate"],
            ["--rate", "10000000", "--duration", "3600"], ["--rate", "1", "--warmup", "0.5", "--duration", "0.01"],
        ):  # fmt: skip
            with self.subTest(arguments):
                done = natslat(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("natslat", done.stderr)
