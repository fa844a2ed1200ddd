"""What must not get worse decides whether to ship."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from deadzone.errors import DeadzoneError
from deadzone.language.messages import speaking
from deadzone.study.profile_specs import GateSpec
from deadzone_profiles.gates import judge_tables, read_gates

STEADY = (20.0, 20.4, 19.8, 20.1)


def judged(gates, before, after):
    """Whether to ship, from lists of measurements by response."""
    return judge_tables(gates, *(pd.DataFrame(side, dtype=float) for side in (before, after)))


def one(gate, before, after, name="latency_p99_ms"):
    """The verdict on one gate."""
    return judged({name: gate}, {name: before}, {name: after}).gates[name]


def test_no_worse_than_the_margin_ships():
    found = judged(
        {"latency_p99_ms": GateSpec(margin=0.1)},
        {"latency_p99_ms": STEADY},
        {"latency_p99_ms": (20.3, 20.1, 20.2, 20.0)},
    )
    assert found.verdict == "ship"
    assert "p99" in str(found) and "Change of response time" in str(
        found.gates["latency_p99_ms"].found
    )


def test_worse_than_the_margin_forbids_it_whatever_else_holds():
    gates = {
        "error_rate": GateSpec(margin=1, absolute=True, goal="min"),
        "fps": GateSpec(margin=2, absolute=True, goal="max"),
    }
    before = {"error_rate": (0.1, 0.2, 0.1, 0.1), "fps": (30, 30.1, 29.9, 30)}
    after = {"error_rate": (0.1, 0.1, 0.2, 0.1), "fps": (20, 20.1, 19.9, 20)}
    found = judged(gates, before, after)
    assert found.verdict == "do not ship"
    assert "frame rate" in str(found) and "error" not in str(found)
    assert judged(gates, after, before).verdict == "ship"


def test_without_a_figure_no_functional_loss_is_not_shown():
    found = judged({"frames_lost": GateSpec(margin=1, absolute=True)}, {}, {})
    assert found.verdict == "undecided"
    assert found.gates["frames_lost"].verdict == "not_measured"
    assert "none was tested" in str(judged({}, {}, {}))


def test_noise_wider_than_the_margin_leaves_it_open():
    gate = GateSpec(margin=1, absolute=True)
    assert one(gate, (10, 30, 20), (12, 29, 22)).verdict == "undecided"
    single = one(gate, (10,), (10,))
    assert single.verdict == "not_measured" and "measured once" in str(single.found)


def test_errors_that_were_none_need_a_margin_in_their_unit():
    few, many = [0.0, 0.0, 0.001, 0, 0, 0], [0.02, 0.03, 0.02, 0.04, 0.02, 0.03]
    share = GateSpec(margin=0.01, absolute=True)
    assert one(share, [0.0] * 6, few, "error_share").verdict == "supported"
    assert one(share, [0.0] * 6, many, "error_share").verdict == "contradicted"
    relative = one(GateSpec(margin=0.01), [0.0] * 6, few, "error_share")
    assert relative.verdict == "not_measured" and "absolute: true" in str(relative.found)


def test_what_drifts_over_the_blocks_of_a_run_is_left_out():
    rows = pd.DataFrame(
        {"run_id": "r", "block": [1, 2, 3, 4, 5], "wall_s": [1.0, 2.0, 3.0, 4.0, 5.0]}
    )
    after = rows.assign(wall_s=rows["wall_s"] * 1.01)
    gates = {"wall_s": GateSpec(margin=0.05)}
    assert judge_tables(gates, rows, after).verdict == "ship"
    alone = [side.drop(columns=["block"]) for side in (rows, after)]
    assert judge_tables(gates, *alone).verdict == "undecided"


def test_harm_as_large_as_the_margin_rarely_passes():
    rng = np.random.default_rng(4)
    passed = 0
    for _ in range(200):
        a, b = np.exp(0.03 * rng.standard_normal((2, 8)))
        passed += one(GateSpec(margin=0.05), a, 1.05 * b, "wall_s").verdict == "supported"
    assert passed <= 20


def test_a_verdict_is_data_and_speaks_korean():
    gates = {
        "fps": GateSpec(margin=0.1, goal="max"),
        "frames_lost": GateSpec(margin=1, absolute=True),
    }
    found = judged(gates, {"fps": STEADY}, {"fps": STEADY})
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [gate["verdict"] for gate in data["gates"]] == ["supported", "not_measured"]
    with speaking("ko"):
        assert str(found).startswith("판단할 수 없습니다")


def test_gates_are_read_from_a_file(tmp_path):
    path = tmp_path / "gates.yaml"
    path.write_text(
        "latency_p99_ms: {margin: 5, absolute: true, before: [20, 21, 22], after: [20, 22]}\n"
        "frames_lost: {margin: 1, absolute: true}\n"
    )
    gates, before, after = read_gates(path)
    assert gates["latency_p99_ms"] == GateSpec(margin=5, absolute=True)
    assert list(before["latency_p99_ms"]) == [20, 21, 22] and list(
        after["latency_p99_ms"].dropna()
    ) == [
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
    with pytest.raises(DeadzoneError, match=r"gates\.yaml"):
        read_gates(path)
