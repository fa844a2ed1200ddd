"""From what the launcher in a container tells to a measurement.

Time is that of the container's node, read by the launcher beside the program, so no part of it is
the network's or the API server's. The uptime is exact to 10 ms and never steps; where the shell or
`date` tells finer, the difference of those is taken as far as the uptime allows it.
"""

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from deadzone.measurement import NO_INTERFERENCE, Interference
from deadzone.plugins import Measurement
from deadzone.run.targets import base, interference
from deadzone.run.targets.account import ThreadAccount
from deadzone.run.targets.kernel_files import NANOSECONDS
from deadzone.run.targets.limits.base import Counters
from deadzone.run.targets.schedstat import STARTING, ThreadTime, sleeps_for

UPTIME_RESOLUTION_S = 0.01

TICK_S = 0.01
"""/proc/stat counts in hundredths of a second on every system that containers run on."""


LAST_SIGNAL = 128 + 64
"""What a shell tells of the highest signal; what is more is a program's own exit code."""

READ = re.compile(r"\b(?:rbytes=|Read )(\d+)")

WRITTEN = re.compile(r"\b(?:wbytes=|Write )(\d+)")


@dataclass
class ContainerReading:
    """One moment of a container: its clock, and what the launcher tells of it and of its node.

    lines: the rest of each line, by its first word. numbers: of the lines that end in one, by all
    words before it.
    """

    uptime: float = 0.0
    fine: float = 0.0
    lines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    numbers: dict[str, int] = field(default_factory=dict)

    def add(self, line: str) -> None:
        """Take in a line of the launcher."""
        key, _, rest = line.partition(" ")
        words, _, number = line.rstrip().rpartition(" ")
        self.lines[key].append(rest)
        if key in ("uptime", "sample"):
            self.uptime = float(rest)
        elif key == "fine":
            self.fine = float(rest.replace(",", ".") or 0)
        elif number.isdigit():
            self.numbers[words.rstrip()] = int(number)

    def first(self, word: str) -> str | None:
        """What was told first under a word; None where nothing was."""
        return next(iter(self.lines[word]), None)

    def counters(self) -> Counters:
        """The container's accounting, in the form of the local groups'; what its cgroups do not
        tell is None."""
        memory_stat = {
            name.removeprefix("memory_stat "): number
            for name, number in self.numbers.items()
            if name.startswith("memory_stat ")
        }
        return replace(
            Counters.of_memory(memory_stat),
            usage_s=self._seconds("stat usage_usec", "usage_ns"),
            user_s=self._seconds("stat user_usec", "user_ns"),
            sys_s=self._seconds("stat system_usec", "sys_ns"),
            nr_periods=self.numbers.get("stat nr_periods"),
            nr_throttled=self.numbers.get("stat nr_throttled"),
            throttled_s=self._seconds("stat throttled_usec", "stat throttled_time"),
            oom_kills=self.numbers.get("memory oom_kill"),
            memory_bytes=self.numbers.get("memory_bytes"),
            memory_peak_bytes=self.numbers.get("memory_peak_bytes"),
            memory_stall_s=self._stalled_s("memory_pressure"),
            io_stall_s=self._stalled_s("io_pressure"),
            read_bytes=self._of_all_devices(READ),
            written_bytes=self._of_all_devices(WRITTEN),
        )

    def _seconds(self, microseconds: str, nanoseconds: str = "") -> float | None:
        """A time that version 2 of cgroups counts in microseconds, and version 1 under another name
        in nanoseconds."""
        if microseconds in self.numbers:
            return self.numbers[microseconds] / 1e6
        return self.numbers[nanoseconds] / 1e9 if nanoseconds in self.numbers else None

    def _stalled_s(self, name: str) -> float | None:
        some = self.first(name)
        return int(some.rpartition("total=")[2]) / 1e6 if some else None

    def _of_all_devices(self, what: re.Pattern[str]) -> int | None:
        """None where the container cannot see its I/O at all."""
        amounts = [int(number) for line in self.lines["io_stat"] for number in what.findall(line)]
        return sum(amounts) if amounts else None

    def machine_reading(self) -> interference.MachineReading:
        """The node's totals, in the form of the local target's."""
        machine = self.first("machine") or "cpu" + 10 * " 0"
        busy, stolen = interference.busy_and_stolen(machine.split()[1:])
        return interference.MachineReading(
            busy_s=busy * TICK_S,
            steal_s=stolen * TICK_S,
            memory_stall_s=self._seconds("pressure memory"),
            io_stall_s=self._seconds("pressure io"),
            monotonic_s=self.uptime,
            wall_clock_s=self.fine or self.uptime,
            boot_clock_s=self.uptime,
        )


@dataclass(frozen=True)
class TrialAccount:
    """Everything the launcher tells of a trial. lines: the rest of each line, by its first word."""

    lines: Mapping[str, Sequence[str]]
    before: ContainerReading
    after: ContainerReading
    series: tuple[ContainerReading, ...]

    def text(self, word: str) -> str:
        """What was told under a word, all its lines."""
        return "\n".join(self.lines.get(word, ()))


def parse(text: str) -> TrialAccount:
    """What the launcher printed, taken apart."""
    lines: dict[str, list[str]] = defaultdict(list)
    for line in text.split("\n"):
        key, _, rest = line.partition(" ")
        lines[key].append(rest)
    series: list[ContainerReading] = []
    for line in lines["telemetry"]:
        if line.startswith("sample "):
            series.append(ContainerReading())
        if series:
            series[-1].add(line)
    return TrialAccount(lines, reading(lines["before"]), reading(lines["after"]), tuple(series))


def reading(lines: Iterable[str]) -> ContainerReading:
    """What the launcher printed at one moment."""
    moment = ContainerReading()
    for line in lines:
        moment.add(line)
    return moment


def measurement(
    trial: TrialAccount, started_at: str, timeout_s: float, placed: Mapping[str, str]
) -> Measurement:
    """A trial as measured in its container.

    started_at: when it was asked for. placed: where it ran, for the table.
    """
    before, after = trial.before, trial.after
    if before.fine:  # its node's clock tells the date
        started_at = datetime.fromtimestamp(before.fine, UTC).isoformat(timespec="milliseconds")
    first = before.counters()
    used = after.counters().since(first)
    # the last reading of a tick stands for it
    moments = {now.uptime: now for now in (*trial.series, after)}
    series = [
        (uptime - before.uptime, now.counters().since(first)) for uptime, now in moments.items()
    ]
    return base.measurement(
        _exit(trial),
        used,
        timeout_s,
        started_at=started_at,
        stdout=trial.text("stdout"),
        stderr=trial.text("stderr"),
        interference=_interference(before, after, used.usage_s or 0.0)
        if after.uptime
        else NO_INTERFERENCE,
        telemetry=tuple(sample for t_s, until in series for sample in until.series(t_s)),
        placed=dict(placed),
        counted=_account(trial, wall(before, after), used),
    )


def _account(trial: TrialAccount, wall_s: float, used: Counters) -> dict[str, float]:
    """Where the time of its threads went, as the launcher saw them while they lived; empty where it
    saw too little of them."""
    account = ThreadAccount()
    for line in trial.lines.get("threads", ()):
        with contextlib.suppress(ValueError):  # the last one may have been cut
            at, process, thread, state, born, *times, blocked, where = line.split(" ")
            lived_s, disk_s = float(at) - int(born) * TICK_S, int(blocked) * TICK_S
            running_s, ready_s = (int(time) / NANOSECONDS for time in times)
            seen = ThreadTime(int(thread), int(process), 0, lived_s, running_s, ready_s, disk_s)
            account.take(seen, _waits(state, where.encode()))
    limit = cores_of(trial.before.first("cpu_max"))
    return account.end((), wall_s, used.usage_s, used, limit) if used.usage_s else {}


def _waits(state: str, where: bytes) -> str:
    """What a thread waits for, as `schedstat.waits_for` tells it. where: the number of its call, or
    the kernel's function."""
    return {"D": "" if where in STARTING else "disk", "S": sleeps_for(where)}.get(state, "")


def cores_of(cpu_max: str | None) -> float | None:
    """A limit told as quota and period [cores]; None for no limit."""
    quota, _, period = (cpu_max or "max").partition(" ")
    return None if quota in ("max", "-1") else int(quota) / int(period or 100_000)


def _exit(trial: TrialAccount) -> base.Exit:
    """How the program ended; a shell tells a signal by 128 and its number."""
    kind, _, rest = trial.text("result").partition(" ")
    started = kind != "failed"
    code, _, orphans = rest.partition(" ") if started else ("127", "", "")
    peak_kib = trial.text("peak")
    return base.Exit(
        wall(trial.before, trial.after),
        exit_code=128 - int(code) if 128 < int(code) <= LAST_SIGNAL else int(code),
        max_rss_bytes=int(peak_kib) * 1024 if peak_kib.isdigit() else None,
        timed_out="timed_out" in trial.lines and started,
        exec_error=None if started else rest,
        counted={"left_running": int(orphans or 0)},
    )


def wall(before: ContainerReading, after: ContainerReading) -> float:
    """Time between two readings [s]: the fine clock's, held within what the uptime allows."""
    coarse = after.uptime - before.uptime
    least = UPTIME_RESOLUTION_S / 2
    if not (before.fine and after.fine):
        return max(coarse, least)
    fine = after.fine - before.fine
    return max(min(max(fine, coarse - UPTIME_RESOLUTION_S), coarse + UPTIME_RESOLUTION_S), least)


def _interference(
    before: ContainerReading, after: ContainerReading, own_cpu_s: float
) -> Interference:
    seen = interference.between(before.machine_reading(), after.machine_reading(), own_cpu_s)
    elapsed = max(after.uptime - before.uptime, 1e-9)
    # The two clocks are read a moment apart, and the uptime is rounded: no step of a clock is so
    # small.
    unsure = 3 * UPTIME_RESOLUTION_S / elapsed
    drift = 0.0 if not (before.fine and after.fine) else max(0.0, seen.clock_drift - unsure)
    return replace(
        seen,
        foreign_cpu_resolution=interference.RESOLUTION_TICKS * TICK_S / elapsed,
        clock_drift=drift,
    )
