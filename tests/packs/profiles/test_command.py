"""`deadzone profile`: two profiles, what changed and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RECORDED = Path(__file__).resolve().parents[2] / "data" / "profiles"
CAUSES = 'NACK: "*nack*"\nmDNS: mediaserver/mdns\nsystem calls: "*syscall6*"\n'


@pytest.fixture
def causes(tmp_path):
    path = tmp_path / "causes.yaml"
    path.write_text(CAUSES)
    return path


def profile(name: str) -> Path:
    return RECORDED / f"{name}.pb.gz"


BEFORE, AFTER = profile("cpu-before-1"), profile("cpu-after-1")


def test_it_says_what_changed_and_whether_it_is_more_than_chance(deadzone):
    said = deadzone("profile", BEFORE, AFTER)
    assert said.code == 0
    assert (
        "cpu: 3.45 s before, 1.70 s after (-1.75 s, -50.7%; 95 % interval -2.21 to -1.30 s)."
        in said.out
    )
    assert "more than chance" in said.out and "Poisson" in said.out
    assert "internal/runtime/syscall/linux.Syscall6" in said.out


def test_causes_add_up_and_the_naive_sum_stands_beside_them(deadzone, causes):
    said = deadzone("profile", BEFORE, AFTER, "--causes", causes, "--json")
    made = json.loads(said.out)["attribution"]
    assert sum(row["change"] for row in made["causes"]) == made["total_change"] == -1.75e9
    assert made["naive_sum"] < made["total_change"]
    assert {row["second"] for row in made["overlaps"]} == {"system calls"}
    assert "counted more than once" in deadzone("profile", BEFORE, AFTER, "--causes", causes).out


def test_everything_at_once(deadzone, causes, tmp_path):
    gates = tmp_path / "gates.yaml"
    gates.write_text("frames_lost: {margin: 1, absolute: true}\n")
    said = deadzone(
        *(
            "profile",
            BEFORE,
            AFTER,
            "--also-before",
            profile("cpu-before-2"),
            "--also-after",
            profile("cpu-after-2"),
        ),
        *(
            "--causes",
            causes,
            "--rule",
            "shapley",
            "--ablation",
            "NACK",
            profile("cpu-without-nack"),
        ),
        *("--per", "stream", "--load-before", 64, "--load-after", 64),
        *(
            "--after-at",
            16,
            profile("cpu-16-streams"),
            "--after-at",
            32,
            profile("cpu-32-streams"),
            "--project",
            100,
        ),
        *("--gates", gates, "--figures", tmp_path / "figures"),
    )
    assert said.code == 0, said.err
    for words in (
        "ms per stream before", "Welch's 95 %", "shared equally",
        "option alone", "the interaction is", "cpu before at a load of 100",
        "assumption, not a measurement", "95 % prediction interval", "Verdict: undecided",
        "not measured: frames lost: at most 1 worse at after than at before",
    ):  # fmt: skip
        assert words in said.out, words
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["flame_graph.svg"]


def test_per_second_needs_no_loads(deadzone):
    said = deadzone("profile", BEFORE, AFTER, "--per", "second", "--json")
    unit = json.loads(said.out)["comparison"]["unit"]
    assert unit == "nanoseconds per second"


def test_identical_profiles_are_said_to_be(deadzone):
    said = deadzone("profile", BEFORE, BEFORE)
    assert said.code == 0 and "The two profiles are identical" in said.out
    assert (
        json.loads(deadzone("profile", BEFORE, BEFORE, "--json").out)["comparison"]["identical"]
        is True
    )


def test_a_snapshot_without_sampling_is_valid_json(deadzone):
    said = deadzone(
        "profile", profile("goroutine-before-1"), profile("goroutine-after-1"), "--json"
    )
    total = json.loads(said.out)["comparison"]["total"]
    assert total["change"] == -128 and total["change_low"] is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((BEFORE, profile("heap-after-1")), "different types cannot be compared"),
        ((BEFORE, "missing.pb.gz"), "cannot be read"),
        ((BEFORE, RECORDED / "README.md"), "no folded stack"),
        ((BEFORE, AFTER, "--value", "inuse_space"), "no value 'inuse_space'"),
        ((BEFORE, AFTER, "--per", "stream"), "needs --load-before and --load-after"),
        ((BEFORE, AFTER, "--load-before", 1), "need --per"),
        ((BEFORE, AFTER, "--project", 10), "needs --load-before and --load-after"),
        ((BEFORE, AFTER, "--ablation", "NACK", AFTER), "needs --causes"),
        (
            (profile("heap-before-1"), profile("heap-after-1"), "--per", "second"),
            "do not say how long",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(deadzone, arguments, says):
    said = deadzone("profile", *arguments)
    assert said.code == 2
    assert says in " ".join(said.err.split())
