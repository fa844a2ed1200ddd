"""The wire format of protocol buffers, read for a million small messages at once.

Source: the published encoding (protobuf.dev, "Encoding"): a message is a row of fields; a field is a
varint `number << 3 | wire type` and a value: a varint (wire type 0), 8 bytes (1), a length and that many
bytes (2), or 4 bytes (5). Groups (3 and 4) are obsolete and do not occur in profiles.

Why no library: a profile is a million messages of 50 bytes, and the `protobuf` package makes a Python
object of each one. Here all messages of a kind take a step together, so that numpy does the work: a profile of 10 MB is
read in half the CPU time that protobuf 7.36 (upb) takes to bring its samples alone into arrays.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np

from deadzone.errors import ProfileError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

PADDING = 16
"""Zero bytes after the content: more than the longest varint, so that reading needs no bounds."""

LONGEST_VARINT = 10
"""Bytes of a 64-bit number at seven bits a byte."""

FEWEST_TOGETHER = 24
"""Below this many messages left, plain Python is faster than arrays; a message of very many fields
would otherwise cost an array operation a field."""

DAMAGED = "the protobuf is truncated or corrupt"


@dataclass(frozen=True, eq=False)
class Fields:
    """Fields of many messages; every array has shape (fields,), ordered by message, then as written.

    message: index of the message. number: of the field. wire: its wire type.
    value: the number of a varint (uint64); the first byte of any other value.
    stop: the byte after the value.
    """

    message: np.ndarray
    number: np.ndarray
    wire: np.ndarray
    value: np.ndarray
    stop: np.ndarray

    def of(self, number: int, *wires: int) -> Fields:
        """The fields of one number.

        Raises ProfileError if one has another wire type than those given.
        """
        mine = self.number == number
        if not np.isin(self.wire[mine], wires).all():
            raise ProfileError(f"{DAMAGED}: field {number} has an unexpected wire type")
        return Fields(
            self.message[mine], self.number[mine], self.wire[mine], self.value[mine], self.stop[mine]
        )

    def scalar(self, number: int, messages: int) -> np.ndarray:
        """The number in a field of each message, 0 where it is absent; the last one counts.

        Returns shape (messages,), uint64. Raises ProfileError if the field is no varint.
        """
        found = self.of(number, VARINT)
        values = np.zeros(messages, dtype=np.uint64)
        values[found.message] = found.value
        return values


def padded(content: bytes) -> np.ndarray:
    """The bytes of a file as an array that may be read past its end. Shape (bytes + PADDING,), uint8."""
    data = np.zeros(len(content) + PADDING, dtype=np.uint8)
    data[: len(content)] = np.frombuffer(content, dtype=np.uint8)
    return data


@dataclass(frozen=True)
class TopLevel:
    """The fields of the outermost message, by field number, as written.

    at: of fields with a length, the bytes at which their lengths stand. numbers: of varints.
    """

    at: dict[int, array[int]]
    numbers: dict[int, list[int]]


def top_level(content: bytes) -> TopLevel:
    """Where the fields of the outermost message are.

    Raises ProfileError if a field does not end within the content.
    """
    found = TopLevel({}, {})
    at, end = 0, len(content)
    while at < end:
        tag, value = one_varint(content, at, end)
        wire = tag & 7
        if wire == BYTES:
            at = _run(content, content[at:value], at, found.at.setdefault(tag >> 3, array("q")))
        elif wire == VARINT:
            number, at = one_varint(content, value, end)
            found.numbers.setdefault(tag >> 3, []).append(number)
        else:
            at = value + _fixed(wire)
    if at > end:
        raise ProfileError(f"{DAMAGED}: a field ends {at - end} bytes after the end of the file")
    return found


def spans(data: np.ndarray, found: TopLevel, number: int) -> tuple[np.ndarray, np.ndarray]:
    """First bytes and bytes after of the top-level fields of a number. Two arrays of shape (fields,), int64.

    data: `padded`. Raises ProfileError if the field is a number.
    """
    if number in found.numbers:
        raise ProfileError(f"{DAMAGED}: field {number} is a number instead of a message")
    lengths, starts = varints_at(data, np.array(found.at.get(number, ()), dtype=np.int64))
    return starts, starts + lengths.astype(np.int64)


def _run(content: bytes, tag: bytes, at: int, places: array[int]) -> int:
    """Note where the lengths of a run of fields with the same tag stand; returns the byte after the run.

    A profile is a million of these in a row, so this loop is what reading its outer level costs.
    """
    end, tag_bytes, first_of_tag, note = len(content), len(tag), tag[0], places.append
    single = tag_bytes == 1
    while at < end and content[at] == first_of_tag and (single or content.startswith(tag, at)):
        at += tag_bytes
        note(at)
        if at < end and (length := content[at]) < 0x80:
            at += 1 + length
        else:
            length, at = one_varint(content, at, end)
            at += length
    return at


def one_varint(content: bytes, at: int, end: int) -> tuple[int, int]:
    """The number that starts at a byte, and the byte after it.

    Raises ProfileError if it does not end before `end` or has more than 64 bits.
    """
    number = 0
    for place in range(LONGEST_VARINT):
        if at + place >= end:
            raise ProfileError(f"{DAMAGED}: a number is cut off")
        byte = content[at + place]
        number |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return number & 0xFFFFFFFFFFFFFFFF, at + place + 1
    raise ProfileError(f"{DAMAGED}: a number is longer than {LONGEST_VARINT} bytes")


def read_fields(content: bytes, data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> Fields:
    """All fields of many messages.

    content: the file; data: the same, `padded`. starts, stops: shape (messages,), the messages' bytes.
    Raises ProfileError if a message is damaged.
    """
    steps: list[tuple[np.ndarray, ...]] = []
    active = np.flatnonzero(starts < stops)
    at, end = starts[active], stops[active]
    while len(active) >= FEWEST_TOGETHER:
        tag, at = varints_at(data, at)
        wire = (tag & np.uint64(7)).astype(np.uint8)
        value, at = _values_at(data, at, end, wire)
        steps.append((active, (tag >> np.uint64(3)).astype(np.int64), wire, value, at))
        more = at < end
        active, at, end = active[more], at[more], end[more]
    steps.extend(_one_by_one(content, active, at, end))
    return _ordered(steps)


def varints_at(data: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers that start at given bytes, and the bytes after them.

    data: `padded`. at: shape (n,). Returns two arrays of shape (n,): uint64 and int64.
    Raises ProfileError if one has more than 64 bits.
    """
    byte = data[at]
    number = (byte & 0x7F).astype(np.uint64)
    at = at + 1
    more = np.flatnonzero(byte >= 0x80)
    for place in range(1, LONGEST_VARINT + 1):
        if not len(more):
            return number, at
        if place == LONGEST_VARINT:
            break
        byte = data[at[more]]
        number[more] |= (byte & 0x7F).astype(np.uint64) << np.uint64(7 * place)
        at[more] += 1
        more = more[byte >= 0x80]
    raise ProfileError(f"{DAMAGED}: a number is longer than {LONGEST_VARINT} bytes")


def packed_varints(data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of many packed fields.

    data: `padded`. starts, stops: shape (fields,). Returns the numbers of all fields one after another
    (uint64) and how many each field has, shape (fields,).
    Raises ProfileError if a field does not end with the end of a number.
    """
    lengths = stops - starts
    if not lengths.all():
        counts = np.zeros(len(lengths), dtype=np.int64)
        numbers, counts[lengths > 0] = packed_varints(data, starts[lengths > 0], stops[lengths > 0])
        return numbers, counts
    if not len(lengths):
        return np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    places = ranges(starts, lengths)
    last = data[places] < 0x80
    field_stops = np.cumsum(lengths)
    if not last[field_stops - 1].all():
        raise ProfileError(f"{DAMAGED}: a packed number is cut off")
    number_stops = np.flatnonzero(last)
    counts = np.diff(np.searchsorted(number_stops, field_stops, side="left"), prepend=0)
    begins = np.concatenate(([0], number_stops[:-1] + 1))
    return varints_at(data, places[begins])[0], counts


def ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The whole numbers of many ranges one after another: starts[i] ... starts[i] + lengths[i] - 1.

    starts, lengths: shape (n,), lengths > 0. Returns shape (sum of lengths,), int64.
    """
    steps = np.ones(int(lengths.sum()), dtype=np.int64)
    if len(starts):
        steps[0] = starts[0]
        steps[np.cumsum(lengths)[:-1]] = starts[1:] - (starts[:-1] + lengths[:-1] - 1)
    return np.cumsum(steps, out=steps)


def _values_at(
    data: np.ndarray, at: np.ndarray, end: np.ndarray, wire: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The value of one field of each message (see Fields), and the byte after it."""
    if not np.isin(wire, (VARINT, FIXED64, BYTES, FIXED32)).all():
        raise ProfileError(f"{DAMAGED}: a field has no known wire type")
    if (at > end).any():
        raise ProfileError(f"{DAMAGED}: a field is cut off")
    number, after = varints_at(data, np.minimum(at, len(data) - PADDING))
    with_length = wire == BYTES
    if (number[with_length] > np.uint64(len(data))).any():
        raise ProfileError(f"{DAMAGED}: a field is longer than the file")
    value = np.where(wire == VARINT, number, np.where(with_length, after, at).astype(np.uint64))
    after = np.where(with_length, after + number.astype(np.int64) * with_length, after)
    after = np.where(wire == FIXED64, at + 8, np.where(wire == FIXED32, at + 4, after))
    if (after > end).any():
        raise ProfileError(f"{DAMAGED}: a field does not end within its message")
    return value, after


def _one_by_one(
    content: bytes, messages: np.ndarray, starts: np.ndarray, stops: np.ndarray
) -> list[tuple[np.ndarray, ...]]:
    """The fields of a few messages, as one step."""
    rows: list[tuple[int, int, int, int, int]] = []
    for message, start, end in zip(messages.tolist(), starts.tolist(), stops.tolist(), strict=True):
        at = start
        while at < end:
            tag, at = one_varint(content, at, end)
            wire, first = tag & 7, at
            if wire == VARINT:
                first, at = one_varint(content, at, end)
            elif wire == BYTES:
                length, first = one_varint(content, at, end)
                at = first + length
            else:
                at += _fixed(wire)
            if at > end:
                raise ProfileError(f"{DAMAGED}: a field does not end within its message")
            rows.append((message, tag >> 3, wire, first, at))
    if not rows:
        return []
    message, number, wires, value, stop = zip(*rows, strict=True)
    kinds = (np.int64, np.int64, np.uint8, np.uint64, np.int64)
    return [
        tuple(
            np.array(column, dtype=kind)
            for column, kind in zip((message, number, wires, value, stop), kinds, strict=True)
        )
    ]


def _ordered(steps: list[tuple[np.ndarray, ...]]) -> Fields:
    if not steps:
        empty = np.zeros(0, dtype=np.int64)
        return Fields(empty, empty, empty.astype(np.uint8), empty.astype(np.uint64), empty)
    columns = [np.concatenate(column) for column in zip(*steps, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return Fields(*(column[order] for column in columns))


def _fixed(wire: int) -> int:
    if wire not in (FIXED64, FIXED32):
        raise ProfileError(f"{DAMAGED}: a field has no known wire type")
    return 8 if wire == FIXED64 else 4
