"""From what the launcher in a container tells to a measurement.

Time is that of the container's node, read by the launcher beside the program, so no part of it is the network's or
the API server's. The uptime is exact to 10 ms and never steps; where the shell or `date` tells finer, the difference
of those is taken as far as the uptime allows it.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from deadzone.measurement import NO_INTERFERENCE, Interference, Measurement
from deadzone.measuring.targets import ending, interference
from deadzone.measuring.targets.ending import Exit
from deadzone.measuring.targets.limits.base import Counters

UPTIME_RESOLUTION_S = 0.01

TICK_S = 0.01
"""/proc/stat counts in hundredths of a second on every system that containers run on."""


MAJOR_FAULTS = ("pgmajfault", "total_pgmajfault")
"""In memory.stat of cgroup v2, and of v1, where the plain name leaves out groups below."""

READ = re.compile(r"\b(?:rbytes=|Read )(\d+)")

WRITTEN = re.compile(r"\b(?:wbytes=|Write )(\d+)")

STALLED = re.compile(r"^some .*\btotal=(\d+)$")


@dataclass
class Reading:
    """One moment of a container: its clock, limit and counters, and those of its node."""

    uptime: float = 0.0
    fine: float = 0.0
    cpu_max: str | None = None
    machine: str = ""
    numbers: dict[str, int] = field(default_factory=dict)
    stat: dict[str, int] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    pressure: dict[str, int] = field(default_factory=dict)

    def add(self, line: str) -> None:
        """Take in a line of the launcher."""
        key, _, value = line.partition(" ")
        if key == "uptime":
            self.uptime = float(value)
        elif key == "fine":
            self.fine = float(value.replace(",", ".") or 0)
        elif key == "cpu_max":
            self.cpu_max = value
        elif key == "machine":
            self.machine = value
        elif key in ("stat", "memory", "pressure"):
            name, _, number = value.partition(" ")
            if number.strip().isdigit():
                getattr(self, key)[name] = int(number)
        elif value.strip().isdigit():
            self.numbers[key] = int(value)

    def counters(self) -> Counters:
        """The container's accounting, in the form of the local groups'; what its cgroups do not tell is None."""
        return Counters(
            usage_s=_scaled(self.stat.get("usage_usec"), 1e6) or _scaled(self.numbers.get("usage_ns"), 1e9),
            user_s=_scaled(self.stat.get("user_usec"), 1e6) or _scaled(self.numbers.get("user_ns"), 1e9),
            sys_s=_scaled(self.stat.get("system_usec"), 1e6) or _scaled(self.numbers.get("sys_ns"), 1e9),
            nr_periods=self.stat.get("nr_periods"),
            nr_throttled=self.stat.get("nr_throttled"),
            throttled_s=_scaled(self.stat.get("throttled_usec"), 1e6)
            if "throttled_usec" in self.stat
            else _scaled(self.stat.get("throttled_time"), 1e9),
            oom_kills=self.memory.get("oom_kill"),
            memory_bytes=self.numbers.get("memory_bytes"),
            memory_peak_bytes=self.numbers.get("memory_peak_bytes"),
        )

    def machine_reading(self) -> interference.MachineReading:
        """The node's totals, in the form of the local target's."""
        fields = [int(word) for word in self.machine.split()[1:]] or [0] * 10
        return interference.MachineReading(
            busy_s=sum(fields[i] for i in interference.BUSY_FIELDS) * TICK_S,
            steal_s=(fields[interference.STEAL_FIELD] if len(fields) > interference.STEAL_FIELD else 0)
            * TICK_S,
            memory_stall_s=_scaled(self.pressure.get("memory"), 1e6),
            io_stall_s=_scaled(self.pressure.get("io"), 1e6),
            monotonic_s=self.uptime,
            wall_clock_s=self.fine or self.uptime,
            boot_clock_s=self.uptime,
        )


@dataclass(frozen=True)
class Told:
    """Everything the launcher tells of a trial."""

    result: str
    timed_out: bool
    peak_kib: int | None
    before: Reading
    after: Reading
    series: tuple[Reading, ...]
    stdout: str
    stderr: str


def parse(text: str) -> Told:
    """What the launcher printed, taken apart."""
    values: dict[str, str] = {}
    printed: dict[str, list[str]] = defaultdict(list)
    readings = {"before": Reading(), "after": Reading()}
    series: list[Reading] = []
    for line in text.split("\n"):
        key, _, rest = line.partition(" ")
        if key in ("stdout", "stderr"):
            printed[key].append(rest)
        elif key in readings:
            readings[key].add(rest)
        elif key == "telemetry" and rest.startswith("sample "):
            series.append(Reading(uptime=float(rest.split()[1])))
        elif key == "telemetry" and series:
            series[-1].add(rest)
        elif key:
            values[key] = rest
    peak = values.get("peak", "")
    return Told(
        result=values.get("result", ""),
        timed_out="timed_out" in values,
        peak_kib=int(peak) if peak.isdigit() else None,
        before=readings["before"],
        after=readings["after"],
        series=tuple(series),
        stdout="\n".join(printed["stdout"]),
        stderr="\n".join(printed["stderr"]),
    )


def measurement(told: Told, started_at: str, timeout_s: float, placed: Mapping[str, str]) -> Measurement:
    """A trial as measured in its container.

    started_at: when it was asked for. placed: where it ran, for the table.
    """
    before, after = told.before, told.after
    first = before.counters()
    used = after.counters().since(first)
    series = [(now.uptime - before.uptime, now.counters().since(first)) for now in (*told.series, after)]
    return ending.measurement(
        _exit(told),
        used,
        timeout_s,
        started_at=_start(before) or started_at,
        stdout=told.stdout,
        stderr=told.stderr,
        interference=_interference(before, after, used.usage_s or 0.0) if after.uptime else NO_INTERFERENCE,
        telemetry=tuple(sample for t_s, until in series for sample in until.series(t_s)),
        placed=dict(placed),
    )


def _exit(told: Told) -> Exit:
    """How the program ended; a shell tells a signal by 128 and its number."""
    kind, _, rest = told.result.partition(" ")
    started = kind != "failed"
    code, _, orphans = rest.partition(" ") if started else ("127", "", "")
    return Exit(
        0.0,
        wall(told.before, told.after),
        exit_code=128 - int(code) if int(code) > 128 else int(code),
        max_rss_bytes=None if told.peak_kib is None else told.peak_kib * 1024,
        timed_out=told.timed_out and started,
        exec_error=None if started else rest,
        counted={"left_running": int(orphans or 0)},
    )


def wall(before: Reading, after: Reading) -> float:
    """Time between two readings [s]: the fine clock's, held within what the uptime allows."""
    coarse = after.uptime - before.uptime
    least = UPTIME_RESOLUTION_S / 2
    if not (before.fine and after.fine):
        return max(coarse, least)
    fine = after.fine - before.fine
    return max(min(max(fine, coarse - UPTIME_RESOLUTION_S), coarse + UPTIME_RESOLUTION_S), least)


def _start(before: Reading) -> str | None:
    """When the program started by its node's clock, where that tells the date."""
    if not before.fine:
        return None
    return datetime.fromtimestamp(before.fine, UTC).isoformat(timespec="milliseconds")


def _interference(before: Reading, after: Reading, own_cpu_s: float) -> Interference:
    seen = interference.between(before.machine_reading(), after.machine_reading(), own_cpu_s)
    elapsed = max(after.uptime - before.uptime, 1e-9)
    # The two clocks are read a moment apart, and the uptime is rounded: no step of a clock is so small.
    unsure = 3 * UPTIME_RESOLUTION_S / elapsed
    drift = 0.0 if not (before.fine and after.fine) else max(0.0, seen.clock_drift - unsure)
    return replace(
        seen, foreign_cpu_resolution=interference.RESOLUTION_TICKS * TICK_S / elapsed, clock_drift=drift
    )


def _scaled(count: int | None, unit: float) -> float | None:
    return None if count is None else count / unit


def counted(text: str) -> Counters:
    """What the launcher printed, as counters; what the container's cgroups do not tell is None."""
    reading = Reading()
    lines: dict[str, list[str]] = defaultdict(list)
    for line in text.splitlines():
        key, _, rest = line.partition(" ")
        lines[key].append(rest)
        reading.add(line)
    faults = dict(line.split(" ", 1) for line in lines["memory_stat"] if line.startswith(MAJOR_FAULTS))
    return replace(
        reading.counters(),
        memory_stall_s=_stalled_s(lines["memory_pressure"]),
        io_stall_s=_stalled_s(lines["io_pressure"]),
        major_faults=int(max(faults.values(), key=int)) if faults else None,
        read_bytes=_sum(READ, lines["io_stat"]),
        written_bytes=_sum(WRITTEN, lines["io_stat"]),
    )


def _sum(what: re.Pattern[str], lines: list[str]) -> int | None:
    """Over all devices; None where the container cannot see its I/O at all."""
    found = [int(number) for line in lines for number in what.findall(line)]
    return sum(found) if found else None


def _stalled_s(lines: list[str]) -> float | None:
    found = [match[1] for line in lines if (match := STALLED.match(line))]
    return int(found[0]) / 1e6 if found else None
