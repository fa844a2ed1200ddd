"""Formulas over published tables: arithmetic, look-ups, and nothing else."""

from __future__ import annotations

import pytest

from deadzone.errors import TableError
from deadzone.reports.published.formulas import Formulas
from deadzone.store.reference import load_reference

POD = Formulas("pod-cpu-limit", {"usual": 0.03})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 * 4", 14),
        ("2 ** 3 / -(1 - 3)", 4),
        ("usual < 0.05 and not usual > 1", True),
        ('value("request-time", "wall_s", environment="pod")', 148.263),
        ('max(column("request-time", "wall_s * 2", where="wall_s < 100"))', 9.31),
        ('minutes("13:19:34") - minutes("13:04:43")', 14.85),
    ],
)
def test_a_formula_is_computed_as_by_hand(text, value):
    assert POD.evaluate(text) == pytest.approx(value)


def test_a_row_looks_up_its_own_cell_elsewhere():
    curve = load_reference("ffmpeg-threads", "phase-recovery")
    found = (
        Formulas("ffmpeg-threads")
        .among(curve)
        .evaluate('lookup("limit-equals-threads", "wall_s", cpu_limit=baseline_cpu_limit)')
    )
    whole = load_reference("ffmpeg-threads", "limit-equals-threads").set_index("cpu_limit")["wall_s"]
    assert found.tolist() == curve["baseline_cpu_limit"].map(whole).tolist()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("wall +", "cannot be read"),
        ("walls", "names 'walls'"),
        ("usua", "Did you mean 'usual'"),
        ("__import__('os').system('true')", "which no formula may"),
        ("(lambda: 1)()", "which no formula may"),
        ("maxx(usual)", "Did you mean 'max'"),
        ('value("request-time", "wall_s")', "one is needed"),
    ],
)
def test_what_is_no_formula_is_refused(text, said):
    with pytest.raises(TableError, match=said):
        POD.evaluate(text)
