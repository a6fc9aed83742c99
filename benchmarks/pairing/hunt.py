"""The hunt for lies: random loads, each run by the C client, by Sixnines and by
the C client again on one server, and what Sixnines says of itself held against
what the C client measured before and after."""

import json
import math
import os
import random
from dataclasses import asdict, dataclass

from . import machine
from .children import Failed, hog
from .comparison import WRONG, trial, verdict_words, vouched
from .managed import NATS, Product
from .programs import CClient, Paced, Sixnines

BROKERS = {"nats": (NATS(), "natslat"), "redis": (Product("redis"), "redislat")}
TARGETS = sorted({"sixnines"} | {t for broker, client in BROKERS.values() for t in (client, *broker.targets)})
LARGEST = 64 << 10  # bytes of payload
P99_SLACK = 1_000_000  # ns: a p99 nearer than that is not wrong
STOLEN = "steal"  # the mark of a case that the hypervisor disturbed
PATIENCE = 20  # seconds that a trial may take beyond twice its length


@dataclass(frozen=True)
class Case:
    """A load that was drawn, and where it is run."""

    number: int
    driver: str
    busy: bool  # beside a process that uses a whole processor
    load: Paced

    @property
    def bytes_a_second(self):
        """What the broker delivers."""
        return self.load.rate * self.load.size * self.load.fanout


def draw(seed, number):
    """Trial number of a hunt: the same for the same seed, whatever ran before."""
    r = random.Random(f"{seed}/{number}")

    def log_uniform(low, high):
        return round(math.exp(r.uniform(math.log(low), math.log(high))))

    load = Paced(
        rate=log_uniform(10, 100_000), size=log_uniform(64, LARGEST), duration=r.choice((3, 4)), warmup=1,
        connections=log_uniform(1, 64), fanout=r.choice((1, 4, 16)), poisson=r.random() < 0.5,
        seed=number + 1, patience=PATIENCE,
    )  # fmt: skip
    return Case(number, r.choice(sorted(BROKERS)), r.random() < 0.5, load)


def capacity(driver, binaries):
    """Bytes a second that the C client still gets through this broker on this
    machine, in messages of the largest size; a power of two."""
    broker_kind, client = BROKERS[driver]
    rate = 64
    while rate <= 1 << 20:
        load = Paced(2 * rate, LARGEST, 1, 0, patience=PATIENCE)
        try:
            with broker_kind.open(binaries) as broker:
                if not trial(CClient(client), load, binaries, broker, 0)["figures"]["rate_kept"]:
                    break
        except Failed:  # cut off as a slow consumer, for instance
            break
        rate *= 2
    return rate * LARGEST


def differs(name, ours, before, after):
    """"above" or "below" where ours is wrong by both trials of the C client, else None."""
    slack = P99_SLACK if name == "p99" else 0
    low, high = min(before, after), max(before, after)
    if ours > WRONG * high and ours - high > slack:
        return "above"
    if ours * WRONG < low and low - ours > slack:
        return "below"
    return None


def assess(ours, before, after):
    """What is wrong in a trial of ours that the C client framed: a list of figure,
    direction, whether the trial says that this percentile holds, and whether it was the
    C client's own sender that was late.

    A percentile that is not printed says nothing. The C client's sender writes message by
    message and falls behind where ours does not. The broker took its service time, so a
    figure of ours is too low only if it is too low for that, too.
    """
    found = []
    for name in ("p50", "p99"):
        if not math.isfinite(ours[name]) or not (direction := differs(name, ours[name], before[name], after[name])):
            continue
        service = (f"service_{name}" in f for f in (before, after))
        late = direction == "below" and all(service) and (
            differs(name, ours[name], before[f"service_{name}"], after[f"service_{name}"]) != "below"
        )  # fmt: skip
        found.append({"figure": name, "direction": direction, "vouched": vouched(ours, name[1:]), "late": late})
    return found


def run_case(case, binaries, bounds):
    """Runs one case; a dict with all that is known of it. Its outcome is "lie",
    "no lie", "sixnines failed", or "not counted" with the reason in its mark."""
    row = {**asdict(case), "outcome": "not counted", "mark": None, "trials": [], "wrong": []}
    if case.bytes_a_second > bounds[case.driver]:
        # It is not run: subscribers that fall behind fill the machine's memory.
        return row | {"mark": "more bytes than this machine carries"}
    broker_kind, client = BROKERS[case.driver]
    c, ours = CClient(client), Sixnines(driver=case.driver, judged=True)
    with broker_kind.open(binaries) as broker:
        row["broker"] = broker.version
        for number, side in enumerate((c, ours, c)):
            try:
                with hog(case.busy):
                    row["trials"].append(trial(side, case.load, binaries, broker, number))
            except Failed as e:
                who = "sixnines" if side is ours else "C client"
                return row | {"outcome": "sixnines failed" if side is ours else "not counted", "mark": f"{who} failed: {e}"}
    before, middle, after = (t["figures"] for t in row["trials"])
    if not (before["rate_kept"] and after["rate_kept"]):
        return row | {"mark": "the C client does not keep the rate"}
    if max(t["steal"] for t in row["trials"]) > machine.STEAL_LIMIT:
        return row | {"mark": STOLEN}
    if "harm" in middle:
        return row | {"outcome": "sixnines failed", "mark": f"harm: {middle['harm']}"}
    row["wrong"] = assess(middle, before, after)
    row["outcome"] = "lie" if any(w["vouched"] and not w["late"] for w in row["wrong"]) else "no lie"
    return row


HEADING = (
    f"{'#':>3} {'broker':6} {'rate/s':>7} {'bytes':>6} {'conn':>4} {'fan':>3} {'arrivals':8} {'machine':7}"
    f" {'p50 µs: C':>10} {'sixnines':>9} {'C':>9} {'p99 µs: C':>10} {'sixnines':>9} {'C':>9}  outcome"
)


def table_row(row):
    """A case in one line."""
    load = row["load"]
    cells = []
    for name in ("p50", "p99"):
        for i, width in enumerate((10, 9, 9)):
            value = row["trials"][i]["figures"][name] if i < len(row["trials"]) else math.inf
            cells.append(f"{value / 1000:>{width},.0f}" if math.isfinite(value) else f"{'–':>{width}}")
    words = row["outcome"]
    if row["mark"]:
        words += ": " + row["mark"].splitlines()[0]
    if len(row["trials"]) > 1:
        words += ", " + verdict_words(row["trials"][1]["figures"])
        codes = dict.fromkeys(r["code"] for r in row["trials"][1]["figures"]["reasons"] if r["status"] != "VALID")
        words += f" ({', '.join(codes)})" if codes else ""
        words += "" if row["trials"][1]["figures"]["rate_kept"] else ", rate not kept"
    for w in row["wrong"]:
        words += f", {w['figure']} {w['direction']} the C client's"
        words += " (late itself)" if w["late"] else "" if w["vouched"] else " (said so)"
    return (
        f"{row['number']:>3} {row['driver']:6} {load['rate']:>7} {load['size']:>6} {load['connections']:>4}"
        f" {load['fanout']:>3} {'poisson' if load['poisson'] else 'constant':8} {'busy' if row['busy'] else 'idle':7}"
        f" {' '.join(cells)}  {words}"
    )


def summarise(rows):
    """How many cases came to what."""
    counted = [r for r in rows if r["outcome"] in ("lie", "no lie")]
    ours = [r["trials"][1]["figures"] for r in counted]
    outcomes = [r["outcome"] for r in rows]
    verdicts = [verdict_words(f) for f in ours]
    return {
        "cases": len(rows),
        "outcomes": {o: outcomes.count(o) for o in sorted(set(outcomes))},
        "lies": [r["number"] for r in rows if r["outcome"] == "lie"],
        "failed": [r["number"] for r in rows if r["outcome"] == "sixnines failed"],
        "not_counted": [r["number"] for r in rows if r["outcome"] == "not counted"],
        "wrong_but_said_so": [
            r["number"] for r in counted if r["outcome"] == "no lie" and any(not w["late"] for w in r["wrong"])
        ],
        "c_client_late": [r["number"] for r in counted if any(w["late"] for w in r["wrong"])],
        "rate_not_kept": [r["number"] for r in counted if not r["trials"][1]["figures"]["rate_kept"]],
        # A hunt in which nothing is vouched for finds no lie either.
        "vouched": {n: sum(vouched(f, n[1:]) and math.isfinite(f[n]) for f in ours) for n in ("p50", "p99")},
        "verdicts": {v: verdicts.count(v) for v in sorted(set(verdicts))},
    }


def finite(value):
    """The same data with null for infinity, which JSON has not."""
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(v) for v in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def infinite(row):
    """What finite made of a row's percentiles, undone."""
    for t in row["trials"]:
        for name in ("p50", "p99"):
            if t["figures"][name] is None:
                t["figures"][name] = math.inf
    return row


class Record:
    """Rows that are kept in a file of JSON lines, the first of which says which hunt
    it is; without a file they are kept nowhere."""

    def __init__(self, path, seed):
        self.path, self.bounds, self.rows, self.seed = path, None, {}, seed
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                first, *rest = [json.loads(line) for line in f]
            if first.get("hunt") != seed:
                raise Failed(f"{path}: the hunt in it has another seed, {first.get('hunt')}; name another file")
            self.bounds = first["bounds"]
            self.rows = {r["number"]: infinite(r) for r in rest}

    def _append(self, line):
        if self.path:
            with open(self.path, "a", encoding="utf-8") as f:
                f.write(json.dumps(finite(line), ensure_ascii=False) + "\n")

    def begin(self, bounds):
        self.bounds = bounds
        self._append({"hunt": self.seed, "bounds": bounds})

    def add(self, row):
        self.rows[row["number"]] = row
        self._append(row)


def hunt(binaries, seed, numbers, path, tell, again=False):
    """Runs those of the numbered cases that the file has not, with again also those
    that it has with steal; the whole of what is known then, as plain data. tell is
    called with each line of the table."""
    record = Record(path, seed)
    if record.bounds is None:
        record.begin({driver: capacity(driver, binaries) for driver in sorted(BROKERS)})
    for driver, bound in record.bounds.items():
        tell(f"{driver}: the C client gets {bound / 2**20:,.0f} MiB a second through it")
    tell(HEADING)
    for number in numbers:
        kept = record.rows.get(number)
        if kept is None or (again and kept["mark"] == STOLEN):
            record.add(run_case(draw(seed, number), binaries, record.bounds))
        tell(table_row(record.rows[number]))
    rows = [record.rows[n] for n in sorted(record.rows)]
    return {"seed": seed, "bounds": record.bounds, "summary": summarise(rows), "rows": rows}
