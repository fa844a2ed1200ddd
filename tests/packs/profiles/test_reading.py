import gzip

import pytest

from deadzone.errors import ProfileError
from deadzone_profiles.comparison import cumulative, flat
from deadzone_profiles.reading import parse_folded, parse_profile, read_profile
from packs.profiles.making import RECORDED, recorded

PERF = b"java 1234/1235 [002] 12345.678901:  1000 cycles:u: \n\t7f1234 memcpy\n"
LEGACY_CPU = bytes([*[0] * 8, 3, *[0] * 15, 16, 39, *[0] * 14])
ZIPPED = (RECORDED / "cpu-after-1.pb.gz").read_bytes()


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "the file is empty"), (gzip.compress(b"", mtime=0), "holds nothing"),
     (ZIPPED[:-20], "gzip file is truncated"),
     (ZIPPED[:200] + bytes(100) + ZIPPED[300:], "gzip file is corrupt"),
     (b"\x7fELF\x02\x01\x01", "a profile is pprof's protobuf"),
     (b"\x89PNG\r\n", "a profile is pprof's protobuf"),
     (LEGACY_CPU, "a profile is pprof's protobuf"),
     (b"goroutine profile: total 9516\n1 @ 0x43e2ee 0x44\n", "without `debug=`"),
     (b"heap profile: 1: 2 [3: 4] @ heap/1048576\n", "without `debug=`"),
     (b"main;work 40 30\nmain 2 5\n", "two counts, as of difffolded.pl"),
     (PERF, "`stackcollapse-perf.pl`"),
     (b"Showing nodes accounting for 80ms, 100% of 80ms total\n", "`pprof -proto` makes"),
     (b"main;work\n", "line 1: 'main;work' is no folded stack"),
     (b"main;work 3\nmain;rest 1.5\n", "line 2"), (b"knob,seconds\n1,2\n", "no folded stack")],
)  # fmt: skip
def test_what_is_no_profile_is_refused_with_the_reason(content, says):
    with pytest.raises(ProfileError, match=r"^x\.prof") as refused:
        parse_profile(content, "x.prof")
    assert says in str(refused.value)


def test_a_missing_file_is_named_with_the_nearest(tmp_path):
    (tmp_path / "cpu-before.pb.gz").touch()
    with pytest.raises(ProfileError, match=r"Did you mean `cpu-before.pb.gz`"):
        read_profile(tmp_path / "cpu-befor.pb.gz")


def test_several_gzip_members_are_one_profile():
    content = gzip.decompress(ZIPPED)
    halves = gzip.compress(content[:3000]) + gzip.compress(content[3000:])
    assert parse_profile(halves).total("cpu") == recorded("cpu-after-1").total("cpu")


def test_a_sample_without_a_stack_counts_as_one_of_no_function():
    profile = parse_folded("main;work 2\n 1\n")
    assert profile.total("samples") == 3 and "[no stack]" in profile.functions


def test_folded_stacks_count_leaves_and_callers():
    profile = parse_folded("main;work;sort 3\nmain;work 2\nmain;work;work 1\n")
    samples = profile.numbers()
    own, all_ = flat(profile, samples).tolist(), cumulative(profile, samples).tolist()
    found = dict(zip(profile.functions, zip(own, all_, strict=True), strict=True))
    assert found == {"sort": (3, 3), "work": (3, 6), "main": (0, 6)}


def test_stacks_of_python_are_read_with_their_files_as_packages():
    profile = parse_profile(b"<module> (app.py:3);serve (lib/web.py:40) 2\n")
    assert profile.total() == 2
    packages = dict(zip(profile.functions, profile.packages, strict=True))
    assert packages == {"<module> (app.py:3)": "app.py", "serve (lib/web.py:40)": "lib/web.py"}


def test_an_unknown_value_is_refused_with_those_there_are():
    with pytest.raises(ProfileError, match=r"only samples, cpu. Did you mean `cpu`"):
        recorded("cpu-before-1").numbers("cpus")
