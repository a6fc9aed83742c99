"""The programs of a comparison: where each comes from, and which version it is."""

import os
import re
import shutil
import subprocess

from .children import Failed, run

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NATS_SERVER_VERSION = "v2.15.2"
PERF_TEST_VERSION = "2.22.1"


def server_given():
    """The nats-server from $NATS_SERVER, or from PATH where it is the pinned version."""
    if given := os.environ.get("NATS_SERVER"):
        return given
    found = shutil.which("nats-server")
    if found and run([found, "--version"], 10).stdout.strip() == f"nats-server: {NATS_SERVER_VERSION}":
        return found
    return None


# Programs that are not built from this tree: the variable that names each, its
# name on PATH, and how to come by it.
FOREIGN = {
    "rdkafka_performance": (
        "RDKAFKA_PERFORMANCE", "it is an example in librdkafka's sources that nobody packages: see README.md",
    ),
    "redis-benchmark": ("REDIS_BENCHMARK", "install redis-tools"),
    "java": ("JAVA", "install default-jre-headless"),
}  # fmt: skip


def foreign(target, directory):
    """The program from its variable, from PATH or from where programs are kept."""
    variable, advice = FOREIGN[target]
    kept = os.path.join(directory, target)
    found = os.environ.get(variable) or shutil.which(target) or (os.access(kept, os.X_OK) and kept)
    if not found:
        raise Failed(f"there is no {target} on PATH, in {directory} or named by ${variable}; {advice}")
    return found


def obtain(directory, sixnines, targets, before=None):
    """Builds what is not given into the directory; a path for each target.

    sixnines is the path of a binary of ours, or None for this tree's. before is that of
    another one, which is not built here.
    """
    directory = os.path.abspath(directory)
    files = {t: t for t in targets} | {
        "nats-server": f"nats-server-{NATS_SERVER_VERSION}", "perf-test": f"perf-test-{PERF_TEST_VERSION}",
    }  # fmt: skip
    binaries = {t: os.path.join(directory, files[t]) for t in targets}
    given = {"sixnines": sixnines and os.path.abspath(sixnines), "sixnines-before": before and os.path.abspath(before)}
    given |= {t: foreign(t, directory) for t in targets if t in FOREIGN}
    if "nats-server" in targets:
        given["nats-server"] = server_given()
    for target, path in given.items():
        if path and target in binaries:
            if not os.access(path, os.X_OK):
                raise Failed(f"{path}: not a program")
            binaries[target] = path
    build = [t for t in targets if not given.get(t)]
    if build:
        run(["make", "-s", "-C", HERE, f"BIN={directory}", *build], 1800)
    return binaries


def foreign_version(name, path):
    """What a program that is not of Go says of itself."""
    # rdkafka_performance tells it with its usage, when nothing is asked of it.
    arguments = [] if name == "rdkafka_performance" else ["--version"]
    said = subprocess.run([path, *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    lines = (said.stdout + said.stderr).splitlines()
    return next((line.strip() for line in lines if "ersion" in line or "redis" in line or "openjdk" in line), "unknown")


def versions(binaries):
    """What each program says it was made from."""
    found = {}
    for name, path in sorted(binaries.items()):
        if name in ("natslat", "redislat"):
            compiler = os.environ.get("CC", "cc")
            found[name] = "this tree, " + run([compiler, "--version"], 10).stdout.splitlines()[0]
            continue
        if name == "perf-test":
            found[name] = PERF_TEST_VERSION
            continue
        if name in FOREIGN:
            found[name] = foreign_version(name, path)
            continue
        built = subprocess.run(["go", "version", "-m", path], capture_output=True, text=True, check=False).stdout
        toolchain = re.search(r": (go\S+)", built)
        module = re.search(r"^\tmod\t(\S+)\t(\S+)", built, re.MULTILINE)
        library = re.search(r"^\tdep\tgithub\.com/nats-io/nats\.go\t(\S+)", built, re.MULTILINE)
        parts = [" ".join(module.groups()) if module else "unknown", toolchain and toolchain[1]]
        if library and name != "nats-server":
            parts.append(f"nats.go {library[1]}")
        found[name] = ", ".join(p for p in parts if p)
    revision = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"],
                              capture_output=True, text=True, check=False).stdout.strip()
    found["this tree"] = revision or "unknown"
    return found
