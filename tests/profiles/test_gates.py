"""What must not get worse decides whether to ship."""

from __future__ import annotations

import pytest

from deadzone.errors import ProfileError
from deadzone.profiles.gates import Gate, judge, read_gates

STEADY = (20.0, 20.4, 19.8, 20.1)


def test_no_worse_than_the_margin_ships():
    verdict = judge([Gate("latency_p99_ms", "ms", 2, before=STEADY, after=(20.3, 20.1, 20.2, 20.0))])
    assert verdict.verdict == "ship" and "latency_p99_ms" in str(verdict)


def test_worse_than_the_margin_forbids_it_whatever_else_holds():
    good = Gate("error_rate", "%", 1, before=(0.1, 0.2, 0.1), after=(0.1, 0.1, 0.2))
    bad = Gate("fps", "frames/s", 2, "max", before=(30, 30.1, 29.9), after=(20, 20.1, 19.9))
    verdict = judge([good, bad])
    assert verdict.verdict == "do not ship"
    assert "fps" in str(verdict) and "error_rate" not in str(verdict)


def test_without_a_figure_no_functional_loss_is_not_shown():
    verdict = judge([Gate("frames_lost", "frames", 0)])
    assert verdict.verdict == "undecided"
    assert "not measured" in str(verdict.outcomes[0])
    assert judge([]).verdict == "undecided"


def test_noise_wider_than_the_margin_leaves_it_open():
    verdict = judge([Gate("latency_p99_ms", "ms", 1, before=(10, 30, 20), after=(12, 29, 22))])
    assert verdict.verdict == "undecided"
    single = judge([Gate("latency_p99_ms", "ms", 1, before=(10,), after=(10,))])
    assert single.verdict == "undecided" and "replicates would decide" in str(single.outcomes[0])


def test_gates_are_read_from_a_file(tmp_path):
    path = tmp_path / "gates.yaml"
    path.write_text(
        "latency_p99_ms: {unit: ms, margin: 5, before: [20, 21], after: [20, 22]}\nframes_lost: {unit: frames, margin: 0}\n"
    )
    first, second = read_gates(path)
    assert first.before == (20, 21) and second.after == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: 1",
        "a: {unit: ms}",
        "a: {unit: ms, margin: x}",
        "a: {unit: ms, margin: 1, befor: [1]}",
        "a: {unit: ms, margin: .nan}",
        "a: [",
        "a: {unit: ms, margin: 1, before: 5}",
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text):
    path = tmp_path / "gates.yaml"
    path.write_text(text)
    with pytest.raises(ProfileError, match=r"gates\.yaml"):
        read_gates(path)


def test_a_negative_margin_is_refused():
    with pytest.raises(ProfileError, match="margin"):
        judge([Gate("a", "ms", -1)])
