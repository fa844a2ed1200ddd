import numpy as np
import pytest
from benchmarks.synthetic.curves import ELASTICITIES, OTHER_TIERS, TIERS, draw_tier
from benchmarks.synthetic.hard_curves import EQUAL_RATIOS, HARD_TIERS, draw_equal, draw_hard
from benchmarks.synthetic.mechanism_curves import MECHANISMS, draw_mechanism

from deadzone.errors import PhaseError


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_gives_the_same_positive_trials_for_the_same_seed_in_blocks_of_all_levels(name):
    one, same = (draw_mechanism(name, 4, 1) for _ in range(2))
    for curve, again in zip(one, same, strict=True):
        assert np.array_equal(curve.y, again.y)
        assert (curve.y > 0).all() and np.isfinite(curve.log_truth).all()
        for block in np.unique(curve.block):
            assert set(curve.x[curve.block == block]) == set(curve.levels)
        slope = np.polyfit(
            curve.log_truth[np.searchsorted(curve.levels, curve.x)], np.log(curve.y), 1
        )[0]
        assert (slope > 0) == (curve.goal == "min")


@pytest.mark.parametrize("tier", [*TIERS, *OTHER_TIERS])
def test_every_tier_gives_positive_trials_and_a_label_a_step(tier):
    drawn, others = draw_tier(tier, 3, 1), draw_tier(tier, 3, 2)
    assert not np.array_equal(drawn[0].y[:5], others[0].y[:5]), "another seed"
    for curve, again in zip(drawn, draw_tier(tier, 3, 1), strict=True):
        assert np.array_equal(curve.y, again.y) and (curve.y > 0).all()
        assert len(curve.step_labels) == len(curve.levels) - 1 == len(curve.log_truth) - 1
        assert set(curve.x) == set(curve.levels)
        assert curve.spoiled.shape == curve.x.shape


def test_elasticities_lie_in_their_labels_range_and_the_last_phase_may_end_a_curve():
    for curve in draw_tier("typical", 20, 3):
        for label, e in zip(curve.step_labels, curve.step_elasticities, strict=True):
            low, high = ELASTICITIES[label]
            assert low - 1e-9 <= e <= high + 1e-9
        assert curve.step_labels[-1] in ("linear", "plateau", "reversal")
        labels = curve.step_labels
        changes = [i for i in range(1, len(labels)) if labels[i - 1] != labels[i]]
        assert curve.knots == changes


def test_an_unknown_tier_gets_the_nearest_name():
    with pytest.raises(PhaseError, match="`typical`"):
        draw_tier("tipical", 1, 1)


@pytest.mark.parametrize("name", HARD_TIERS)
def test_a_hard_tier_gives_the_same_curves_with_labels_that_may_stand_where_they_do(name):
    for curve, again in zip(draw_hard(name, 10, 1), draw_hard(name, 10, 1), strict=True):
        assert np.array_equal(curve.y, again.y)
        assert (curve.y > 0).all() and set(curve.x) == set(curve.levels)
        assert len(curve.step_labels) == len(curve.levels) - 1 == len(curve.log_settings) - 1
        later = set()
        for label in reversed(curve.step_labels):
            assert (label == "dead_zone") <= bool(later & {"linear", "breakthrough"})
            assert (label in ("plateau", "reversal")) <= (
                not later & {"linear", "breakthrough", "dead_zone"}
            )
            later.add(label)


def test_hard_curves_have_their_cliff_their_drift_and_effects_of_the_settings_alone():
    for curve in draw_hard("cliff", 20, 2):
        assert curve.step_labels[-1] == "reversal"
        assert curve.log_truth[-1] >= curve.log_truth[-4:-1].min() + np.log(1.4)
    for curve in draw_hard("drift", 20, 2):
        last = curve.knots[-1] if curve.knots else 0
        assert abs(curve.log_truth[-1] - curve.log_truth[last]) >= np.log(1.10) - 1e-9
    for curve in (*draw_hard("effects", 5, 3), *draw_hard("teeth", 5, 3)):
        assert np.ptp(curve.log_settings - curve.log_truth) > 0.01
        spread = [np.median(np.log(curve.y[curve.x == level])) for level in curve.levels]
        assert np.abs(np.array(spread) - curve.log_settings).max() < 0.1


@pytest.mark.parametrize("ratio", EQUAL_RATIOS)
def test_equal_settings_scatter_differently_by_the_ratio(ratio):
    for curve in draw_equal(ratio, 10, 1):
        assert np.array_equal(curve.log_settings, np.zeros(len(curve.levels)))
        assert 2 <= len(curve.levels) <= 12
    many = draw_equal(ratio, 60, 1)
    widest = [
        max(c.y[c.x == m].std() for m in c.levels) / min(c.y[c.x == m].std() for m in c.levels)
        for c in many
    ]
    assert ratio / 3 < np.median(widest) < 5 * ratio
