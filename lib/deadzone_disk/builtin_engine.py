"""The built-in engine: reads or writes blocks of files and tells how long each call took.

It is run as a script of its own (`python -I -S builtin_engine.py PLAN`, a JSON file) and imports
nothing of Deadzone, so that it starts fast, runs under the limits of the trial alone, and can be
handed to any machine with Python. Its result is one JSON document on standard output.

Memory for the blocks comes from mmap, which aligns it to pages as O_DIRECT wants. A job is a
process with a file of its own; the calls of a job that are under way at once are threads (a call
releases the interpreter's lock). Python adds some microseconds to a call; they are outside the
latency, but inside the throughput.
"""

from __future__ import annotations

import errno
import itertools
import json
import mmap
import os
import random
import sys
import threading
import time
from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

BUCKET_BITS = 6
"""64 buckets for each doubling of the latency, as fio has: a percentile is known to 1.6 %."""

SERIES_STEP_S = 0.1

PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""Those that fio tells of by default."""


class Latencies:
    """Durations of calls in nanoseconds, in buckets by the shortest of each; longest and mean are
    exact."""

    def __init__(self) -> None:
        self.counts = Counter[int]()
        self.total = self.most = 0

    def add(self, duration: int) -> None:
        """Count one call."""
        bits = bucket_bits(duration)
        self.counts[duration >> bits << bits] += 1
        self.total += duration
        if duration > self.most:
            self.most = duration

    def merge(self, other: dict[str, Any]) -> None:
        """Add what another process counted."""
        self.counts.update({int(bucket): count for bucket, count in other["counts"].items()})
        self.total += other["total"]
        self.most = max(self.most, other["most"])

    def summary(self) -> dict[str, Any]:
        """Calls, their mean, longest and percentiles in nanoseconds, by the names that fio gives
        them."""
        if not self.counts:
            return {"N": 0}
        number = self.counts.total()
        return {
            "N": number,
            "mean": self.total / number,
            "max": self.most,
            "percentile": {f"{percent:g}": self.percentile(percent) for percent in PERCENTILES},
        }

    def percentile(self, percent: float) -> int:
        """The latency that so many percent of the calls kept: the middle of its bucket, at most the
        longest call."""
        due, seen = percent / 100 * self.counts.total(), 0
        for shortest, calls in sorted(self.counts.items()):
            seen += calls
            if seen >= due:
                return min(self.most, shortest + ((1 << bucket_bits(shortest)) >> 1))
        return self.most


def bucket_bits(duration: int) -> int:
    """The bits in which durations of one bucket differ."""
    return max(0, duration.bit_length() - BUCKET_BITS - 1)


class Job:
    """One process's work on its file."""

    def __init__(self, plan: dict[str, Any], number: int) -> None:
        self.plan = plan
        self.size = int(plan["block_size"])
        reading = plan["operation"] == "read"
        flags = (os.O_RDONLY if reading else os.O_RDWR) | (os.O_DIRECT if plan["direct"] else 0)
        self.fd = os.open(plan["files"][number], flags | os.O_CLOEXEC)
        self.blocks = int(plan["file_size"]) // self.size
        self.rng = random.Random(f"{plan['seed']}-{number}")
        self.most = plan["most_blocks"]
        self.order = self.positions()
        self.reads, self.writes, self.flushes = Latencies(), Latencies(), Latencies()
        self.series = Counter[int]()
        self.failure: OSError | None = None
        self.lock = threading.Lock()

    def positions(self) -> Iterator[int]:
        """Numbers of the blocks in the order of the calls, without an end where the trial ends by
        time alone."""
        blocks = self.blocks
        if self.plan["operation"] == "first_write":
            once = list(range(blocks))
            if self.plan["pattern"] == "random":
                self.rng.shuffle(once)
            return iter(once[: self.most])
        if self.plan["pattern"] == "random":
            drawn = iter(lambda: self.rng.randrange(blocks), -1)
        else:
            first = self.plan["first_block"]
            drawn = ((first + i) % blocks for i in itertools.count())
        return drawn if self.most is None else itertools.islice(drawn, self.most)

    def run(self, start_ns: int) -> None:
        """Work with so many threads as the queue is deep until the time is over or there are no
        more blocks."""
        threads = [
            threading.Thread(target=self.work, args=(start_ns,))
            for _ in range(self.plan["queue_depth"])
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failure is None and self.plan["fsync"] == "end" and self.writes.counts:
            self.timed(lambda: os.fdatasync(self.fd), self.flushes)

    def work(self, start_ns: int) -> None:
        """One call after the other."""
        try:
            self.calls(start_ns, self.buffer())
        except OSError as error:
            self.failure = error

    def buffer(self) -> mmap.mmap:
        """Memory for a block, aligned to pages; random where blocks are written, so that nothing
        can be compressed."""
        memory = mmap.mmap(-1, self.size)
        if self.plan["data"] == "random" and self.plan["operation"] != "read":
            memory[:] = os.urandom(self.size)
        return memory

    def calls(self, start_ns: int, memory: mmap.mmap) -> None:
        deadline = start_ns + int(self.plan["duration_s"] * 1e9)
        step = int(SERIES_STEP_S * 1e9)
        kind, share, fsync = (self.plan[name] for name in ("operation", "read_share", "fsync"))
        stamps = self.plan["data"] == "random" and self.size >= 8
        reads, writes, flushes = Latencies(), Latencies(), Latencies()
        series = Counter[int]()
        now = time.monotonic_ns()
        while now < deadline and self.failure is None:
            with self.lock:
                position = next(self.order, None)
                reading = kind == "read" or (kind == "mixed" and self.rng.random() < share)
            if position is None:
                break
            offset = position * self.size
            if stamps and not reading:
                memory[:8] = now.to_bytes(8, "little")  # two blocks alike could be stored once
            call, latencies = (os.preadv, reads) if reading else (os.pwritev, writes)
            began = time.monotonic_ns()
            moved = call(self.fd, [memory], offset)
            now = time.monotonic_ns()
            latencies.add(now - began)
            if fsync == "each" and not reading:
                now = self.timed(lambda: os.fdatasync(self.fd), flushes)
            if moved != self.size:
                raise OSError(errno.EIO, f"a call moved {moved} of {self.size} bytes")
            series[(now - start_ns) // step] += moved
        with self.lock:
            self.reads.merge(vars(reads))
            self.writes.merge(vars(writes))
            self.flushes.merge(vars(flushes))
            self.series.update(series)

    def timed(self, call: Callable[[], Any], latencies: Latencies) -> int:
        """Make a call, count its time, and tell when it was over."""
        began = time.monotonic_ns()
        call()
        now = time.monotonic_ns()
        latencies.add(now - began)
        return now

    def account(self) -> dict[str, Any]:
        """What this process did, as plain values."""
        return {
            "ended_ns": time.monotonic_ns(),
            "reads": vars(self.reads),
            "writes": vars(self.writes),
            "flushes": vars(self.flushes),
            "series": self.series,
            "failure": failure_of(self.failure) if self.failure else None,
        }


def failure_of(error: OSError) -> list[Any]:
    """The system's number of an error and its words."""
    return [error.errno, os.strerror(error.errno or 0)]


def run_job(plan: dict[str, Any], number: int, ready: int, go: int, answer: int) -> None:
    """In a child: get ready, wait for the others, work, and tell."""
    try:
        job = Job(plan, number)
    except OSError as error:
        os.write(answer, json.dumps({"failure": failure_of(error)}).encode())
        return
    os.close(ready)
    os.read(go, 1)
    job.run(time.monotonic_ns())
    with os.fdopen(answer, "w") as pipe:
        json.dump(job.account(), pipe)


def start(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Run every job in a process of its own, all at once; returns the account of each, with the
    time of the start."""
    ready_read, ready_write = os.pipe()
    go_read, go_write = os.pipe()
    answers = []
    for number in range(len(plan["files"])):
        read_end, write_end = os.pipe()
        if os.fork() == 0:
            os.close(go_write)
            try:
                run_job(plan, number, ready_write, go_read, write_end)
            finally:
                os._exit(0)
        os.close(write_end)
        answers.append(read_end)
    os.close(ready_write)
    os.read(ready_read, 1)  # returns when the last job has closed its end
    started = time.monotonic_ns()
    os.close(go_write)
    parts = []
    for answer in answers:
        with os.fdopen(answer) as pipe:
            parts.append(json.loads(pipe.read() or '{"failure": [5, "the job was killed"]}'))
    return [{"started_ns": started, **account} for account in parts]


def result(plan: dict[str, Any], accounts: list[dict[str, Any]]) -> dict[str, Any]:
    """The jobs' accounts as one, as fio tells of a job."""
    kinds = {name: Latencies() for name in ("reads", "writes", "flushes")}
    series = Counter[int]()
    for account in accounts:
        for name, latencies in kinds.items():
            latencies.merge(account[name])
        series.update({int(number): moved for number, moved in account["series"].items()})
    log_series(plan["scratch"], series)
    calls = Latencies()
    calls.merge(vars(kinds["reads"]))
    calls.merge(vars(kinds["writes"]))
    ended = max(account["ended_ns"] for account in accounts)
    took_ms = (ended - accounts[0]["started_ns"]) / 1e6
    reads, writes, flushes, together = (
        {"lat_ns": side.summary(), "runtime": took_ms} for side in (*kinds.values(), calls)
    )
    for side in (reads, writes):
        side["total_ios"] = side["lat_ns"]["N"]
        side["io_bytes"] = side["lat_ns"]["N"] * plan["block_size"]
    return {"error": 0, "read": reads, "write": writes, "mixed": together, "sync": flushes}


def log_series(folder: str, series: Counter[int]) -> None:
    """Write the throughput over time as fio logs it: milliseconds, KiB/s."""
    with open(f"{folder}/series_bw.log", "w") as log:  # noqa: PTH123
        for step in range(max(series, default=-1) + 1):
            rate = series[step] / SERIES_STEP_S / 1024
            log.write(f"{(step + 1) * SERIES_STEP_S * 1000:.0f}, {rate}\n")


def main(path: str) -> int:
    """Carry out a plan; ends with 1 where a call failed, which the result then tells."""
    with open(path) as handle:  # noqa: PTH123 - pathlib would double the start-up time
        plan = json.load(handle)
    accounts = start(plan)
    failures = [account["failure"] for account in accounts if account["failure"]]
    job = (
        dict(zip(("error", "reason"), failures[0], strict=True))
        if failures
        else result(plan, accounts)
    )
    print(json.dumps({"jobs": [job]}))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
