"""Profiles in the format of pprof: gzip or plain protobuf after the published `profile.proto`.

Source: github.com/google/pprof, proto/profile.proto; the field numbers below are its. Go's
runtime/pprof and net/http/pprof write it, and many profilers of other languages do.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
import pandas as pd

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
    """A profile's top-level fields, and its strings."""

    source: str
    top: wire.TopLevel
    strings: list[str]

    def string(self, index: int) -> str:
        """A string by its index. Raises ProfileError if there is none."""
        if not 0 <= index < len(self.strings):
            raise ProfileError(
                f"{wire.DAMAGED}: it has {len(self.strings)} strings and refers to number {index}"
            )
        return self.strings[index]

    def text(self, number: int) -> str:
        """The string that a field of the outermost message refers to; empty where there are no strings at all."""
        return self.string(self.top.number(number)) if self.strings else ""

    def texts(self, fields: wire.Fields, number: int) -> list[str]:
        """The string that a field of each message refers to. Raises ProfileError if there is none."""
        return [self.string(index) for index in fields.scalar(number).tolist()]


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
    spans = zip(*(place.tolist() for place in top.spans(STRING)), strict=True)
    file = _File(source, top, [content[a:b].decode("utf-8", errors="replace") for a, b in spans])
    value_types = _value_types(file, SAMPLE_TYPE)
    if not value_types:
        raise ProfileError("it declares no sample type, so it is no profile of pprof.")
    location_ids, location_frames, names, unnamed, binaries = _locations(file)
    values, offsets, entries = _samples(file, len(value_types), location_ids)
    frames, offsets = _expand(entries, offsets, *location_frames)
    hidden = file.text(DROP_FRAMES)
    return Profile(
        source=source,
        value_types=value_types,
        values=values,
        offsets=offsets,
        frames=frames,
        functions=tuple(names),
        packages=tuple(package_of(name, binary) for name, binary in zip(names, binaries, strict=True)),
        period=top.number(PERIOD),
        period_type=next(iter(_value_types(file, PERIOD_TYPE)), None),
        duration_ns=top.number(DURATION),
        default_value=file.text(DEFAULT_TYPE),
        unnamed=tuple(unnamed),
        warnings=(say("profile.hides", source=source, pattern=repr(hidden)),) if hidden else (),
    )


def _value_types(file: _File, number: int) -> tuple[ValueType, ...]:
    fields = file.top.fields(number)
    return tuple(map(ValueType, file.texts(fields, TYPE_NAME), file.texts(fields, TYPE_UNIT)))


def _locations(
    file: _File,
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray], list[str], list[int], list[str]]:
    """Locations as (their ids, (starts, functions)): location i has functions[starts[i]:starts[i + 1]].

    The functions are indices into the names that follow, innermost first; then come the indices of
    names that stand for code without names, and the binary of each name.
    """
    fields = file.top.fields(LOCATION)
    lines = fields.of(LOCATION_LINE, wire.BYTES)
    called = wire.read_fields(fields.data, lines.start, lines.stop).scalar(LINE_FUNCTION)
    function_ids, name_of, names = _function_names(file)
    binary_of, binaries = _binaries(file, fields.scalar(LOCATION_MAPPING))
    bare = np.setdiff1d(np.arange(fields.messages), lines.message)
    owner = np.concatenate((lines.message, bare))
    named = np.flatnonzero(called)
    line_name = np.full(len(owner), -1, dtype=np.int64)
    line_name[named] = name_of[positions(function_ids, called[named], "function")]
    order = np.argsort(owner, kind="stable")
    owner, line_name = owner[order], line_name[order]
    names, line_name, unnamed = _name_the_unnamed(names, line_name, binary_of[owner], binaries)
    binary_of_name = np.zeros(len(names), dtype=np.int64)
    binary_of_name[line_name] = binary_of[owner]
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=fields.messages))))
    binary_names = [binaries[index] for index in binary_of_name.tolist()]
    return fields.scalar(LOCATION_ID), (starts, line_name), names, unnamed, binary_names


def _function_names(file: _File) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Function ids, the index of the name of each (-1 without one), and distinct names."""
    fields = file.top.fields(FUNCTION)
    texts = np.array(file.texts(fields, FUNCTION_NAME), dtype=object)
    name, names = pd.factorize(texts)
    return fields.scalar(FUNCTION_ID), np.where(texts == "", -1, name), list(names)


def _binaries(file: _File, mapping: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The program or library each location is in, as an index into names; "" where it is not stated."""
    fields = file.top.fields(MAPPING)
    names = ["", *(PurePosixPath(path).name for path in file.texts(fields, MAPPING_FILE))]
    binary = np.zeros(len(mapping), dtype=np.int64)
    stated = mapping != 0
    binary[stated] = 1 + positions(fields.scalar(MAPPING_ID), mapping[stated], "mapping")
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
    index = pd.Index(ids)
    if not index.is_unique or not ids.all():
        raise ProfileError(f"{wire.DAMAGED}: a {what} has the id 0 or that of another one")
    place = index.get_indexer(pd.Index(wanted))
    if (place < 0).any():
        raise ProfileError(f"{wire.DAMAGED}: it refers to a {what} that it does not hold")
    return np.asarray(place)


def _samples(file: _File, kinds: int, location_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, shape (samples, kinds); offsets, shape (samples + 1,); location index of every entry."""
    starts, stops = file.top.spans(SAMPLE)
    values = np.zeros((len(starts), kinds), dtype=np.int64)
    counts, entries = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    for first in range(0, len(starts), SAMPLES_TOGETHER):
        part = slice(first, first + SAMPLES_TOGETHER)
        fields = wire.read_fields(file.top.data, starts[part], stops[part])
        numbers, count = fields.repeated(SAMPLE_VALUE)
        if (count != kinds).any():
            wrong = int(count[count != kinds][0])
            raise ProfileError(f"{wire.DAMAGED}: a sample has {wrong} values where {kinds} are declared")
        values[part] = numbers.view(np.int64).reshape(-1, kinds)
        ids, count = fields.repeated(SAMPLE_LOCATION)
        entries.append(positions(location_ids, ids, "location").astype(np.int32))
        counts.append(count)
    return values, np.cumsum(np.concatenate(counts)), np.concatenate(entries)


def _expand(
    entries: np.ndarray, offsets: np.ndarray, starts: np.ndarray, functions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Entries as functions instead of locations: a location with inlined calls becomes several."""
    counts = np.diff(starts)[entries]
    before = np.concatenate(([0], np.cumsum(counts)))
    at = wire.ranges(starts[entries], counts)
    return functions.astype(np.int32)[at], before[offsets]
