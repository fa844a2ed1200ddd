"""Totals, flat and cumulative values against `go tool pprof -top`, to the last digit."""

import sys

import pytest

from deadzone_profiles.comparison import cumulative, flat
from deadzone_profiles.model import Profile
from deadzone_profiles.reading import read_profile
from packs.profiles.making import RECORDED, as_pprof_prints, top_of

sys.path.insert(0, str(RECORDED))
import record

TOPS = sorted(RECORDED.glob("*.top.txt"))


def ours(profile: Profile, value: str) -> dict[str, tuple[int, int]]:
    numbers = profile.numbers(value)
    pairs = zip(flat(profile, numbers).tolist(), cumulative(profile, numbers).tolist(), strict=True)
    named = zip(map(as_pprof_prints, profile.functions), pairs, strict=True)
    return {name: pair for name, pair in named if any(pair)}


@pytest.mark.parametrize("path", TOPS, ids=lambda path: path.name.removesuffix(".top.txt"))
def test_recorded_profiles_read_as_pprof_read_them(path):
    name, value = path.name.removesuffix(".top.txt").rsplit(".", 1)
    profile = read_profile(RECORDED / f"{name}.pb.gz")
    total, functions = top_of(path.read_text())
    assert profile.total(value) == total
    assert ours(profile, value) == functions


def test_all_kinds_of_profiles_were_recorded():
    kinds = {path.name.split("-")[0] for path in TOPS}
    assert kinds == {"cpu", "heap", "allocs", "goroutine", "mutex", "block"}


@pytest.mark.night
@pytest.mark.programs
def test_a_server_profiled_now_reads_as_pprof_reads_it(tmp_path, media_server, pprof):
    with record.running(media_server, "-streams=32", warm_up_s=0.5) as address:
        for kind, page in (
            ("cpu", "profile?seconds=1"),
            ("heap", "heap"),
            ("goroutine", "goroutine"),
        ):
            path = tmp_path / f"{kind}.pb.gz"
            path.write_bytes(record.fetch(address, page))
            for value in record.values_of(kind):
                profile = read_profile(path)
                total, functions = top_of(record.top(path, value, (pprof,)))
                assert profile.total(value) == total, (kind, value)
                assert ours(profile, value) == functions, (kind, value)
