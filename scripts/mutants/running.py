"""Runs of programs with limits: processor time, progress, memory; several at a time."""

import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

# A program that uses no processor time for so many seconds hangs.
SILENCE_S = 20
MEMORY_BYTES_MAX = 12 << 30
# Set when the user interrupts: programs that run are ended, and no other begins.
INTERRUPTED = threading.Event()
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Run:
    """The end of a program: `ok`, `failed`, `crashed`, `hangs`, or `too long`."""

    end: str
    cpu_s: float
    output: str


def cpu_of_group(group):
    """Returns the processor seconds of all living processes of a group."""
    ticks = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            ticks += sum(map(int, fields[11:15]))
    return ticks / TICKS


class Interrupted(Exception):
    """The user interrupts."""


def in_parallel(work, items, jobs):
    """Yields `work(item)` of all items in the order in which they end, `jobs` of them at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            if not all(future.done() for future in futures):
                INTERRUPTED.set()
                pool.shutdown(cancel_futures=True)


def limit_memory(pid):
    resource.prlimit(pid, resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def run(command, folder, environment, cpu_limit_s):
    """Runs a program in a process group of its own, which is killed when a limit is reached."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            limit_memory(process.pid)
            end, cpu_s = watch(process, cpu_limit_s)
        finally:
            kill(process.pid)
        output.seek(0)
        return Run(end, cpu_s, output.read().decode(errors="replace"))


def watch(process, cpu_limit_s):
    """Waits for the end of a program or for a limit."""
    cpu_s, progressed, pause_s = 0.0, time.monotonic(), 0.02
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = code = os.waitstatus_to_exitcode(status)
            end = "ok" if code == 0 else "crashed" if code < 0 else "failed"
            return end, usage.ru_utime + usage.ru_stime
        if INTERRUPTED.wait(pause_s):
            raise Interrupted
        pause_s = min(pause_s * 1.5, 0.5)
        used_s = cpu_of_group(process.pid)
        if used_s > cpu_s + 0.02:
            cpu_s, progressed = used_s, time.monotonic()
        if cpu_s > cpu_limit_s:
            end = "too long"
        elif time.monotonic() - progressed > SILENCE_S:
            end = "hangs"
        else:
            continue
        kill(process.pid)
        _, status, _ = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return end, cpu_s


def kill(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
