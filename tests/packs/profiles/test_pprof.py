import gzip
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from benchmarks.synthetic.pprof_files import write_pprof
from hypothesis import given
from hypothesis import strategies as st

from deadzone.errors import ProfileError
from deadzone_profiles.comparison import cumulative, flat
from deadzone_profiles.model import Profile, ValueType
from deadzone_profiles.reading import parse_pprof, parse_profile
from packs.profiles.making import RECORDED, cpu, recorded

ZIPPED = (RECORDED / "cpu-before-1.pb.gz").read_bytes()
REAL = gzip.decompress(ZIPPED)
SMALL = gzip.decompress((RECORDED / "goroutine-after-1.pb.gz").read_bytes())


stacks = st.lists(st.lists(st.integers(0, 40), max_size=12), min_size=1, max_size=60)
numbers = st.integers(-(2**63), 2**63 - 1)


@given(stacks, st.data())
def test_any_stacks_and_numbers_are_read_back(drawn, data):
    values = data.draw(st.lists(numbers, min_size=len(drawn), max_size=len(drawn)))
    names = tuple(f"package.function{index}" for index in range(41))
    profile = Profile(
        source="drawn",
        value_types=(ValueType("space", "bytes"),),
        values=np.array(values, dtype=np.int64).reshape(-1, 1),
        offsets=np.cumsum([0, *map(len, drawn)]),
        frames=np.array([frame for stack in drawn for frame in stack], dtype=np.int32),
        functions=names,
        packages=("package",) * len(names),
    )
    again = parse_pprof(write_pprof(profile))
    for name in ("values", "offsets", "frames"):
        assert np.array_equal(getattr(again, name), getattr(profile, name)), name
    for name in ("functions", "value_types", "period", "duration_ns"):
        assert getattr(again, name) == getattr(profile, name)


def test_inlined_functions_are_frames_of_their_own():
    profile = recorded("heap-before-1")
    samples = [profile.frames[a:b] for a, b in pairwise(profile.offsets)]
    stacks_ = [[profile.functions[frame] for frame in sample] for sample in samples]
    inlined = ("mediaserver/rtp.payload", "mediaserver/rtp.Serve")
    assert any(inlined in pairwise(stack) for stack in stacks_)


def test_code_without_names_stands_under_its_binary():
    named = cpu({"main": 3})
    bare = parse_pprof(write_pprof(replace(named, functions=("",))))
    assert bare.functions[bare.frames[0]] == "[unknown]"
    profile = recorded("cpu-before-1")
    assert "mediaserver/nack" in profile.packages


def test_every_truncation_of_a_profile_is_said_or_leaves_a_smaller_profile():
    for length in range(0, len(SMALL), 7):
        try:
            profile = parse_profile(SMALL[:length], "cut.pb")
        except ProfileError as error:
            assert str(error).startswith("cut.pb: ")
        else:
            assert profile.samples <= recorded("goroutine-after-1").samples


def broken(content: bytes) -> Profile | str:
    """The profile, or the message; any other error fails the test."""
    try:
        return parse_profile(content, "fuzz")
    except ProfileError as error:
        return str(error)


@given(st.binary(max_size=400))
def test_no_bytes_bring_another_error_than_ours(content):
    broken(content)
    broken(b"\n\x04\x08\x01\x10\x02" + content)
    broken(gzip.compress(content))


@given(st.data())
def test_no_damage_to_a_real_profile_brings_another_error_than_ours(data):
    content = bytearray(data.draw(st.sampled_from([SMALL, REAL, ZIPPED])))
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    made = broken(bytes(content))
    if isinstance(made, Profile):
        flat(made, made.numbers())
        cumulative(made, made.numbers())


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"\n\x04\x08\x01\x10\x02\x12\x03\x08", "truncated or corrupt"),
     (b"2\x00\n\x04\x08\x09\x10\x02", "refers to number 9"), (b"2\x00", "declares no sample type"),
     (b"2\x00\n\x00\x12\x02\x0a\x00", "0 values where 1 are declared"),
     (b"2\x00\n\x00\x12\x04\x08\x07\x10\x01", "refers to a location that it does not hold")],
)  # fmt: skip
def test_what_is_wrong_with_a_protobuf_is_said(content, says):
    with pytest.raises(ProfileError, match=says):
        parse_pprof(content, "x.pb")
