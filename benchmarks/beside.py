#!/usr/bin/env python3
"""Counts what comparisons of both sides at once find, where the answer is known.

    benchmarks/beside.py same             # A beside A: every SLOWER or FASTER is a false alarm
    benchmarks/beside.py p50              # B 5 % slower at p50
    benchmarks/beside.py p99              # B 10 % slower at p99
    benchmarks/beside.py same --busy      # beside a process that takes half a processor at random times
    benchmarks/beside.py p50 -n 40 --for 3m --duration 5s

Both sides are the null broker, which delays each message by a law. One line for each comparison,
and at the end the count with its exact 95 % interval. Results stay in a temporary directory only
while they are compared. Needs Linux and Python 3.10 without any package.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# The delays of A and B, the percentile at which B is slower, and the least change that is asked for.
# The path through the broker adds about 0.1 ms to both, so the latencies differ by a little less than the laws.
KINDS = {
    "same": ("lognormal(median=1ms,sigma=0.3)", "lognormal(median=1ms,sigma=0.3)", None, "0%"),
    "p50": ("lognormal(median=1ms,sigma=0.3)", "lognormal(median=1.05ms,sigma=0.3)", "50", "1%"),
    "p99": ("bimodal(a=1ms,b=5ms,share=3%)", "bimodal(a=1ms,b=5.5ms,share=3%)", "99", "1%"),
}


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


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("kind", choices=KINDS)
    p.add_argument("-n", type=int, default=40, help="comparisons")
    p.add_argument("--for", dest="budget", default="3m", help="time of each")
    p.add_argument("--duration", default="5s", help="window of each run")
    p.add_argument("--warmup", default="1s")
    p.add_argument("--rate", default="1000/s")
    p.add_argument("--busy", action="store_true", help="beside a process that takes half a processor at random times")
    p.add_argument("--sixnines", default=os.path.join(ROOT, "bin", "sixnines"))
    o = p.parse_args()
    a, b, percentile, least = KINDS[o.kind]
    load = subprocess.Popen([sys.executable, "-c", "import runpy, sys; runpy.run_path(sys.argv[1])['hog']()", os.path.abspath(__file__)]) if o.busy else None
    done = alarms = found = pairs = 0
    try:
        for i in range(o.n):
            with tempfile.TemporaryDirectory() as out:
                r = subprocess.run(
                    [os.path.abspath(o.sixnines), "ab", "null", "--for", o.budget, "--duration", o.duration,
                     "--warmup", o.warmup, "--rate", o.rate, "--seed", str(i + 1), "--a", "setting.delay=" + a, "--b", "setting.delay=" + b,
                     "--rank-unlike", "--percentile", "50,90,99", "--min-effect", least, "--json", "--quiet", "--out", out],
                    capture_output=True, text=True, check=False)
            if not r.stdout.strip():
                print(f"{i + 1}: {r.stderr.strip()}")
                continue
            c = json.loads(r.stdout)
            rows = [row for m in c["metrics"] if m["judged"] for row in m["rows"] if row.get("outcome")]
            outcomes = {row["percentile"]: row["outcome"] for row in rows}
            done += 1
            pairs += len(c["pairs"])
            wrong = any(x == "faster" or x == "slower" and not percentile for x in outcomes.values())
            alarms += wrong
            found += outcomes.get(percentile) == "slower"
            says = ", ".join(f"p{row['percentile']} {row['outcome']}" + (f" {(row['shift']['ratio'] - 1) * 100:+.1f} [{(row['shift']['lo'] - 1) * 100:+.1f}, {(row['shift']['hi'] - 1) * 100:+.1f}] %" if row.get("shift") else "") for row in rows)
            print(f"{i + 1}: {c['design']['kind']}, {len(c['pairs'])} pairs{', control biased' if (c.get('control') or {}).get('biased') else ''}: {says}", flush=True)
    finally:
        if load:
            load.kill()
            load.wait()
    if done == 0:
        sys.exit("no comparison was made")
    what, k = ("false alarms", alarms) if not percentile else (f"found at p{percentile}", found)
    low, high = interval(k, done)
    print(f"{o.kind}: {what} in {k} of {done} ({low * 100:.0f} to {high * 100:.0f} %), {alarms} wrong, {pairs / done:.1f} pairs in the mean")


if __name__ == "__main__":
    main()
