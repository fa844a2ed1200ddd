"""What must not get worse decides whether to ship."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from deadzone.errors import ProfileError
from deadzone.explaining.compare.non_inferiority import non_inferior
from deadzone.explaining.profiles.export import verdict_data
from deadzone.explaining.profiles.gates import judge, read_gates
from deadzone.language.catalogue import speaking
from deadzone.study.profile_specs import GateSpec

STEADY = (20.0, 20.4, 19.8, 20.1)


def judged(gates, before, after):
    """A verdict from lists of measurements by response."""
    return judge(gates, *(pd.DataFrame(side, dtype=float) for side in (before, after)))


def test_no_worse_than_the_margin_ships():
    gates = {"latency_p99_ms": GateSpec(margin=0.1)}
    verdict = judged(gates, {"latency_p99_ms": STEADY}, {"latency_p99_ms": (20.3, 20.1, 20.2, 20.0)})
    assert verdict.verdict == "ship"
    assert "p99" in str(verdict) and "not worse by 10 % or more" in str(verdict.outcomes[0])


def test_worse_than_the_margin_forbids_it_whatever_else_holds():
    gates = {
        "error_rate": GateSpec(margin=1, absolute=True, goal="min"),
        "fps": GateSpec(margin=2, absolute=True, goal="max"),
    }
    before = {"error_rate": (0.1, 0.2, 0.1, 0.1), "fps": (30, 30.1, 29.9, 30)}
    after = {"error_rate": (0.1, 0.1, 0.2, 0.1), "fps": (20, 20.1, 19.9, 20)}
    verdict = judged(gates, before, after)
    assert verdict.verdict == "do not ship"
    assert "frame rate" in str(verdict) and "error" not in str(verdict)


def test_without_a_figure_no_functional_loss_is_not_shown():
    verdict = judged({"frames_lost": GateSpec(margin=1, absolute=True)}, {}, {})
    assert verdict.verdict == "undecided"
    assert "not measured" in str(verdict.outcomes[0])
    assert "none was tested" in str(judged({}, {}, {}))


def test_noise_wider_than_the_margin_leaves_it_open():
    gates = {"latency_p99_ms": GateSpec(margin=1, absolute=True)}
    noisy = judged(gates, {"latency_p99_ms": (10, 30, 20)}, {"latency_p99_ms": (12, 29, 22)})
    single = judged(gates, {"latency_p99_ms": (10,)}, {"latency_p99_ms": (10,)})
    assert noisy.verdict == single.verdict == "undecided"
    assert "not decided" in str(single.outcomes[0])


def test_the_test_is_that_of_compare_and_uses_the_blocks_of_a_run():
    rows = pd.DataFrame(
        {"run_id": "r", "block": [1, 2, 3, 4, 5], "wall_s": [1.0, 2.0, 3.0, 4.0, 5.0], "status": "ok"}
    )
    after = rows.assign(wall_s=rows["wall_s"] * 1.01)
    verdict = judge({"wall_s": GateSpec(margin=0.05)}, rows, after)
    assert verdict.verdict == "ship"
    assert verdict.outcomes[0].tested == non_inferior(rows, after, "wall_s", 0.05, names=("before", "after"))


def test_a_verdict_is_data_and_speaks_korean():
    gates = {"fps": GateSpec(margin=0.1, goal="max"), "frames_lost": GateSpec(margin=1, absolute=True)}
    verdict = judged(gates, {"fps": STEADY}, {"fps": STEADY})
    data = json.loads(json.dumps(verdict_data(verdict), allow_nan=False))
    assert [gate["result"] for gate in data["gates"]] == ["not worse", "not measured"]
    with speaking("ko"):
        assert str(verdict).startswith("판단할 수 없습니다")


def test_gates_are_read_from_a_file(tmp_path):
    path = tmp_path / "gates.yaml"
    path.write_text(
        "latency_p99_ms: {margin: 5, absolute: true, before: [20, 21, 22], after: [20, 22]}\n"
        "frames_lost: {margin: 1, absolute: true}\n"
    )
    gates, before, after = read_gates(path)
    assert gates["latency_p99_ms"] == GateSpec(margin=5, absolute=True)
    assert list(before["latency_p99_ms"]) == [20, 21, 22] and list(after["latency_p99_ms"].dropna()) == [
        20,
        22,
    ]
    assert before["frames_lost"].isna().all()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: 1",
        "a: {goal: min}",
        "a: {margin: x}",
        "a: {margin: 0}",
        "a: {margin: -1}",
        "a: {margin: 1, befor: [1]}",
        "a: {margin: .nan}",
        "a: [",
        "a: {margin: 1, before: 5}",
        "a: {margin: 1, before: [.inf]}",
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text):
    path = tmp_path / "gates.yaml"
    path.write_text(text)
    with pytest.raises(ProfileError, match=r"gates\.yaml"):
        read_gates(path)
