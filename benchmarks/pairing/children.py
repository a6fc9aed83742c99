"""Programs that are started here and end with us, whatever happens."""

import ctypes
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


class Failed(Exception):
    """A program did not do what it was started for."""


def _end_with_parent():
    # Also when this interpreter is killed and no finally runs any more.
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def start(argv, **options):
    """A Popen whose process is killed when this one ends."""
    try:
        return subprocess.Popen(
            argv, preexec_fn=_end_with_parent, **{"stdin": subprocess.DEVNULL, **options}
        )
    except OSError as e:
        raise Failed(f"{argv[0]}: {e.strerror}") from e


def stop(process, patience=10):
    """Ends a process, politely at first; returns when it is gone."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass(frozen=True)
class Outcome:
    """What a program that was run to its end left behind."""

    argv: tuple[str, ...]
    stdout: str
    stderr: str
    code: int


def finish(process, timeout):
    """Waits for a process started with pipes for text; Failed on a timeout."""
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        _, stderr = process.communicate()
        raise Failed(f"{process.args[0]}: not done after {timeout:.0f} s\n{stderr}") from None
    except BaseException:
        stop(process)
        raise
    return Outcome(tuple(process.args), stdout, stderr, process.returncode)


# How long a stall is, in seconds.
STALL = 0.003


@contextmanager
def stalled(process, instants):
    """Stops the process for STALL at each instant, in seconds from now."""
    began, over = time.monotonic(), threading.Event()

    def stall():
        for instant in instants:
            if over.wait(max(0, began + instant - time.monotonic())):
                return
            process.send_signal(signal.SIGSTOP)
            time.sleep(STALL)
            process.send_signal(signal.SIGCONT)

    thread = threading.Thread(target=stall)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def run(argv, timeout, codes=(0,), env=None, stalls=()):
    """Runs a program to its end, and stalls it on the way; Failed unless its exit
    status is expected."""
    process = start(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    with stalled(process, stalls):
        outcome = finish(process, timeout)
    expect(outcome, codes)
    return outcome


@contextmanager
def hog(wanted=True):
    """A process that uses a whole processor, if it is wanted."""
    process = start([sys.executable, "-c", "while True: pass"]) if wanted else None
    try:
        yield process
    finally:
        if process:
            process.kill()
            process.wait()


def expect(outcome, codes=(0,)):
    """Failed, with the program's own words, unless its status is one of codes."""
    if outcome.code not in codes:
        raise Failed(
            f"{' '.join(outcome.argv)}: exit status {outcome.code}\n{outcome.stderr}{outcome.stdout}"
        )


def processor_seconds():
    """User and system seconds of all children that have ended so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
