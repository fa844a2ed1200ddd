"""Is this trial to be trusted? One verdict, from what the rest of the machine did meanwhile.

A mean of several trials hides a disturbed one; steal alone does not show a neighbour on the same
machine. So each trial is judged by itself, and an untrusted one is repeated, kept, shown and left
out of the fit. Neither its response nor its length has a say in that: neighbours of a short trial
are counted over the time before it too.
"""

from deadzone.measurement import Interference, Measurement
from deadzone.study.levels import NONE, Level
from deadzone.study.spec import TrustSpec


def doubts(
    measurement: Measurement,
    cpu_limit: Level,
    limits: TrustSpec,
    waits_on_io: bool = False,
    harmless: bool = False,
) -> tuple[str, ...]:
    """Reasons not to trust a trial, each with its figure and threshold; none means it is trusted.

    cpu_limit: the limit that was in force, or `none`. waits_on_io: whether the trial itself waits
    for a disk, so that stalls on I/O are what it measures. harmless: whether neighbours such as its
    own make no difference in this run.
    """
    seen, most = measurement.interference, limits.max_pressure
    io_pressure = None if waits_on_io else _of_others(seen.io_pressure, seen.own_io_pressure)
    memory_pressure = _of_others(seen.memory_pressure, seen.own_memory_pressure)
    reasons = [
        None if harmless else foreign_cpu(seen, limits.max_foreign_cpu),
        _above(
            seen.steal, limits.max_steal, "the hypervisor withheld {:.2f} cores (threshold {:.2f})"
        ),
        _above(
            memory_pressure, most, "tasks stalled on memory {:.0%} of the time (threshold {:.0%})"
        ),
        _above(io_pressure, most, "tasks stalled on I/O {:.0%} of the time (threshold {:.0%})"),
        _above(
            seen.clock_drift,
            limits.max_clock_drift,
            "the clocks disagree by {:.1%} (threshold {:.1%})",
        ),
    ]
    if cpu_limit == NONE and measurement.nr_throttled:
        times = measurement.nr_throttled
        reasons.append(f"throttled in {times} periods although it had no limit")
    return (*measurement.changed, *(reason for reason in reasons if reason))


def foreign_cpu(seen: Interference, threshold: float) -> str | None:
    """Whether others used too much, with who they were, largest first. Judged only beyond what the
    kernel's tick can resolve, and by what meets the trial."""
    threshold /= max(seen.exposure, 1e-9)
    if seen.foreign_cpu <= threshold + seen.foreign_cpu_resolution:
        return None
    named = ", ".join(f"{name} {cores:.2f}" for name, cores in seen.processes)
    sentence = f"other processes used {seen.foreign_cpu:.2f} cores (threshold {threshold:.2f})"
    return f"{sentence}: {named}" if named else sentence


def _of_others(pressure: float | None, own: float) -> float | None:
    """What is left of stalls of the machine without those of the trial, which are what it
    measures."""
    return None if pressure is None else pressure - own


def _above(value: float | None, threshold: float, sentence: str) -> str | None:
    return sentence.format(value, threshold) if value is not None and value > threshold else None
