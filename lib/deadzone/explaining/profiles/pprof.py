"""Profiles in the format of pprof: gzip or plain protobuf after the published `profile.proto`.

Source: github.com/google/pprof, proto/profile.proto; the field numbers below are its. Go's
runtime/pprof and net/http/pprof write it, and many profilers of other languages do.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np

from deadzone.errors import ProfileError
from deadzone.explaining.profiles import wire
from deadzone.explaining.profiles.model import Profile, ValueType
from deadzone.explaining.profiles.naming import package_of
from deadzone.language.catalogue import say

SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING = 1, 2, 3, 4, 5, 6
DROP_FRAMES, DURATION, PERIOD_TYPE, PERIOD, DEFAULT_TYPE = 7, 10, 11, 12, 14
SAMPLE_LOCATION, SAMPLE_VALUE = 1, 2
MAPPING_ID, MAPPING_FILE = 1, 5
LOCATION_ID, LOCATION_MAPPING, LOCATION_LINE = 1, 2, 4
LINE_FUNCTION = 1
FUNCTION_ID, FUNCTION_NAME = 1, 2
TYPE_NAME, TYPE_UNIT = 1, 2

SAMPLES_TOGETHER = 1 << 16
"""Samples decoded at once: enough that numpy's own cost vanishes, few enough to stay in some MB."""

UNKNOWN_CODE = "[unknown]"


@dataclass(frozen=True, eq=False)
class _File:
    """A profile's bytes, where its top-level fields are, and its strings."""

    source: str
    content: bytes
    data: np.ndarray
    top: wire.TopLevel
    strings: list[str]

    def messages(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """First byte and byte after of each submessage of a number. Raises ProfileError if it is a number."""
        return wire.spans(self.data, self.top, number)

    def fields(self, number: int) -> tuple[wire.Fields, int]:
        """All fields of all submessages of a number, and how many submessages there are."""
        starts, stops = self.messages(number)
        return wire.read_fields(self.content, self.data, starts, stops), len(starts)

    def number(self, number: int) -> int:
        """A number of the outermost message, 0 if absent; signed."""
        if number in self.top.at:
            raise ProfileError(f"{wire.DAMAGED}: field {number} is a message instead of a number")
        value = self.top.numbers.get(number, [0])[-1]
        return value - (1 << 64) if value >> 63 else value

    def string(self, index: int) -> str:
        """A string by its index. Raises ProfileError if there is none."""
        if not 0 <= index < len(self.strings):
            raise ProfileError(
                f"{wire.DAMAGED}: it has {len(self.strings)} strings and refers to number {index}"
            )
        return self.strings[index]


def parse_pprof(content: bytes, source: str = "profile") -> Profile:
    """A profile from the bytes of an uncompressed protobuf after profile.proto.

    source: what messages call it.
    Raises ProfileError if the bytes are no such profile, or a truncated or inconsistent one.
    """
    try:
        return _profile(content, source)
    except ProfileError as error:
        raise ProfileError(f"{source}: {error}") from error


def _profile(content: bytes, source: str) -> Profile:
    top = wire.top_level(content)
    data = wire.padded(content)
    file = _File(source, content, data, top, _strings(content, data, top))
    value_types = _value_types(file, SAMPLE_TYPE)
    if not value_types:
        raise ProfileError("it declares no sample type, so it is no profile of pprof.")
    location_ids, location_frames, names, unnamed, binaries = _locations(file)
    values, offsets, entries = _samples(file, len(value_types), location_ids)
    frames, offsets = _expand(entries, offsets, *location_frames)
    return Profile(
        source=source,
        value_types=value_types,
        values=values,
        offsets=offsets,
        frames=frames,
        functions=tuple(names),
        packages=tuple(package_of(name, binary) for name, binary in zip(names, binaries, strict=True)),
        period=file.number(PERIOD),
        period_type=next(iter(_value_types(file, PERIOD_TYPE)), None),
        duration_ns=file.number(DURATION),
        default_value=file.string(file.number(DEFAULT_TYPE)) if file.strings else "",
        unnamed=tuple(unnamed),
        warnings=_doubts(file),
    )


def _strings(content: bytes, data: np.ndarray, top: wire.TopLevel) -> list[str]:
    starts, stops = (place.tolist() for place in wire.spans(data, top, STRING))
    return [content[a:b].decode("utf-8", errors="replace") for a, b in zip(starts, stops, strict=True)]


def _value_types(file: _File, number: int) -> tuple[ValueType, ...]:
    fields, count = file.fields(number)
    names = fields.scalar(TYPE_NAME, count).tolist()
    units = fields.scalar(TYPE_UNIT, count).tolist()
    return tuple(ValueType(file.string(n), file.string(u)) for n, u in zip(names, units, strict=True))


def _doubts(file: _File) -> tuple[str, ...]:
    hidden = file.string(file.number(DROP_FRAMES)) if file.strings else ""
    if not hidden:
        return ()
    return (say("profile.hides", source=file.source, pattern=repr(hidden)),)


def _locations(
    file: _File,
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray], list[str], list[int], list[str]]:
    """Locations as (their ids, (starts, functions)): location i has functions[starts[i]:starts[i + 1]].

    The functions are indices into the names that follow, innermost first; then come the indices of
    names that stand for code without names, and the binary of each name.
    """
    fields, count = file.fields(LOCATION)
    lines = fields.of(LOCATION_LINE, wire.BYTES)
    inner = wire.read_fields(file.content, file.data, lines.value.astype(np.int64), lines.stop)
    called = inner.scalar(LINE_FUNCTION, len(lines.message))
    name_of, names = _function_names(file)
    binary_of, binaries = _binaries(file, fields.scalar(LOCATION_MAPPING, count))
    owner = lines.message
    named = called != 0
    line_name = np.full(len(called), -1, dtype=np.int64)
    line_name[named] = name_of[1][positions(name_of[0], called[named], "function")]
    bare = np.setdiff1d(np.arange(count), owner)
    owner = np.concatenate((owner, bare))
    line_name = np.concatenate((line_name, np.full(len(bare), -1, dtype=np.int64)))
    order = np.argsort(owner, kind="stable")
    owner, line_name = owner[order], line_name[order]
    names, line_name, unnamed = _name_the_unnamed(names, line_name, binary_of[owner], binaries)
    binary_of_name = np.zeros(len(names), dtype=np.int64)
    binary_of_name[line_name] = binary_of[owner]
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=count))))
    binary_names = [binaries[index] for index in binary_of_name.tolist()]
    return fields.scalar(LOCATION_ID, count), (starts, line_name), names, unnamed, binary_names


def _function_names(file: _File) -> tuple[tuple[np.ndarray, np.ndarray], list[str]]:
    """((function ids, the index of the name of each), distinct names)."""
    fields, count = file.fields(FUNCTION)
    texts = [file.string(index) for index in fields.scalar(FUNCTION_NAME, count).tolist()]
    index: dict[str, int] = {}
    name = np.array([index.setdefault(text, len(index)) for text in texts], dtype=np.int64)
    if "" in index:
        name[name == index[""]] = -1
    return (fields.scalar(FUNCTION_ID, count), name), list(index)


def _binaries(file: _File, mapping: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The program or library each location is in, as an index into names; "" where it is not stated."""
    fields, count = file.fields(MAPPING)
    paths = [file.string(index) for index in fields.scalar(MAPPING_FILE, count).tolist()]
    names = ["", *(PurePosixPath(path).name for path in paths)]
    binary = np.zeros(len(mapping), dtype=np.int64)
    stated = mapping != 0
    binary[stated] = 1 + positions(fields.scalar(MAPPING_ID, count), mapping[stated], "mapping")
    return binary, names


def _name_the_unnamed(
    names: list[str], line_name: np.ndarray, binary: np.ndarray, binaries: list[str]
) -> tuple[list[str], np.ndarray, list[int]]:
    """Code without a name is called after its binary, in brackets, as pprof does."""
    names, line_name, unnamed = list(names), line_name.copy(), []
    bare = line_name < 0
    for index in np.unique(binary[bare]).tolist():
        unnamed.append(len(names))
        line_name[bare & (binary == index)] = len(names)
        names.append(f"[{binaries[index]}]" if binaries[index] else UNKNOWN_CODE)
    return names, line_name, unnamed


def positions(ids: np.ndarray, wanted: np.ndarray, what: str) -> np.ndarray:
    """Where each wanted id stands among the ids.

    ids: shape (n,), distinct; wanted: shape (m,). Returns shape (m,), int64.
    Raises ProfileError if an id is 0, occurs twice or is missing.
    """
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    if len(ids) and (ordered[0] == 0 or (ordered[1:] == ordered[:-1]).any()):
        raise ProfileError(f"{wire.DAMAGED}: a {what} has the id 0 or that of another one")
    if not len(wanted):
        return np.zeros(0, dtype=np.int64)
    dense = len(ids) and int(ordered[-1]) == len(ids)
    place = (
        np.minimum(wanted - np.uint64(1), np.uint64(len(ids) - 1))
        if dense
        else np.searchsorted(ordered, wanted)
    )
    place = np.minimum(place.astype(np.int64), len(ids) - 1)
    if not len(ids) or (ordered[place] != wanted).any():
        raise ProfileError(f"{wire.DAMAGED}: it refers to a {what} that it does not hold")
    return order[place]


def _samples(file: _File, kinds: int, location_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, shape (samples, kinds); offsets, shape (samples + 1,); location index of every entry."""
    starts, stops = file.messages(SAMPLE)
    values = np.zeros((len(starts), kinds), dtype=np.int64)
    counts, entries = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    for first, last in _chunks(len(starts)):
        fields = wire.read_fields(file.content, file.data, starts[first:last], stops[first:last])
        numbers, count = _repeated(file.data, fields.of(SAMPLE_VALUE, wire.VARINT, wire.BYTES), last - first)
        if (count != kinds).any():
            wrong = int(count[count != kinds][0])
            raise ProfileError(f"{wire.DAMAGED}: a sample has {wrong} values where {kinds} are declared")
        values[first:last] = numbers.view(np.int64).reshape(-1, kinds)
        ids, count = _repeated(file.data, fields.of(SAMPLE_LOCATION, wire.VARINT, wire.BYTES), last - first)
        entries.append(positions(location_ids, ids, "location").astype(np.int32))
        counts.append(count)
    return values, np.cumsum(np.concatenate(counts)), np.concatenate(entries)


def _chunks(count: int) -> Iterator[tuple[int, int]]:
    for first in range(0, count, SAMPLES_TOGETHER):
        yield first, min(first + SAMPLES_TOGETHER, count)


def _repeated(data: np.ndarray, fields: wire.Fields, messages: int) -> tuple[np.ndarray, np.ndarray]:
    """A repeated number, packed or not: all numbers by message, and how many each message has."""
    packed = fields.wire == wire.BYTES
    numbers, counts = wire.packed_varints(data, fields.value[packed].astype(np.int64), fields.stop[packed])
    each = np.ones(len(fields.message), dtype=np.int64)
    each[packed] = counts
    per_message = np.bincount(fields.message, weights=each, minlength=messages).astype(np.int64)
    if packed.all():
        return numbers, per_message
    result = np.empty(int(each.sum()), dtype=np.uint64)
    at = np.cumsum(each) - each
    result[at[~packed]] = fields.value[~packed]
    filled = packed & (each > 0)
    result[wire.ranges(at[filled], each[filled])] = numbers
    return result, per_message


def _expand(
    entries: np.ndarray, offsets: np.ndarray, starts: np.ndarray, functions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Entries as functions instead of locations: a location with inlined calls becomes several."""
    each = np.diff(starts)
    if (each == 1).all():
        return functions.astype(np.int32)[entries], offsets
    counts = each[entries]
    before = np.concatenate(([0], np.cumsum(counts)))
    at = wire.ranges(starts[entries], counts)
    return functions.astype(np.int32)[at], before[offsets]
