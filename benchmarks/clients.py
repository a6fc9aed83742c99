#!/usr/bin/env python3
"""Writes docs/clients.md: what each client library costs, and which direct clients stay.

    sixnines study run clients
    benchmarks/clients.py results/clients-20261122T200131Z-1f2e3d4c

takes study.csv and the results of the directory. Rounds with a figure that its run does
not support are left out of that figure.
"""

import collections
import csv
import json
import math
import os
import re
import statistics
import sys

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "clients.md")
LATENCY = {"256B-3000": "256 B at 3,000/s", "1KiB-20000": "1 KiB at 20,000/s"}
FLAT = "1KiB-max"
# The rule, fixed before it was measured: a direct client stays if its library is worse by
# more than this in one figure, with an interval that excludes no difference.
WORSE_LATENCY, LESS_RATE, MORE_PROCESSOR = 1.15, 0.75, 1.25
# Fewer rounds than this have no exact interval of 95 %.
FEWEST = 4

HEAD = """# What client libraries cost

The same broker under the same load, by its client library and directly: a ratio above 1
says that the library's figure is the larger one. {machine}

A ratio compares the rounds of the one with those of the other, which were made in turn:
the Hodges–Lehmann estimate, and in brackets the interval of the exact Mann–Whitney test, of
at least 95 %. A dash is a figure that fewer than four rounds support. Latency is that of
deliveries, from the instant at which a message was due to the callback.

Sixnines measures directly by default. `--option client=library` takes the library instead,
and `sixnines ab rabbitmq --b option.client=library` compares the two on your machine.
"""

RULE = """
## Which direct clients stay

A direct client is code that somebody has to keep right. It stays where the library's
percentiles are more than {latency:.0f} % higher, its rate flat out more than {rate:.0f} % lower, or
its processor time flat out more than {processor:.0f} % higher, with an interval that excludes that
there is no difference.

| broker | library | decided by | direct client |
|---|---|---|---|
"""

TAIL = """
## How to repeat it

```
sixnines study run clients
benchmarks/clients.py results/clients-…
```

The [study's page](studies/clients.md) has the curves, the semantics and the versions of
everything. `benchmarks/clients.py` writes this page.
"""


def figures(directory):
    """Values by system, load, figure and round, where the run supports them."""
    values = collections.defaultdict(dict)
    with open(os.path.join(directory, "study.csv"), encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            if row["mark"] == "not-made":
                sys.exit(f"{directory}: trials are missing; go on with --resume first")
            latency = row["metric"] == "delivery.response"
            if row["value"] and not row["mark"] and (latency or not row["metric"]):
                values[row["system"], row["load"], row["figure"]][row["round"]] = float(row["value"])
    return values


def client(directory, system):
    """The broker and the client of a system, as its first result names them."""
    name = next(n for n in sorted(os.listdir(directory)) if re.fullmatch(rf"\d+-{system}-256B-3000-round-1\.jsonl", n))
    with open(os.path.join(directory, name), encoding="utf-8") as f:
        head = json.loads(f.readline())
    broker, library = head["broker"], head["semantics"].get("client")
    if not library:  # of a version that has it among the settings
        return f"{broker['product']} {broker['version']}", head["semantics"]["settings"]["client"]
    return f"{broker['product']} {broker['version']}", f"{library['name']} {library['version']}"


class Ratio:
    """The library's figure over the direct client's, each round of one over each of the
    other: the Hodges-Lehmann estimate, and the interval of the exact Mann-Whitney test."""

    def __init__(self, library, direct):
        n, m = len(library), len(direct)
        self.known = min(n, m) >= FEWEST
        if not self.known:
            return
        ratios = sorted(a / b for a in library.values() for b in direct.values())
        self.median = statistics.median(ratios)
        cut = outside(n, m)
        self.low, self.high = ratios[cut], ratios[n * m - 1 - cut]

    def __str__(self):
        return f"{self.median:.2f} [{self.low:.2f}, {self.high:.2f}]" if self.known else "–"

    def above(self, limit):
        return self.known and self.median > limit and self.low > 1

    def below(self, limit):
        return self.known and self.median < limit and self.high < 1


def outside(n, m):
    """How many of n × m ratios, in order, lie outside an interval of 95 % at each end: the
    largest U of the Mann-Whitney test that is that rare."""
    ways = {(0, 0): 1}  # to choose so many of the ranks that U is so much
    for rank in range(n + m):
        for (taken, total), count in list(ways.items()):
            if taken < n:
                key = taken + 1, total + rank - taken
                ways[key] = ways.get(key, 0) + count
    below, cut = 0, 0
    while True:
        below += ways[n, cut]
        if 2 * below / math.comb(n + m, n) > 0.05:
            return cut - 1
        cut += 1


def middle(values, form):
    return form(statistics.median(values.values())) if len(values) >= FEWEST else "–"


def seconds(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def rate(value):
    return f"{value:,.0f}/s"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    directory = sys.argv[1]
    values = figures(directory)
    systems = {system for system, _, _ in values}
    pairs = sorted((s.removesuffix("-library"), s) for s in systems if s.endswith("-library"))
    latency, flat, rule = [], [], []
    for direct, library in pairs:
        broker, name = client(directory, library)
        who = f"| {broker}, {direct} | {name} |"
        worse = []
        for load, title in LATENCY.items():
            row = f"{who} {title} |"
            for q in ("p50", "p90", "p99"):
                ratio = Ratio(values[library, load, q], values[direct, load, q])
                row += f" {middle(values[direct, load, q], seconds)} | {ratio} |"
                if ratio.above(WORSE_LATENCY):
                    worse.append(f"{q} at {title} × {ratio.median:.2f}")
            latency.append(row)
        carried = Ratio(values[library, FLAT, "rate.received"], values[direct, FLAT, "rate.received"])
        used = Ratio(values[library, FLAT, "cpu.generator"], values[direct, FLAT, "cpu.generator"])
        if carried.below(LESS_RATE):
            worse.append(f"rate × {carried.median:.2f}")
        if used.above(MORE_PROCESSOR):
            worse.append(f"processor time × {used.median:.2f}")
        flat.append(
            f"{who} {middle(values[direct, FLAT, 'rate.received'], rate)} | {carried} "
            f"| {middle(values[direct, FLAT, 'cpu.generator'], lambda s: seconds(s * 1e9))} | {used} |"
        )
        rule.append(f"{who} {', '.join(worse) or 'nothing'} | {'stays' if worse else '**goes**'} |")

    with open(os.path.join(directory, "study.md"), encoding="utf-8") as f:
        (made,) = re.search(r"^length \w+ · (.+)$", f.read(), re.M).groups()
    page = HEAD.format(machine=f"**Generator and broker share the processors**: {made}.")
    page += "\n## Paced\n\n| broker | library | load | p50, directly | ratio | p90, directly | ratio | p99, directly | ratio |\n"
    page += "|---|---|---|--:|--:|--:|--:|--:|--:|\n" + "\n".join(latency) + "\n"
    page += "\n## Flat out, 1 KiB\n\n| broker | library | rate, directly | ratio | generator's processor time for a message, directly | ratio |\n"
    page += "|---|---|--:|--:|--:|--:|\n" + "\n".join(flat) + "\n"
    page += RULE.format(latency=100 * (WORSE_LATENCY - 1), rate=100 * (1 - LESS_RATE), processor=100 * (MORE_PROCESSOR - 1)) + "\n".join(rule) + "\n"
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(page + TAIL)
    print(PAGE)


if __name__ == "__main__":
    main()
