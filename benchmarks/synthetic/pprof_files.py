"""A profile as the protobuf of pprof, so that other tools open what was read from folded stacks.

Source of the format: github.com/google/pprof, proto/profile.proto. A function becomes one location, so
what was inlined is written as if it had been called.
"""

from __future__ import annotations

from deadzone.explaining.profiles import pprof
from deadzone.explaining.profiles.model import Profile, ValueType
from deadzone.explaining.profiles.wire import BYTES, VARINT


def write_pprof(profile: Profile) -> bytes:
    """The uncompressed protobuf of a profile; `parse_pprof` reads it back with the same numbers."""
    strings: dict[str, int] = {"": 0}
    parts = [_message(pprof.SAMPLE_TYPE, _type(kind, strings)) for kind in profile.value_types]
    parts += _samples(profile)
    for number, name in enumerate(profile.functions, start=1):
        line = _message(pprof.LOCATION_LINE, _number(pprof.LINE_FUNCTION, number))
        parts.append(_message(pprof.LOCATION, _number(pprof.LOCATION_ID, number) + line))
        named = _number(pprof.FUNCTION_NAME, strings.setdefault(name, len(strings)))
        parts.append(_message(pprof.FUNCTION, _number(pprof.FUNCTION_ID, number) + named))
    if profile.period_type:
        parts.append(_message(pprof.PERIOD_TYPE, _type(profile.period_type, strings)))
    parts.append(_number(pprof.DEFAULT_TYPE, strings.setdefault(profile.default_value, len(strings))))
    parts += [_number(pprof.PERIOD, profile.period), _number(pprof.DURATION, profile.duration_ns)]
    parts += [_message(pprof.STRING, text.encode("utf-8", errors="replace")) for text in strings]
    return b"".join(parts)


def _samples(profile: Profile) -> list[bytes]:
    ids = [_varint(number) for number in range(1, len(profile.functions) + 1)]
    frames, offsets = profile.frames.tolist(), profile.offsets.tolist()
    parts = []
    for index, values in enumerate(profile.values.tolist()):
        stack = b"".join([ids[frame] for frame in frames[offsets[index] : offsets[index + 1]]])
        numbers = b"".join([_varint(value) for value in values])
        sample = _message(pprof.SAMPLE_LOCATION, stack) if stack else b""
        parts.append(_message(pprof.SAMPLE, sample + _message(pprof.SAMPLE_VALUE, numbers)))
    return parts


def _type(kind: ValueType, strings: dict[str, int]) -> bytes:
    name = _number(pprof.TYPE_NAME, strings.setdefault(kind.name, len(strings)))
    return name + _number(pprof.TYPE_UNIT, strings.setdefault(kind.unit, len(strings)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | VARINT) + _varint(value)


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    value &= 0xFFFFFFFFFFFFFFFF
    digits = bytearray()
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)
