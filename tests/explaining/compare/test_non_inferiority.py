"""Quality gates: passing needs proof, not silence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from deadzone.errors import CompareError
from deadzone.explaining.compare.non_inferiority import NOT_WORSE, UNDECIDED, WORSE, non_inferior
from explaining.compare.tables import samples, table


def test_the_same_passes_and_much_worse_fails():
    assert non_inferior(table(), table(seed=2), "wall_s", 0.05).verdict == NOT_WORSE
    assert non_inferior(table(), table(1.2, seed=2), "wall_s", 0.05).verdict == WORSE


def test_too_few_trials_pass_nothing():
    gate = non_inferior(*samples([1, 1.01], [1, 1.01]), "wall_s", 0.05)
    assert gate.verdict == UNDECIDED
    assert "not decided" in str(gate)


def test_less_is_the_harm_of_a_response_to_maximise():
    a, b = (table(f, seed=s, response="fps") for f, s in ((1.0, 1), (0.8, 2)))
    assert non_inferior(a, b, "fps", 0.05).verdict == WORSE
    assert non_inferior(b, a, "fps", 0.05).verdict == NOT_WORSE
    assert non_inferior(a, b, "fps", 0.05).worst < -0.19


def test_an_error_rate_of_zero_needs_an_absolute_margin():
    a, b = samples([0.0] * 6, [0.0, 0.0, 0.001, 0, 0, 0], "error_share")
    gate = non_inferior(a, b, "error_share", 0.01, absolute=True, goal="min")
    assert gate.verdict == NOT_WORSE
    assert gate.p_value == pytest.approx(1 / 924)
    bad = samples([0.0] * 6, [0.02, 0.03, 0.02, 0.04, 0.02, 0.03], "error_share")
    assert non_inferior(*bad, "error_share", 0.01, absolute=True, goal="min").verdict == WORSE


def test_the_worst_case_bounds_the_change():
    gate = non_inferior(table(), table(1.02, seed=2), "wall_s", 0.05)
    assert gate.change < gate.worst < 0.05
    assert "not worse by 5.0 % or more" in str(gate)
    assert json.loads(json.dumps(gate.to_dict(), allow_nan=False))["verdict"] == NOT_WORSE


def test_harm_as_large_as_the_margin_rarely_passes():
    rng = np.random.default_rng(4)
    passed = 0
    for _ in range(200):
        a, b = np.exp(0.03 * rng.standard_normal((2, 8)))
        passed += non_inferior(*samples(a, 1.05 * b), "wall_s", 0.05).verdict == NOT_WORSE
    assert passed <= 20


@pytest.mark.parametrize(
    ("change", "message"), [({"margin": 0}, "margin is 0"), ({"confidence": 0.2}, "confidence")]
)
def test_numbers_out_of_range_are_refused(change, message):
    with pytest.raises(CompareError, match=message):
        non_inferior(table(), table(), "wall_s", **{"margin": 0.05, **change})
