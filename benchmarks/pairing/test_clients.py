"""The C clients against servers that speak the protocols in awkward ways.

Needs the binaries in $NATSLAT and $REDISLAT, as `make test` sets them.
"""

import json
import os
import socket
import subprocess
import threading
import unittest

HARMS = ("missing", "duplicated", "reordered", "corrupted", "foreign")


class Relay:
    """A server. deliver maps the number of a message on its subject, its payload
    and who gets it, (subject, subscriber of the subject), both numbered from 0,
    to the payloads that are delivered; chunk is the number of bytes a write
    carries.
    """

    def __init__(self, deliver=lambda n, p, who: [p], chunk=None):
        self.deliver, self.chunk = deliver, chunk
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.subscribers = {}  # by subject: connections, in order
        self.count = {}  # by subject
        self.connections = 0
        self.lock = threading.Lock()
        self.serving = []
        self.accepting = threading.Thread(target=self._accept, daemon=True)
        self.accepting.start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.serving.append(threading.Thread(target=self._serve, args=(connection,), daemon=True))
            self.serving[-1].start()

    def write(self, connection, data):
        step = self.chunk or max(1, len(data))
        with self.lock:
            for i in range(0, len(data), step):
                connection.sendall(data[i : i + step])

    def _serve(self, connection):
        try:
            with connection, connection.makefile("rb") as stream:
                self.converse(connection, stream)
        except OSError:
            pass  # a client that refuses what it was sent closes hard

    def subscribe(self, subject, connection):
        self.subscribers.setdefault(subject, []).append(connection)

    def relay(self, subject, payload, frame, before=b""):
        """Delivers a message in frames made by frame; returns its number."""
        n = self.count.get(subject, 0)
        self.count[subject] = n + 1
        number = int(subject.rsplit(b".", 1)[1])
        for i, connection in enumerate(self.subscribers[subject]):
            # At once: what is asked of the subscriber's connection in the
            # meantime must not be answered between them.
            self.write(connection, before + b"".join(frame(subject, p) for p in self.deliver(n, payload, (number, i))))
        return n

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A thread must not go on with the number of a file that is another's by
        # then: the next server's listener, for instance.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.accepting.join()
        self.listener.close()
        for thread in self.serving:
            thread.join(60)


class NATSRelay(Relay):
    INFO = b'INFO {"server_id":"x","max_payload":1048576,"headers":true}\r\n'

    def __init__(self, *arguments, info=INFO, reply_subject=False, **more):
        self.info, self.reply, self.pongs = info, b" answer.7" if reply_subject else b"", 0
        super().__init__(*arguments, **more)

    def frame(self, subject, payload):
        return b"MSG %s 1%s %d\r\n" % (subject, self.reply, len(payload)) + payload + b"\r\n"

    def converse(self, connection, stream):
        self.write(connection, self.info)
        while line := stream.readline():
            words = line.split()
            if words[0] == b"PING":
                self.write(connection, b"PONG\r\n")
            elif words[0] == b"PONG":
                self.pongs += 1
            elif words[0] == b"SUB":
                self.subscribe(words[1], connection)
            elif words[0] == b"PUB":
                payload = stream.read(int(words[-1]) + 2)[:-2]
                # Both sides must answer at any time.
                asked = self.count.get(words[1], 0) % 10 == 0
                if asked:
                    self.write(connection, b"PING\r\n")
                self.relay(words[1], payload, self.frame, b"PING\r\n+OK\r\n" + self.info if asked else b"")


class RedisRelay(Relay):
    greeting = b"+PONG\r\n"

    @staticmethod
    def frame(subject, payload):
        return b"*3\r\n$7\r\nmessage\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(subject), subject, len(payload), payload)

    def converse(self, connection, stream):
        subscribed = False
        while line := stream.readline():
            words = [stream.read(int(stream.readline()[1:]) + 2)[:-2] for _ in range(int(line[1:]))]
            if words[0] == b"PING":
                self.write(connection, b"*2\r\n$4\r\npong\r\n$0\r\n\r\n" if subscribed else self.greeting)
            elif words[0] == b"SUBSCRIBE":
                subscribed = True
                self.subscribe(words[1], connection)
                self.write(connection, b"*3\r\n$9\r\nsubscribe\r\n$%d\r\n%s\r\n:1\r\n" % (len(words[1]), words[1]))
            elif words[0] == b"PUBLISH":
                self.relay(words[1], words[2], self.frame)
                self.write(connection, b":%d\r\n" % len(self.subscribers[words[1]]))


def at(n, change, only=(0, 0)):
    """A deliver that changes message n of one subscriber."""
    return lambda i, p, who: change(p) if (i, who) == (n, only) else [p]


def swapped(n):
    """A deliver that exchanges message n with the one before it."""
    held = []

    def deliver(i, p, who):
        if i == n - 1:
            held.append(p)
            return []
        return [p, held.pop()] if i == n else [p]

    return deliver


class Client:
    """The tests of both clients; program is the variable that names its binary."""

    def call(self, *arguments):
        return subprocess.run(
            [os.environ[self.program.upper()], *arguments], capture_output=True, text=True, timeout=60, check=False
        )

    def measure(self, relay, *extra):
        return self.call(
            "--port", str(relay.port), "--rate", "500", "--size", "64",
            "--duration", "0.1", "--warmup", "0.02", "--checksum", *extra,
        )  # fmt: skip

    def answer(self, relay, *extra):
        done = self.measure(relay, *extra)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_complete(self, relay):
        answer = self.answer(relay)
        self.assertEqual(answer["counters"]["scheduled"], 50)
        self.assertEqual(answer["counters"]["received"], 50)
        self.assertEqual(answer["warmup"], {"scheduled": 10, "received": 10})
        histograms = answer["histograms"]
        self.assertEqual({h["count"] for h in histograms.values()}, {50})
        means = [histograms[k]["mean"] for k in ("delivery.response", "delivery.service", "lag.own")]
        self.assertAlmostEqual(means[0], means[1] + means[2], delta=1)
        self.assertGreaterEqual(histograms["lag.own"]["min"], 0)

    def test_whole_frames(self):
        with self.relay() as relay:
            self.check_complete(relay)

    def test_byte_by_byte(self):
        with self.relay(chunk=1) as relay:
            self.check_complete(relay)

    def test_harm_is_counted(self):
        for key, deliver in {
            "missing": at(30, lambda p: []),
            "duplicated": at(30, lambda p: [p, p]),
            "reordered": swapped(21),
            "corrupted": at(30, lambda p: [p[:40] + bytes([p[40] ^ 1]) + p[41:], p]),
            "foreign": at(30, lambda p: [p, p[:-1]]),
        }.items():
            with self.subTest(key), self.relay(deliver) as relay:
                done = self.measure(relay)
                self.assertEqual(done.returncode, 1, done.stderr)
                counters = json.loads(done.stdout)["counters"]
                for k in HARMS:
                    self.assertEqual(counters[k], 1 if k == key else 0, k)

    def test_a_second_copy_of_the_last_message(self):
        with self.relay(at(59, lambda p: [p, p])) as relay:
            self.assertEqual(json.loads(self.measure(relay).stdout)["counters"]["duplicated"], 1)

    def test_connections_share_the_load(self):
        # 60 messages over 7: message n belongs to connection n mod 7, 4 of them have 9.
        with self.relay(chunk=5) as relay:
            answer = self.answer(relay, "-c", "7")
            self.assertEqual(relay.connections, 14)
            self.assertEqual([relay.count[s] for s in sorted(relay.count)], [9, 9, 9, 9, 8, 8, 8])
        # 10 messages are due in the warm-up: the first of them.
        self.assertEqual([c["scheduled"] for c in answer["connections"]], [7, 7, 7, 8, 7, 7, 7])
        self.assertEqual(answer["histograms"]["delivery.response"]["count"], 50)

    def test_the_instants_of_connections_are_those_of_one(self):
        with_, seen = {}, {}
        for connections in ("1", "4"):
            due = []

            def deliver(n, p, who, due=due):
                due.append(int.from_bytes(p[8:16], "little"))
                return [p]

            with self.relay(deliver) as relay:
                self.answer(relay, "--connections", connections)
            start = min(due)
            with_[connections] = sorted(d - start for d in due)
            seen[connections] = len(due)
        self.assertEqual(seen, {"1": 60, "4": 60})
        self.assertEqual(with_["1"], [n * 1_000_000_000 // 500 for n in range(60)])
        self.assertEqual(with_["4"], with_["1"])

    def test_poisson(self):
        def instants(*extra):
            due = {}

            def deliver(n, p, who):
                due.setdefault(who[0], []).append(int.from_bytes(p[8:16], "little"))
                return [p]

            with self.relay(deliver) as relay:
                answer = self.answer(
                    relay, "--arrivals", "poisson", "-c", "2", "--rate", "2000", "--duration", "0.5", *extra
                )
            self.assertEqual(sum(map(len, due.values())), answer["counters"]["scheduled"] + answer["warmup"]["scheduled"])
            return {c: [b - a for a, b in zip(d, d[1:])] for c, d in due.items()}

        gaps = instants()
        self.assertEqual(gaps, instants("--seed", "1"))
        self.assertNotEqual(gaps, instants("--seed", "2"))
        self.assertNotEqual(gaps[0][:20], gaps[1][:20])
        for g in gaps.values():
            mean = sum(g) / len(g)
            # 520 gaps of 1 ms each, whose standard deviation is their mean: 4 % of each is one sigma.
            self.assertAlmostEqual(mean / 1e6, 1, delta=0.25)
            spread = (sum((x - mean) ** 2 for x in g) / len(g)) ** 0.5
            self.assertAlmostEqual(spread / mean, 1, delta=0.3)

    def test_fan_out(self):
        with self.relay() as relay:
            answer = self.answer(relay, "-c", "2", "--fanout", "3")
            self.assertEqual(relay.connections, 8)
        counters = answer["counters"]
        self.assertEqual((counters["scheduled"], counters["expected"], counters["received"]), (50, 150, 150))
        self.assertEqual({h["count"] for h in answer["histograms"].values()}, {150})
        # By message, and not by receiver, which would be 1500. Some may be sent in the window before or after theirs.
        self.assertTrue(0 < answer["rate"]["sent"] < 1000, answer["rate"])

    def test_harm_is_counted_where_it_happens(self):
        for key, change in {
            "missing": lambda p: [],
            "duplicated": lambda p: [p, p],
            "corrupted": lambda p: [p[:40] + bytes([p[40] ^ 1]) + p[41:], p],
        }.items():
            with self.subTest(key), self.relay(at(12, change, only=(1, 1))) as relay:
                done = self.measure(relay, "-c", "3", "--fanout", "2")
                self.assertEqual(done.returncode, 1, done.stderr)
                answer = json.loads(done.stdout)
                self.assertEqual([c[key] for c in answer["connections"]], [0, 1, 0])
                self.assertEqual([answer["counters"][k] for k in HARMS], [int(k == key) for k in HARMS])

    def test_a_message_of_another_connection_is_foreign(self):
        other, there = [], threading.Event()

        def deliver(n, p, who):
            if who == (0, 0):
                other.append(p)
                there.set()
            if (n, who) != (12, (1, 0)):
                return [p]
            there.wait(30)  # the connections are served by threads of their own
            return [p, other[0]]

        with self.relay(deliver) as relay:
            answer = json.loads(self.measure(relay, "-c", "2").stdout)
        self.assertEqual([c["foreign"] for c in answer["connections"]], [0, 1])

    def check_refused_frames(self, *frames):
        for bad in frames:
            with self.subTest(bad), self.relay() as relay:

                def deliver(n, p, who, relay=relay, bad=bad):
                    if n == 5:
                        relay.write(relay.subscribers[next(iter(relay.subscribers))][0], bad)
                    return [p]

                relay.deliver = deliver
                done = self.measure(relay)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertTrue(done.stderr.startswith(f"{self.program}: "), done.stderr)

    def check_refused_servers(self, **servers):
        for name, greeting in servers.items():
            with self.subTest(name), self.greeting_relay(greeting) as relay:
                done = self.measure(relay)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertTrue(done.stderr.startswith(f"{self.program}: "), done.stderr)

    def test_usage(self):
        for arguments in (
            ["--rate", "0"], ["--rate", "-1"], ["--rate", "1e3"], ["--rate", "10000001"], ["--size", "31"],
            ["--size", ""], ["--port", "0"], ["--port", "65536"], ["--duration", "0"], ["--duration", "nan"],
            ["--warmup", "-1"], ["--duration", "5s"], ["--subject", "a b"], ["--subject", "a.>"],
            ["--subject", ""], ["--subject", "a..b"], ["--bogus"], ["word"], ["--rate"],
            ["--rate", "10000000", "--duration", "3600"], ["--rate", "1", "--warmup", "0.5", "--duration", "0.01"],
            ["-c", "0"], ["-c", "1025"], ["--connections", "x"], ["--fanout", "0"], ["-c", "65", "--fanout", "16"],
            ["--arrivals", "bursts"], ["--seed", "-1"], ["--rate", "1000000", "--fanout", "16"],
        ):  # fmt: skip
            with self.subTest(arguments):
                done = self.call(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(self.program, done.stderr)


class Natslat(Client, unittest.TestCase):
    program, relay = "natslat", NATSRelay

    @staticmethod
    def greeting_relay(greeting):
        return NATSRelay(info=greeting)

    def test_a_ping_is_answered(self):
        with NATSRelay() as relay:
            self.answer(relay)
            # 60 messages: 6 pings to each side, those to the producer at the end at the latest.
            self.assertGreaterEqual(relay.pongs, 12)

    def test_reply_subjects(self):
        with NATSRelay(reply_subject=True, chunk=7) as relay:
            self.check_complete(relay)

    def test_servers(self):
        self.check_refused_servers(**{
            "error": b"-ERR 'no thanks'\r\n", "another protocol": b"HTTP/1.1 400 Bad Request\r\n",
            "no CR": b"INFO {}\n", "small payloads": b'INFO {"max_payload":63}\r\n',
        })  # fmt: skip

    def test_frames(self):
        self.check_refused_frames(
            b"MSG x 1 y\r\n", b"MSG x 1 99999999\r\n", b"MSG x 1 2\r\nabcd\r\n", b"\r\n", b"HELLO\r\n"
        )


class Redislat(Client, unittest.TestCase):
    program, relay = "redislat", RedisRelay

    @staticmethod
    def greeting_relay(greeting):
        relay = RedisRelay()
        relay.greeting = greeting
        return relay

    def test_servers(self):
        self.check_refused_servers(**{
            "login": b"-NOAUTH Authentication required.\r\n", "another protocol": b"HTTP/1.1 400 Bad Request\r\n",
            "no CR": b"+PONG\n",
        })  # fmt: skip

    def test_a_refused_publish_ends_the_run(self):
        def deliver(n, p, who):
            if n == 5:
                with relay.lock:
                    publisher[0].sendall(b"-OOM command not allowed\r\n")
            return [p]

        publisher = []
        with RedisRelay(deliver) as relay:
            write = relay.write

            def remember(connection, data):
                if connection not in relay.subscribers.get(b"redislat.0", []):
                    publisher[:] = [connection]
                write(connection, data)

            relay.write = remember
            done = self.measure(relay)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("OOM", done.stderr)

    def test_frames(self):
        self.check_refused_frames(
            b"*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$y\r\n", b"$99999999\r\n", b"$2\r\nabcd\r\n", b"\r\n", b"HELLO\r\n",
            b"*4\r\n", b"*0\r\n", b"*2\r\n*1\r\n", b"$-1\r\n", b"-ERR no\r\n",
        )  # fmt: skip


if __name__ == "__main__":
    unittest.main()
