import numpy as np
import pandas as pd
import pytest

from deadzone.analysis.findings import experiment
from deadzone.analysis.findings.experiment import Experiment, association, contrast


@pytest.fixture
def drawn():
    """Values in six groups, a third of them marked."""
    rng = np.random.default_rng(4)
    groups = rng.integers(0, 6, 600)
    return rng.normal(size=600) + groups, rng.random(600) < 1 / 3, groups, rng


@pytest.mark.parametrize("moved", [0.0, 0.2])
def test_a_long_table_has_the_p_value_that_its_permutations_have(drawn, moved, monkeypatch):
    values, marked, groups, rng = drawn
    values = values + moved * marked
    counts = np.round(rng.poisson(4, 600) + moved * groups)  # ties
    few = contrast(values, marked, groups)[1], association(counts, groups)
    monkeypatch.setattr(experiment, "LONG", 100)
    many = contrast(values, marked, groups)[1], association(counts, groups)
    assert many == pytest.approx(few, abs=0.03)


def test_permutations_that_are_made_in_parts_are_the_same(drawn, monkeypatch):
    values, _, groups, _ = drawn
    whole = np.concatenate([*experiment.permuted(values, groups, 50)])
    monkeypatch.setattr(experiment, "MOST_CELLS", 7 * len(values))
    parts = [*experiment.permuted(values, groups, 50)]
    assert len(parts) == 8
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert all((np.sort(row[groups == 2]) == np.sort(values[groups == 2])).all() for row in whole)


def test_a_knob_that_is_named_as_a_further_factor_too_is_one_factor():
    table = pd.DataFrame({"n": [1, 2, 1, 2], "wall_s": [1.0, 2.0, 1.0, 2.0]})
    assert list(Experiment(table, "n", "wall_s", by=("n",)).attempts["level"]) == [0, 1, 0, 1]
