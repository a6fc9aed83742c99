#!/usr/bin/env python3
"""Counts what comparisons find where the answer is known, and writes a table.

    benchmarks/beside.py                                # all batteries, 40 comparisons of three minutes each: days
    benchmarks/beside.py --only null/p50/quiet -n 40
    benchmarks/beside.py --only /same/ --for 90s -n 10  # what has this text in its name
    benchmarks/beside.py --list                         # what there is, what is done and how long the rest takes

A battery is BROKER/QUESTION/MACHINE, such as nats/p99/busy:

    BROKER    null, nats, redis, rabbitmq
    QUESTION  same    A beside A: each slower or faster is a false alarm, to find in at most 5 %
              p50     B 5 % slower at p50, to find in 32 of 40
              p99     B 10 % slower at p99, likewise
              within  A beside A, to show within 5 % at p50 and p90 in 32 of 40
    MACHINE   quiet   nothing else is started
              busy    beside a process that takes half a processor at random times

The null broker is slower by its own law of delays. Before the others stands a proxy of this file for p50 and p99, which
delays what the broker sends; A has one, too, so that both have the same path: 4 ms for A and 4.215 ms for B, or 2 ms and
a stop of 10 or 10.9 ms at 0.3 % of what comes, which delays a hundredth of 1,000 messages a second by more than 6.7 or
7.6 ms. What came out is in the table, since the path's own latency is not exactly known.

Batteries are made in turn, a comparison of each, so that a stop leaves all with as many. Each comparison is a line of the
file --state, so that the same command goes on after a stop (Ctrl-C) or a failure; the table is written beside it after each
comparison. One that fails is a line, too, and counts as not found. Other programs decide what "quiet" is: start it alone.
Needs Linux, the brokers (make brokers) and Python 3.10 without any package.
"""

import argparse
import json
import math
import os
import queue
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BROKERS = ["null", "nats", "redis", "rabbitmq"]
QUESTIONS = ["same", "p50", "p99", "within"]
MACHINES = ["quiet", "busy"]

# The null broker's delays of A and B. The path adds about 0.1 ms to both, so the latencies differ by a little less.
BODY = "lognormal(median=1ms,sigma=0.3)"
LAWS = {
    "same": (BODY, BODY),
    "within": (BODY, BODY),
    "p50": (BODY, "lognormal(median=1.055ms,sigma=0.3)"),
    "p99": ("bimodal(a=1ms,b=5ms,share=3%)", "bimodal(a=1ms,b=5.55ms,share=3%)"),
}
# What is asked for. The least change: any one of A beside A is a false alarm; a change that is there is to be shown at all.
PERCENTILES = {"same": "50,90,99", "p50": "50,90,99", "p99": "99", "within": "50,90"}
LEAST = {"same": "0%", "p50": "1%", "p99": "1%", "within": "5%"}


def hog():
    """Takes half a processor at random times until it is killed."""
    rng = random.Random(39)
    while True:
        end = time.monotonic() + rng.expovariate(10)
        while time.monotonic() < end:
            pass
        time.sleep(rng.expovariate(10))


def interval(k, n):
    """The exact interval of a proportion (Clopper and Pearson), by bisection."""

    def above(p):  # P(X >= k)
        return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))

    def solve(f):
        lo, hi = 0.0, 1.0
        for _ in range(60):
            mid = (lo + hi) / 2
            lo, hi = (mid, hi) if f(mid) else (lo, mid)
        return lo

    low = 0.0 if k == 0 else solve(lambda p: above(p) < 0.025)
    high = 1.0 if k == n else solve(lambda p: above(p) - math.comb(n, k) * p**k * (1 - p) ** (n - k) < 0.975)
    return low, high


def seconds(text):
    """A time as sixnines writes it, in seconds."""
    units = {"ms": 1e-3, "s": 1, "m": 60, "h": 3600}
    parts = re.findall(r"([\d.]+)(ms|s|m|h)", text)
    if not parts:
        sys.exit(f"{text} is no time, such as 3m or 90s")
    return sum(float(n) * units[u] for n, u in parts)


# The proxies of A and B: delay, share of what comes that stops the connection, and for how long; seconds.
PROXIES = {"p50": ((0.004, 0, 0), (0.004215, 0, 0)), "p99": ((0.002, 0.003, 0.010), (0.002, 0.003, 0.0109))}


def proxy(host, port, delay, share, stop):
    """Passes connections on to host:port until it is killed, and delays what comes back, in order."""
    rng = random.Random()
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def copy(source, sink):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)

    def receive(source, line):
        last = 0.0
        while data := source.recv(65536):
            due = time.monotonic() + delay + (stop if rng.random() < share else 0)
            last = max(last, due)
            line.put((last, data))
        line.put((last, b""))

    def deliver(line, sink):
        while True:
            due, data = line.get()
            time.sleep(max(0, due - time.monotonic()))
            if not data:
                break
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)

    while True:
        client, _ = listener.accept()
        server = socket.create_connection((host, int(port)))
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line = queue.Queue()
        for work in ((copy, client, server), (receive, server, line), (deliver, line, client)):
            threading.Thread(target=quietly, args=work, daemon=True).start()


def quietly(work, *args):
    """A thread of a connection that is closed just ends."""
    try:
        work(*args)
    except OSError:
        pass


def started(function, *args):
    """Starts a function of this file as a process."""
    return subprocess.Popen([sys.executable, "-c", "import ast, runpy, sys; runpy.run_path(sys.argv[1])[sys.argv[2]](*ast.literal_eval(sys.argv[3]))",
                             os.path.abspath(__file__), function.__name__, repr(args)], stdout=subprocess.PIPE, text=True)


def compare(o, battery, number):
    """Makes a comparison, and returns what is kept of it."""
    broker, question, machine = battery.split("/")
    rate = o.rate or ("4000/s" if battery.startswith("null/p99/") else "1000/s")
    processes, up = [], False
    out = tempfile.TemporaryDirectory()
    command = [o.sixnines, "ab", broker, "--for", o.budget, "--duration", o.duration, "--warmup", o.warmup, "--rate", rate, "--seed", str(number),
               "--percentile", PERCENTILES[question], "--min-effect", LEAST[question], "--json", "--quiet", "--out", out.name]
    try:
        if broker == "null":
            command += ["--rank-unlike", "--a", "setting.delay=" + LAWS[question][0], "--b", "setting.delay=" + LAWS[question][1]]
        elif question in PROXIES:
            r = subprocess.run([o.sixnines, "broker", "up", broker], capture_output=True, text=True, check=False)
            if r.returncode:
                return {"failed": r.stderr.strip()[-300:]}
            up = True
            before, host, port, after = re.fullmatch(r"(\w+://(?:[^@/]*@)?)([^:/]+):(\d+)(.*)", r.stdout.strip()).groups()
            command.append("--rank-unlike")
            for side, law in zip("ab", PROXIES[question]):
                p = started(proxy, host, port, *law)
                processes.append(p)
                command += ["--" + side, f"url={before}127.0.0.1:{p.stdout.readline().strip()}{after}"]
        if machine == "busy":
            processes.append(started(hog))
        began = time.monotonic()
        r = subprocess.run(command, capture_output=True, text=True, check=False)
        took = time.monotonic() - began
    finally:
        for p in processes:
            p.kill()
            p.wait()
        if up:
            subprocess.run([o.sixnines, "broker", "down", broker], capture_output=True, check=False)
        out.cleanup()
    if not r.stdout.strip():
        return {"failed": r.stderr.strip()[-300:] or f"exit code {r.returncode}", "took": took}
    c = json.loads(r.stdout)
    rows = [row for m in c["metrics"] if m["judged"] for row in m["rows"] if row.get("outcome")]
    return {"took": took, "design": (c.get("design") or {}).get("kind", ""), "pairs": len(c["pairs"]), "biased": bool((c.get("control") or {}).get("biased")),
            "text": c["text"], "left": [x["why"] for x in c["left_out"] if not x.get("partner")],
            "outcomes": {row["percentile"]: row["outcome"] for row in rows},
            "causes": {row["percentile"]: row["cause"] for row in rows if row.get("cause")},
            "changes": {row["percentile"]: [row["shift"][k] for k in ("ratio", "lo", "hi")] for row in rows if row.get("shift")}}


def wrong(question, c):
    """Whether a comparison says what is not so."""
    return any(x == "faster" or x == "slower" and question in ("same", "within") for x in c.get("outcomes", {}).values())


def answered(question, c):
    """Whether a comparison finds what it is to find; of same, a false alarm."""
    outcomes = c.get("outcomes", {})
    if question == "same":
        return wrong(question, c)
    if question == "within":
        return all(outcomes.get(p) == "no difference that matters" for p in ("50", "90"))
    return outcomes.get(question[1:]) == "slower"


def decided(c):
    """What a comparison decides, in words."""
    if "failed" in c:
        return c["failed"]
    says = f"{c['design']}, {c['pairs']} pairs{', control differs' if c['biased'] else ''}: "
    if not c["outcomes"]:
        return says + c["text"] + (f" {len(c['left'])} runs are left out, the first: {c['left'][0]}" if c["left"] else "")
    return says + ", ".join(
        f"p{q} {x}" + (f" ({c['causes'][q]})" if q in c["causes"] else "") + (" {:+.1f} [{:+.1f}, {:+.1f}] %".format(*((v - 1) * 100 for v in c["changes"][q])) if q in c["changes"] else "")
        for q, x in c["outcomes"].items())


def table(done, batteries):
    """A line for each battery."""
    lines = ["| battery | comparisons | found | 95 % interval | to be | wrong | failed | control differs | designs | pairs | change, median |", "|" + "---|" * 11]
    for b in batteries:
        question, all_ = b.split("/")[1], done.get(b, [])
        made = [c for c in all_ if "failed" not in c]
        n, k = len(all_), sum(answered(question, c) for c in all_)
        low, high = interval(k, n) if n else (0, 1)
        at = question[1:] if question in PROXIES else "50"
        changes = [c["changes"][at][0] for c in made if at in c["changes"]]
        designs = ", ".join(f"{sum(c['design'] == d for c in made)} {d}" for d in sorted({c["design"] for c in made}))
        lines.append(f"| {b} | {n} | {k} | {low * 100:.0f} to {high * 100:.0f} % | {'at most 5 %' if question == 'same' else '80 %'} | {sum(wrong(question, c) for c in made)} | "
                     f"{n - len(made)} | {sum(c['biased'] for c in made)} | {designs} | {statistics.mean(c['pairs'] for c in made) if made else 0:.1f} | "
                     + (f"p{at} {(statistics.median(changes) - 1) * 100:+.1f} %" if changes else "") + " |")
    return "\n".join(lines) + "\n"


def left(o, done, batteries):
    """About how long the rest takes, seconds; a comparison that was not tried yet takes its whole time."""
    total = 0.0
    for b in batteries:
        took = [c["took"] for c in done.get(b, []) if c.get("took")]
        total += max(0, o.n - len(done.get(b, []))) * (statistics.median(took) if took else seconds(o.budget))
    return total


def spell(s):
    return f"{s / 3600:.1f} h" if s >= 3600 else f"{s / 60:.0f} min"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-n", type=int, default=40, help="comparisons of each battery")
    p.add_argument("--only", default="", help="batteries that have this text in their name")
    p.add_argument("--for", dest="budget", default="3m", help="time of each comparison")
    p.add_argument("--duration", default="5s", help="window of each run")
    p.add_argument("--warmup", default="1s")
    p.add_argument("--rate", default="", help="default: 1000/s, and 4000/s where the null broker is asked for p99, which 5,000 messages do not show")
    p.add_argument("--state", default="beside.jsonl", help="file of what was found; the table is beside it, as .md")
    p.add_argument("--list", action="store_true", help="print the table and how long the rest takes, and measure nothing")
    p.add_argument("--sixnines", default=os.path.join(ROOT, "bin", "sixnines"))
    o = p.parse_args()
    o.sixnines = os.path.abspath(o.sixnines)
    every = [f"{b}/{q}/{m}" for m in MACHINES for q in QUESTIONS for b in BROKERS]
    batteries = [b for b in every if o.only in b]
    if not batteries:
        p.error(f"no battery has {o.only} in its name")
    asked = {"for": o.budget, "duration": o.duration, "warmup": o.warmup, "rate": o.rate}
    done = {}
    if os.path.exists(o.state):
        with open(o.state, "r+") as f:
            text = f.read()
            if text and text[-1] != "\n":
                f.write("\n")
            for line in filter(str.strip, text.splitlines()):
                try:
                    c = json.loads(line)
                except ValueError:
                    continue  # a stop cut it
                if c["asked"] != asked:
                    p.error(f"{o.state} has comparisons of {c['asked']}; name another file with --state")
                done.setdefault(c["battery"], []).append(c)

    def write():
        with open(os.path.splitext(o.state)[0] + ".md", "w") as f:
            f.write(table(done, [b for b in every if b in batteries or b in done]))

    if o.list:
        print(table(done, batteries) + f"\nabout {spell(left(o, done, batteries))} left")
        return
    print(f"{len(batteries)} batteries of {o.n} comparisons, about {spell(left(o, done, batteries))} left", flush=True)
    for number in range(1, o.n + 1):
        for b in batteries:
            if len(done.get(b, [])) >= number:
                continue
            c = compare(o, b, number)
            with open(o.state, "a") as f:
                f.write(json.dumps({"battery": b, "number": number, "asked": asked} | c) + "\n")
            done.setdefault(b, []).append(c)
            write()
            print(f"{b} {number}: {decided(c)}; about {spell(left(o, done, batteries))} left", flush=True)
    print(table(done, batteries))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on")
