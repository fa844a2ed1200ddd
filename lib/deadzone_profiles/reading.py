"""Reading a profile from a file, whatever its format: pprof protobuf or folded stacks, gzip or
plain.

Profiles as folded stacks: a line a stack, `outermost;...;leaf 42`.

Source of the format: Brendan Gregg's stackcollapse scripts; `perf script | stackcollapse-perf.pl`,
py-spy (`--format raw`), async-profiler (`-o collapsed`) and many others write it. The numbers are
samples unless the profiler was told otherwise; the format says neither, nor the sampling period.
"""

import gzip
import io
import re
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from deadzone.contents import bytes_of
from deadzone.errors import ProfileError
from deadzone.plugins import did_you_mean
from deadzone_profiles.capturing import GZIP, MOST_BYTES
from deadzone_profiles.model import NO_STACK, SAMPLES, Profile, ValueType, package_of
from deadzone_profiles.pprof import EXPECTED, parse_pprof

LINE = re.compile(r"(?P<stack>.*\S|)\s+(?P<count>\d{1,18})\s*")
CPU = ValueType("cpu", "nanoseconds")
NANOSECONDS = 1_000_000_000

CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""Bytes that no text has; the head of every protobuf profile has some."""

HEAD_BYTES = 1 << 16

LEGACY_CPU = bytes([*[0] * 8, 3, *[0] * 15])
"""Its first words, of 8 bytes: 0, the 3 that follow the header, and its version 0."""

TWO_COUNTS = re.compile(r"\S.* \d+ \d+\s*")


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
        match = LINE.fullmatch(line)
        if not match:
            raise ProfileError(
                f"{source}, line {number}: {line[:60]!r} is no folded stack; {EXPECTED}."
            )
        stack = (match["stack"] or NO_STACK).split(";")
        frames.extend(index.setdefault(name, len(index)) for name in reversed(stack))
        lengths.append(len(stack))
        counts.append(int(match["count"]))
    if counts and all(TWO_COUNTS.fullmatch(line) for line in text.splitlines() if line.strip()):
        raise ProfileError(
            f"{source}: each line has two counts, as of difffolded.pl; give the two profiles that "
            "it was made of."
        )
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
    )


def sampled(profile: Profile, rate_hz: int, seconds: float = 0.0) -> Profile:
    """Folded stacks as a CPU profile in time, as pprof writes one, with the samples beside it.

    rate_hz: samples a second of CPU time, which the format does not say. seconds: how long was
    profiled, 0 if unknown.
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


def read_profile(path: Path) -> Profile:
    """The profile in a file.

    Raises ProfileError if the file is missing, unreadable, damaged or of another kind.
    """
    try:
        content = bytes_of(path)
    except OSError as error:
        near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = "" if path.exists() else did_you_mean(path.name, near)
        raise ProfileError(f"{path}: cannot be read: {error.strerror}.{hint}") from error
    return parse_profile(content, str(path))


def parse_profile(content: bytes, source: str = "profile") -> Profile:
    """The profile in the bytes of a file. source: what messages call it.

    Raises ProfileError if they are damaged or of another kind.
    """
    if not content:
        raise ProfileError(f"{source}: the file is empty.")
    plain = _unzipped(content, source) if content.startswith(GZIP) else content
    if not plain:
        raise ProfileError(f"{source}: the gzip file holds nothing.")
    if plain.startswith(LEGACY_CPU):
        raise ProfileError(
            f"{source}: this is a legacy CPU profile of gperftools; `pprof -proto PROGRAM FILE > "
            "FILE.pb.gz` converts it."
        )
    text = _as_text(plain)
    return parse_pprof(plain, source) if text is None else parse_folded(text, source)


def _unzipped(content: bytes, source: str) -> bytes:
    """The content of a gzip file, of one member or several."""
    try:
        plain = gzip.GzipFile(fileobj=io.BytesIO(content)).read(MOST_BYTES + 1)
    except EOFError as error:
        raise ProfileError(
            f"{source}: the gzip file is truncated; fetch it again, to its end."
        ) from error
    except (OSError, zlib.error) as error:
        raise ProfileError(
            f"{source}: the gzip file is corrupt ({error}); fetch it again."
        ) from error
    if len(plain) > MOST_BYTES:
        raise ProfileError(
            f"{source}: it is over {MOST_BYTES >> 20} MB uncompressed, no profile is."
        )
    return plain


def _as_text(content: bytes) -> str | None:
    """The content as text, or None if it is none."""
    if CONTROL.search(content[:HEAD_BYTES]):
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None
