"""What must be known of the machine: its shape, and what was stolen from it."""

import os
import platform

# Fixed beforehand and no option: a trial during which the hypervisor gave more
# than this share of all processor time to others does not describe the programs.
STEAL_LIMIT = 0.005


def processor_times(text=None):
    """(stolen, total) ticks of all processors since boot.

    Guest time is part of user time already, so the first eight columns are all.
    """
    if text is None:
        with open("/proc/stat", encoding="ascii") as f:
            text = f.read()
    for line in text.splitlines():
        fields = line.split()
        if fields and fields[0] == "cpu":
            ticks = [int(x) for x in fields[1:9]]
            if len(ticks) == 8:
                return ticks[7], sum(ticks)
    raise ValueError("/proc/stat has no cpu line with a steal column")


def steal_share(before, after):
    """The share of processor time stolen between two processor_times()."""
    total = after[1] - before[1]
    return (after[0] - before[0]) / total if total > 0 else 0.0


def shape():
    """The machine as a reader of the figures must know it."""
    model = "unknown"
    memory = None
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "Model", "cpu model"):
                model = value.strip()
                break
    with open("/proc/meminfo", encoding="ascii") as f:
        for line in f:
            if line.startswith("MemTotal:"):
                memory = int(line.split()[1]) * 1024
    clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    try:
        with open(clock, encoding="ascii") as f:
            clocksource = f.read().strip()
    except OSError:
        clocksource = "unknown"
    return {
        "cores": len(os.sched_getaffinity(0)),
        "model": model,
        "memory_bytes": memory,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "clocksource": clocksource,
        "load_average": list(os.getloadavg()),
    }
