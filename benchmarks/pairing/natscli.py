"""What natscli's benchmarks write, read strictly: an unknown form is an error."""

import csv
import math
import re

from .children import Failed
from .ratios import nearest_rank

_CSV_COLUMNS = [
    "#RunID", "ClientID", "MsgCount", "MsgBytes", "MsgsPerSec", "BytesPerSec", "DurationSecs",
]  # fmt: skip
_DURATION_UNITS = {"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}


def bench_rate(text, messages, size, counts=1):
    """Messages a second from the CSV file of `nats bench pub` or `sub`.

    counts is how often each message is in its count, though once in its bytes:
    `js pub async` adds the acknowledgements.

    Newer releases append latency columns; the first seven have not changed.
    The rate is recomputed from the duration and must agree with the one printed.
    """
    rows = list(csv.reader(text.splitlines()))
    if len(rows) != 2 or rows[0][: len(_CSV_COLUMNS)] != _CSV_COLUMNS:
        raise Failed(f"nats bench: not the CSV of one client:\n{text}")
    row = dict(zip(rows[0], rows[1]))
    try:
        count, size_total = int(row["MsgCount"]), int(row["MsgBytes"])
        printed, seconds = int(row["MsgsPerSec"]), float(row["DurationSecs"])
    except (KeyError, ValueError) as e:
        raise Failed(f"nats bench: {e} in its CSV:\n{text}") from e
    if count != counts * messages or size_total != messages * size:
        raise Failed(f"nats bench: {count} messages of {counts * messages}, {size_total} bytes of {messages * size} were counted")
    if not seconds > 0 or not math.isclose(messages / seconds, printed, rel_tol=1e-3):
        raise Failed(f"nats bench: {printed} messages/s do not follow from {seconds} s")
    return messages / seconds


def go_duration(text):
    """Nanoseconds of a duration as Go prints it."""
    parts = re.findall(r"([0-9.]+)(ns|µs|us|ms|s|m|h)", text)
    if not parts or "".join(n + u for n, u in parts) != text:
        raise Failed(f"nats latency: {text!r} is not a duration")
    return sum(float(n) * _DURATION_UNITS[u] for n, u in parts)


def latency(text, raw, messages, warmup_messages):
    """Latencies of `nats latency`, from what it prints and its raw file.

    Its own percentiles cover the start of the run and are cut to microseconds;
    the raw file has every value in milliseconds with six decimals, in the order
    received, so that a warm-up can be left out and percentiles are exact. What
    is printed must agree with what the raw file gives for all messages.
    """
    try:
        values = [round(float(line) * 1e6) for line in raw.split()]
    except ValueError as e:
        raise Failed(f"nats latency: raw file: {e}") from e
    if len(values) != messages:
        raise Failed(f"nats latency: {len(values)} messages of {messages} were recorded")

    everything = sorted(values)
    for label, per_myriad in (("50", 5000), ("90", 9000), ("99", 9900)):
        m = re.search(rf"^(?:\S+ )?{re.escape(label)}: +(\S+)$", text, re.MULTILINE)
        if not m:
            raise Failed(f"nats latency: no line for p{label} in:\n{text}")
        # Its library rounds the rank where we take the ceiling: a neighbour will do.
        lowest = everything[max(0, len(values) * per_myriad // 10000 - 2)]
        highest = everything[min(len(values) - 1, len(values) * per_myriad // 10000 + 1)]
        if not lowest - 1001 <= go_duration(m.group(1)) <= highest + 1001 + highest * 1e-4:
            raise Failed(f"nats latency: p{label} printed {m.group(1)}, recorded {lowest} ns")
    rate = re.search(r"^(?:\S+ )?Actual Msgs/Sec: ([0-9]+)$", text, re.MULTILINE)
    if not rate:
        raise Failed(f"nats latency: no line with the actual rate in:\n{text}")

    window = sorted(values[warmup_messages:])
    return {
        "p50": nearest_rank(window, 5000),
        "p99": nearest_rank(window, 9900),
        "max": window[-1],
        "rate_sent": int(rate.group(1)),
    }
