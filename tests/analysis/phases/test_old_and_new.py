"""Two engines are compared on the same curves, each in processes of its own."""

from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
from benchmarks import old_and_new
from benchmarks.synthetic.curves import draw_tier
from benchmarks.synthetic.hard_curves import draw_equal

ROOT = Path(__file__).parents[3]


def test_an_engine_beside_itself_differs_by_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(old_and_new, "KEPT", tmp_path)
    given = Namespace(old="x", count=2, seed=1, tiers=["cliff"], jobs=1, equal=0)
    with old_and_new.engine_folder(str(ROOT)) as lib:
        text = old_and_new.page((lib, lib), given)
    assert "new less old: +0.0000 (paired 95 % interval +0.0000 to +0.0000)" in text
    assert "| cliff |" in text
    assert len(list(tmp_path.rglob("cliff-2-1.pkl"))) == 1


def test_the_interval_of_a_difference_is_that_of_pairs():
    rng = np.random.default_rng(1)
    old = np.column_stack([rng.integers(0, 3, 400), np.full(400, 3), np.full(400, 3)])
    new = old + np.array([1, 0, 0]) * (rng.random(400) < 0.1)[:, None]
    difference, low, high = old_and_new.paired_difference([old], [new])
    assert low < difference < high
    assert difference == pytest.approx((new - old)[:, 0].sum() / 1200)
    assert low > 0.02 and high < 0.05


def test_a_claim_is_false_where_the_loss_said_is_more_than_the_true_one():
    curve = draw_equal(10, 1, 1)[0]
    first = float(curve.levels[0])
    for named in (first, f"n{first:g}"):
        assert not old_and_new.bounds_fail(curve, {"loss_low": {named: 0.0}})
        assert old_and_new.bounds_fail(curve, {"loss_low": {named: 0.01}})
        assert old_and_new.says_falsely(curve, {"loss_low": {named: 0.01}, "tied": []})
        assert not old_and_new.says_falsely(curve, {"loss_low": {named: 0.01}, "tied": [named]})


def test_no_verdict_is_no_good_decision():
    curve = draw_tier("typical", 1, 1)[0]
    best = float(curve.levels[int(np.argmin(curve.log_settings))])
    assert not old_and_new.decided_well(curve, {"setting": None})
    assert old_and_new.holds_best(curve, {"tied": [best]})
    assert not old_and_new.holds_best(curve, {"tied": []})


def test_records_of_tables_differ_where_a_number_does():
    old = {"phases": [{"start": 1.0, "label": "linear"}], "setting": 4}
    near = {"phases": [{"start": 1.0 + 1e-12, "label": "linear"}], "setting": 4}
    assert [*old_and_new.differences(old, near)] == []
    far = {"phases": [{"start": 1.1, "label": "plateau"}], "reason": "why"}
    different = {where for where, *_ in old_and_new.differences(old, far)}
    assert different == {".phases[0].start", ".phases[0].label", ".setting", ".reason"}


def test_the_tables_are_those_that_are_published_and_an_engine_is_as_good_as_itself(
    monkeypatch, tmp_path, capsys
):
    cases = old_and_new.table_cases()
    assert len({case["table"] for case in cases}) > 200 and any(case["by"] for case in cases)
    monkeypatch.setattr(old_and_new, "KEPT", tmp_path)
    monkeypatch.setattr(old_and_new, "table_cases", lambda: cases[:2])
    with old_and_new.engine_folder(str(ROOT)) as lib:
        assert old_and_new.compare_tables((lib, lib), 1) == 0
    assert "2 cases; nothing differs" in capsys.readouterr().out
