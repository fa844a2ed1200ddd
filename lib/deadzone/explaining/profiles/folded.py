"""Profiles as folded stacks: a line a stack, `outermost;...;leaf 42`.

Source of the format: Brendan Gregg's stackcollapse scripts; `perf script | stackcollapse-perf.pl`, py-spy
(`--format raw`), async-profiler (`-o collapsed`) and many others write it. The numbers are samples unless
the profiler was told otherwise; the format says neither, nor the sampling period.
"""

import re
from dataclasses import replace

import numpy as np

from deadzone.errors import ProfileError
from deadzone.explaining.profiles.model import Profile, ValueType
from deadzone.explaining.profiles.naming import package_of

LINE = re.compile(r"(?P<stack>.*\S)\s+(?P<count>\d{1,18})\s*")
UNNAMED = re.compile(r"\[?(unknown|0x[0-9a-fA-F]+)\]?")
"""How profilers write an address that they found no name for."""

SAMPLES = ValueType("samples", "count")
CPU = ValueType("cpu", "nanoseconds")
NANOSECONDS = 1_000_000_000


def parse_folded(text: str, source: str = "profile") -> Profile:
    """A profile from the text of folded stacks; its one value is called `samples`.

    source: what messages call it.
    Raises ProfileError at the first line that is no stack with a whole number after it.
    """
    index: dict[str, int] = {}
    frames: list[int] = []
    lengths: list[int] = []
    counts: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        found = LINE.fullmatch(line)
        if not found:
            raise ProfileError(
                f"{source}, line {number}: {_shortened(line)!r} is no folded stack; "
                "a line is functions joined by ';', a space and a whole number."
            )
        stack = found["stack"].split(";")
        frames.extend(index.setdefault(name, len(index)) for name in reversed(stack))
        lengths.append(len(stack))
        counts.append(int(found["count"]))
    names = tuple(index)
    return Profile(
        source=source,
        value_types=(SAMPLES,),
        values=np.array(counts, dtype=np.int64).reshape(-1, 1),
        offsets=np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))),
        frames=np.array(frames, dtype=np.int32),
        functions=names,
        packages=tuple(package_of(name) for name in names),
        default_value=SAMPLES.name,
        unnamed=tuple(place for name, place in index.items() if UNNAMED.fullmatch(name)),
    )


def sampled(profile: Profile, rate_hz: int, seconds: float = 0.0) -> Profile:
    """Folded stacks as a CPU profile in time, as pprof writes one, with the samples beside it.

    rate_hz: samples a second of CPU time, which the format does not say. seconds: how long was profiled, 0 if unknown.
    """
    period = round(NANOSECONDS / rate_hz)
    return replace(
        profile,
        value_types=(SAMPLES, CPU),
        values=profile.numbers(SAMPLES.name).reshape(-1, 1) @ np.array([[1, period]]),
        period=period,
        period_type=CPU,
        duration_ns=round(seconds * NANOSECONDS),
        default_value=CPU.name,
    )


def _shortened(line: str) -> str:
    return line if len(line) <= 60 else line[:57] + "..."
