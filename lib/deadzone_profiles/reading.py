"""Reading a profile from a file, whatever its format: pprof protobuf or folded stacks, gzip or
plain.

Profiles as folded stacks: a line a stack, `outermost;...;leaf 42`.

Source of the format: Brendan Gregg's stackcollapse scripts; `perf script | stackcollapse-perf.pl`,
py-spy (`--format raw`), async-profiler (`-o collapsed`) and many others write it. The numbers are
samples unless the profiler was told otherwise; the format says neither, nor the sampling period.

Profiles in the format of pprof: gzip or plain protobuf after the published `profile.proto`.

Go's runtime/pprof and net/http/pprof write it, and many profilers of other languages do. The
messages are declared in profile.textproto.
"""

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from deadzone.contents import bytes_of
from deadzone.errors import ProfileError
from deadzone.plugins import did_you_mean
from deadzone_profiles.capturing import GZIP, MOST_BYTES
from deadzone_profiles.model import NO_STACK, SAMPLES, Profile, ValueType, package_of

DAMAGED = "the protobuf is truncated or corrupt"

EXPECTED = (
    "a profile is pprof's protobuf, gzip or plain, or folded stacks (`a;b;c 42`). `pprof -proto` "
    "makes the first of other profiles, `stackcollapse-perf.pl` the second of what `perf script` "
    "prints; pages of pprof are fetched without `debug=`"
)
"""Said of every file that is no profile."""

UNKNOWN_CODE = "[unknown]"

Value = TypeVar("Value")


@cache
def profile_class() -> Any:
    """The class of the outermost message."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

    declared = Path(__file__).with_name("profile.textproto").read_text("utf-8")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(text_format.Parse(declared, descriptor_pb2.FileDescriptorProto()))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("perftools.profiles.Profile"))


def parse_pprof(content: bytes, source: str = "profile") -> Profile:
    """A profile from the bytes of an uncompressed protobuf after profile.proto.

    source: what messages call it.
    Raises ProfileError if the bytes are no such profile, or a truncated or inconsistent one.
    """
    from google.protobuf.message import DecodeError

    file = profile_class()()
    try:
        file.ParseFromString(content)
        return _profile(file, source)
    except DecodeError as error:
        raise ProfileError(f"{source}: {DAMAGED}; {EXPECTED}.") from error
    except ProfileError as error:
        raise ProfileError(f"{source}: {error}") from error


def _profile(file: Any, source: str) -> Profile:
    strings = [text.decode("utf-8", errors="replace") for text in file.string_table]

    def string(index: int) -> str:
        if not 0 <= index < len(strings):
            raise ProfileError(
                f"{DAMAGED}: it has {len(strings)} strings and refers to number {index}"
            )
        return strings[index]

    def value_types(messages: Iterable[Any]) -> tuple[ValueType, ...]:
        return tuple(ValueType(string(message.type), string(message.unit)) for message in messages)

    if not (kinds := value_types(file.sample_type)):
        raise ProfileError(f"it declares no sample type; {EXPECTED}.")
    frames_of, binary_of = _locations(file, string)
    values, offsets, frames = _samples(file, len(kinds), frames_of)
    return Profile(
        source=source,
        value_types=kinds,
        values=values,
        offsets=offsets,
        frames=frames,
        functions=tuple(binary_of),
        packages=tuple(package_of(name, binary) for name, binary in binary_of.items()),
        period=file.period,
        period_type=next(
            iter(value_types([file.period_type] if file.HasField("period_type") else [])), None
        ),
        duration_ns=file.duration_nanos,
        default_value=string(file.default_sample_type) if strings else "",
    )


def _locations(
    file: Any, string: Callable[[int], str]
) -> tuple[dict[int, list[int]], dict[str, str]]:
    """By the id of a location the functions on it, innermost first, as places among the names that
    follow; and each name with its binary, after which code without names is called, as pprof
    does."""
    functions = {0: "", **_by_id(file.function, "function", lambda message: string(message.name))}
    binaries = {
        0: "",
        **_by_id(
            file.mapping, "mapping", lambda message: PurePosixPath(string(message.filename)).name
        ),
    }
    place_of: dict[str, int] = {}
    binary_of: dict[str, str] = {}

    def frames(location: Any) -> list[int]:
        binary = _held(binaries, location.mapping_id, "mapping")
        called = [_held(functions, line.function_id, "function") for line in location.line] or [""]
        bare = f"[{binary}]" if binary else UNKNOWN_CODE
        binary_of.update(dict.fromkeys((name or bare for name in called), binary))
        return [place_of.setdefault(name or bare, len(place_of)) for name in called]

    return _by_id(file.location, "location", frames), binary_of


def _by_id(messages: Any, what: str, value_of: Callable[[Any], Value]) -> dict[int, Value]:
    """A value of each message, by its id."""
    values = {message.id: value_of(message) for message in messages}
    if len(values) < len(messages) or 0 in values:
        raise ProfileError(f"{DAMAGED}: a {what} has the id 0 or that of another one")
    return values


def _held(known: Mapping[int, str], identity: int, what: str) -> str:
    if identity not in known:
        raise ProfileError(f"{DAMAGED}: it refers to a {what} that it does not hold")
    return known[identity]


def _samples(
    file: Any, kinds: int, frames_of: Mapping[int, list[int]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, shape (samples, kinds); offsets, shape (samples + 1,); the function of every
    entry."""
    known = pd.Index(np.fromiter(frames_of, np.uint64, len(frames_of)))
    lengths = np.fromiter(map(len, frames_of.values()), np.int64, len(frames_of))
    functions = np.fromiter(chain.from_iterable(frames_of.values()), np.int32, lengths.sum())
    starts, n = np.cumsum(lengths) - lengths, len(file.sample)
    widths = {len(sample.value) for sample in file.sample} - {kinds}
    if widths:
        raise ProfileError(
            f"{DAMAGED}: a sample has {max(widths)} values where {kinds} are declared"
        )
    values = np.fromiter(chain.from_iterable(one.value for one in file.sample), np.int64)
    counts = np.fromiter((len(one.location_id) for one in file.sample), np.int64, n)
    ids = np.fromiter(chain.from_iterable(one.location_id for one in file.sample), np.uint64)
    entries = known.get_indexer(pd.Index(ids))
    if (entries < 0).any():
        raise ProfileError(f"{DAMAGED}: it refers to a location that it does not hold")
    inlined = lengths[entries]
    stops = np.append(0, np.cumsum(inlined))
    at = np.arange(stops[-1]) + np.repeat(starts[entries] - stops[:-1], inlined)
    return values.reshape(-1, kinds), stops[np.append(0, np.cumsum(counts))], functions[at]


LINE = re.compile(r"(?P<stack>.*\S|)\s+(?P<count>\d{1,18})\s*")
CPU = ValueType("cpu", "nanoseconds")
NANOSECONDS = 1_000_000_000

CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""Bytes that no text has; the head of every protobuf profile has some."""

HEAD_BYTES = 1 << 16

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
            f"{source}: each line has two counts, as of difffolded.pl; give the two profiles "
            "instead."
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
        is_missing = isinstance(error, FileNotFoundError)
        near = [p.name for p in path.parent.glob("*")] if is_missing else []
        hint = did_you_mean(path.name, near)
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
