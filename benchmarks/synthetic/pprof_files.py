"""A profile as the protobuf of pprof, so that other tools open what was read from folded stacks.

A function becomes one location, so what was inlined is written as if it had been called.
"""

from __future__ import annotations

from deadzone_profiles.model import Profile
from deadzone_profiles.reading import profile_class


def write_pprof(profile: Profile) -> bytes:
    """The uncompressed protobuf of a profile; `parse_pprof` reads it back with the same numbers."""
    file, strings = profile_class()(), {"": 0}

    def string(text: str) -> int:
        return strings.setdefault(text, len(strings))

    for kind in profile.value_types:
        file.sample_type.add(type=string(kind.name), unit=string(kind.unit))
    frames, offsets = (profile.frames + 1).tolist(), profile.offsets.tolist()
    for index, values in enumerate(profile.values.tolist()):
        stack = frames[offsets[index] : offsets[index + 1]]
        file.sample.add(location_id=stack, value=values)
    for number, name in enumerate(profile.functions, start=1):
        file.location.add(id=number).line.add(function_id=number)
        file.function.add(id=number, name=string(name))
    if profile.period_type:
        file.period_type.type = string(profile.period_type.name)
        file.period_type.unit = string(profile.period_type.unit)
    file.default_sample_type = string(profile.default_value)
    file.period, file.duration_nanos = profile.period, profile.duration_ns
    file.string_table.extend(text.encode("utf-8", errors="replace") for text in strings)
    written: bytes = file.SerializeToString()
    return written
