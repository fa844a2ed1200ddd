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

    data: of `TopLevel`. messages: how many there are. message: index of the message. number: of the field. wire: its wire
    type. start: the first byte of its value. stop: the byte after it.
    """

    data: np.ndarray
    messages: int
    message: np.ndarray
    number: np.ndarray
    wire: np.ndarray
    start: np.ndarray
    stop: np.ndarray

    def of(self, number: int, *wires: int) -> Fields:
        """The fields of one number.

        Raises ProfileError if one has another wire type than those given.
        """
        mine = self.number == number
        if not np.isin(self.wire[mine], wires).all():
            raise ProfileError(f"{DAMAGED}: field {number} has an unexpected wire type")
        columns = (self.message, self.number, self.wire, self.start, self.stop)
        return Fields(self.data, self.messages, *(column[mine] for column in columns))

    def scalar(self, number: int) -> np.ndarray:
        """The number in a field of each message, 0 where it is absent; the last one counts.

        Returns shape (messages,), uint64. Raises ProfileError if the field is no varint.
        """
        found = self.of(number, VARINT)
        values = np.zeros(self.messages, dtype=np.uint64)
        values[found.message] = varints_at(self.data, found.start)[0]
        return values

    def repeated(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """The numbers in a field that may occur several times, packed or not, of all messages one after another.

        Returns the numbers (uint64) and how many each message has, shape (messages,), int64.
        Raises ProfileError if the field is neither a varint nor packed, or is cut off.
        """
        found = self.of(number, VARINT, BYTES)
        numbers, counts = packed_varints(self.data, found.start, found.stop)
        return numbers, np.bincount(found.message, counts, self.messages).astype(np.int64)


@dataclass(frozen=True)
class TopLevel:
    """The fields of the outermost message, by field number, as written.

    data: the content and PADDING zero bytes, shape (bytes + PADDING,), uint8.
    at: of fields with a length, the bytes at which their lengths stand. numbers: of varints.
    """

    data: np.ndarray
    at: dict[int, array[int]]
    numbers: dict[int, list[int]]

    def number(self, number: int) -> int:
        """The number in a field, 0 if absent; signed. Raises ProfileError if it is a message."""
        if number in self.at:
            raise ProfileError(f"{DAMAGED}: field {number} is a message instead of a number")
        value = self.numbers.get(number, [0])[-1]
        return value - (1 << 64) if value >> 63 else value

    def spans(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """First bytes and bytes after of the fields of a number. Two arrays of shape (fields,), int64.

        Raises ProfileError if the field is a number.
        """
        if number in self.numbers:
            raise ProfileError(f"{DAMAGED}: field {number} is a number instead of a message")
        lengths, starts = varints_at(self.data, np.array(self.at.get(number, ()), dtype=np.int64))
        return starts, starts + lengths.astype(np.int64)

    def fields(self, number: int) -> Fields:
        """All fields of all submessages of a number. Raises ProfileError if one is damaged, or it is a number."""
        return read_fields(self.data, *self.spans(number))


def top_level(content: bytes) -> TopLevel:
    """Where the fields of the outermost message are.

    Raises ProfileError if a field does not end within the content.
    """
    data = np.frombuffer(content + bytes(PADDING), dtype=np.uint8)
    found = TopLevel(data, {}, {})
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


def one_varint(content: bytes | memoryview, at: int, end: int) -> tuple[int, int]:
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


def read_fields(data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> Fields:
    """All fields of many messages.

    data: `TopLevel.data`. starts, stops: shape (messages,), the messages' bytes.
    Raises ProfileError if a message is damaged.
    """
    steps: list[np.ndarray] = []
    active = np.flatnonzero(starts < stops)
    at, end = starts[active], stops[active]
    while len(active) >= FEWEST_TOGETHER:
        tag, first = varints_at(data, at)
        wire = (tag & np.uint64(7)).astype(np.int64)
        start, at = _value_spans(data, first, end, wire)
        steps.append(np.stack([active, (tag >> np.uint64(3)).astype(np.int64), wire, start, at]))
        more = at < end
        active, at, end = active[more], at[more], end[more]
    columns = np.concatenate([*steps, _one_by_one(data, active, at, end)], axis=1)
    return Fields(data, len(starts), *columns[:, np.argsort(columns[0], kind="stable")])


def varints_at(data: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers that start at given bytes, and the bytes after them.

    data: `TopLevel.data`. at: shape (n,). Returns two arrays of shape (n,): uint64 and int64.
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

    data: `TopLevel.data`. starts, stops: shape (fields,). Returns the numbers of all fields one after another
    (uint64) and how many each field has, shape (fields,).
    Raises ProfileError if a field does not end with the end of a number.
    """
    lengths = stops - starts
    places = ranges(starts, lengths)
    last = data[places] < 0x80
    field_stops = np.cumsum(lengths)
    if not last[field_stops[lengths > 0] - 1].all():
        raise ProfileError(f"{DAMAGED}: a packed number is cut off")
    number_stops = np.flatnonzero(last) + 1
    counts = np.diff(np.searchsorted(number_stops, field_stops, side="right"), prepend=0)
    begins = np.concatenate(([0], number_stops))[:-1]
    return varints_at(data, places[begins])[0], counts


def ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The whole numbers of many ranges one after another: starts[i] ... starts[i] + lengths[i] - 1.

    starts, lengths: shape (n,). Returns shape (sum of lengths,), int64.
    """
    stops = np.cumsum(lengths)
    return np.arange(lengths.sum()) + np.repeat(starts + lengths - stops, lengths)


def _value_spans(
    data: np.ndarray, at: np.ndarray, end: np.ndarray, wire: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """First byte and byte after of the value of one field of each message."""
    if not np.isin(wire, (VARINT, FIXED64, BYTES, FIXED32)).all():
        raise ProfileError(f"{DAMAGED}: a field has no known wire type")
    if (at > end).any():
        raise ProfileError(f"{DAMAGED}: a field is cut off")
    number, after = varints_at(data, np.minimum(at, len(data) - PADDING))
    with_length = wire == BYTES
    if (number[with_length] > np.uint64(len(data))).any():
        raise ProfileError(f"{DAMAGED}: a field is longer than the file")
    ends = [after, after + number.astype(np.int64), at + 8]
    stop = np.select([wire == VARINT, with_length, wire == FIXED64], ends, at + 4)
    if (stop > end).any():
        raise ProfileError(f"{DAMAGED}: a field does not end within its message")
    return np.where(with_length, after, at), stop


def _one_by_one(data: np.ndarray, messages: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """The fields of a few messages, as one step. Shape (5, fields)."""
    rows: list[tuple[int, int, int, int, int]] = []
    content = data.data
    for message, at, end in zip(messages.tolist(), starts.tolist(), stops.tolist(), strict=True):
        while at < end:
            tag, start = one_varint(content, at, end)
            wire = tag & 7
            if wire == VARINT:
                _, at = one_varint(content, start, end)
            elif wire == BYTES:
                length, start = one_varint(content, start, end)
                at = start + length
            else:
                at = start + _fixed(wire)
            if at > end:
                raise ProfileError(f"{DAMAGED}: a field does not end within its message")
            rows.append((message, tag >> 3, wire, start, at))
    return np.array(rows, dtype=np.int64).reshape(-1, 5).T


def _fixed(wire: int) -> int:
    if wire not in (FIXED64, FIXED32):
        raise ProfileError(f"{DAMAGED}: a field has no known wire type")
    return 8 if wire == FIXED64 else 4
