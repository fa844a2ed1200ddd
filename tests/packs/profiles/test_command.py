import json
from pathlib import Path

import pytest

from packs.profiles.making import RECORDED


def profile(name: str) -> Path:
    return RECORDED / f"{name}.pb.gz"


BEFORE, AFTER = profile("cpu-before-1"), profile("cpu-after-1")
HEAP = profile("heap-before-1"), profile("heap-after-1")


def test_it_says_what_changed_and_whether_it_is_more_than_chance(deadzone):
    out = " ".join(deadzone("profile", BEFORE, AFTER, code=0).out.split())
    assert "cpu: 3.45 s before, 1.70 s after (-1.75 s, -50.7%; 95 % interval " in out
    assert "-2.21 s to -1.30 s)." in out
    assert "more than chance" in out and "Poisson" in out
    assert "internal/runtime/syscall/linux.Syscall6" in out


def test_everything_at_once(deadzone, tmp_path):
    said = deadzone(
        *("profile", BEFORE, AFTER),
        *("--also-before", profile("cpu-before-2"), "--also-after", profile("cpu-after-2")),
        *("--per", "stream", "--load-before", 64, "--load-after", 64),
        *("--figures", tmp_path / "figures"),
        code=0,
    )
    out = " ".join(said.out.split())  # lines break as the paths above them are long
    for words in ("ms per stream before", "Welch's 95 %", "Amounts are per stream"):
        assert words in out, words
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["flame_graph.svg"]


def test_per_second_needs_no_loads(deadzone):
    said = deadzone("profile", BEFORE, AFTER, "--per", "second", "--json")
    unit = json.loads(said.out)["comparison"]["unit"]
    assert unit == "nanoseconds per second"


def test_identical_profiles_are_said_to_be(deadzone):
    assert "The two profiles are identical" in deadzone("profile", BEFORE, BEFORE, code=0).out


def test_goroutines_are_counted_and_have_no_sampling_error(deadzone):
    sides = (profile("goroutine-before-1"), profile("goroutine-after-1"))
    compared = json.loads(deadzone("profile", *sides, "--json").out)["comparison"]
    assert compared["total"]["change"] == -128 and compared["total"]["change_low"] is None
    assert compared["method"] == "none"
    assert any("not sampled" in doubt for doubt in compared["warnings"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [((BEFORE, profile("heap-after-1")), "different types cannot be compared"),
     ((BEFORE, "missing.pb.gz"), "cannot be read"),
     ((BEFORE, RECORDED / "README.md"), "no folded stack"),
     ((BEFORE, AFTER, "--value", "inuse_space"), "no value 'inuse_space'"),
     ((BEFORE, AFTER, "--per", "stream"), "(--per), such as stream, needs load_before"),
     ((BEFORE, AFTER, "--load-before", 1), "(--load-before, --load-after), and they need it"),
     ((*HEAP, "--per", "second"), "needs profiles with a duration"),
     ((BEFORE, AFTER, "--rows", 5), "--rows is gone: --details prints"),
     ((BEFORE, AFTER, "--causes", "c.yaml"), "--causes is gone: profiles.ipynb does it"),
     ((BEFORE, AFTER, "--ablation", "NACK", AFTER), "--ablation is gone: profiles.ipynb does it"),
     ((BEFORE, AFTER, "--after-at", 16, AFTER, "--project", 10), "is gone: profiles.ipynb does it"),
     ((BEFORE, AFTER, "--period", 10), "--period is gone: divide the numbers of folded stacks"),
     ((BEFORE, AFTER, "--gates", "gates.yaml"), "--gates is gone: state it as a claim")],
)  # fmt: skip
def test_what_cannot_be_done_any_more_or_at_all_is_said_in_a_sentence(deadzone, arguments, says):
    said = deadzone("profile", *arguments, code=2)
    assert says in " ".join(said.err.split())
