"""Profiles in the format of pprof: gzip or plain protobuf after the published `profile.proto`.

Go's runtime/pprof and net/http/pprof write it, and many profilers of other languages do. The
messages are declared in profile.textproto.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from deadzone.errors import ProfileError
from deadzone_profiles.model import Profile, ValueType, package_of

DAMAGED = "the protobuf is truncated or corrupt"

EXPECTED = (
    "a profile is pprof's protobuf, gzip or plain, or folded stacks (`a;b;c 42`). `pprof -proto` "
    "makes the first of other profiles, `stackcollapse-perf.pl` the second of what `perf script` "
    "prints; pages of pprof are fetched without `debug=`"
)
"""Said of every file that is no profile."""

UNKNOWN_CODE = "[unknown]"

Value = TypeVar("Value")

TOGETHER = 1 << 16
"""Samples read at once: enough that numpy's own cost vanishes, few enough to stay in some MB."""

LAST = 0xDEAD_20_E5_0F_A11
"""Ends the values of a sample where samples are read together: no measurement."""


@cache
def message_class(name: str) -> Any:
    """The class of a message: Profile, the outermost one, or what is declared beside it."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

    declared = Path(__file__).with_name("profile.textproto").read_text("utf-8")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(text_format.Parse(declared, descriptor_pb2.FileDescriptorProto()))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"perftools.profiles.{name}"))


def parse_pprof(content: bytes, source: str = "profile") -> Profile:
    """A profile from the bytes of an uncompressed protobuf after profile.proto.

    source: what messages call it.
    Raises ProfileError if the bytes are no such profile, or a truncated or inconsistent one.
    """
    from google.protobuf.message import DecodeError

    file = message_class("Profile")()
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
    starts, parts = np.cumsum(lengths) - lengths, []
    for first in range(0, len(file.sample) or 1, TOGETHER):
        values, counts, ids = _together(file.sample[first : first + TOGETHER], kinds)
        entries = known.get_indexer(pd.Index(ids))
        if (entries < 0).any():
            raise ProfileError(f"{DAMAGED}: it refers to a location that it does not hold")
        inlined = lengths[entries]
        stops = np.append(0, np.cumsum(inlined))
        at = np.arange(stops[-1]) + np.repeat(starts[entries] - stops[:-1], inlined)
        parts.append((values, np.diff(stops[np.append(0, np.cumsum(counts))]), functions[at]))
    values, counts, frames = map(np.concatenate, zip(*parts, strict=True))
    return values, np.append(0, np.cumsum(counts)), frames


def _together(samples: Sequence[bytes], kinds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, shape (samples, kinds), how many location ids each sample has, and these.

    Messages one after another are one message with the fields of all, so that many are read in one
    go; an id of 0 and the value LAST tell where each of them ends.
    """
    sample = message_class("Sample")
    end = sample(location_id=[0], value=[LAST]).SerializeToString()
    read = sample.FromString(end.join([*samples, b""]))
    ids = np.fromiter(read.location_id, np.uint64, len(read.location_id))
    values = np.fromiter(read.value, np.int64, len(read.value))
    sizes, widths = (
        np.diff(np.flatnonzero(ends), prepend=-1) - 1 for ends in (ids == 0, values == LAST)
    )
    if not len(sizes) == len(widths) == len(samples):
        raise ProfileError(DAMAGED)
    if (widths != kinds).any():
        wrong = widths[widths != kinds][0]
        raise ProfileError(f"{DAMAGED}: a sample has {wrong} values where {kinds} are declared")
    return values.reshape(-1, kinds + 1)[:, :-1], sizes, ids[ids > 0]
