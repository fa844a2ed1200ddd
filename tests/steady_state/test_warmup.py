import numpy as np
import pytest

from deadzone.errors import TableError
from deadzone.steady_state.warmup import detect_warmup

LENGTH_S = 30.0


def latencies(seed: int, n: int = 2000) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Times [s] and latencies of a steady service, and the generator for what is planted on top."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.uniform(0, LENGTH_S, n)), np.exp(0.3 * rng.standard_normal(n)), rng


@pytest.mark.parametrize(("until", "factor"), [(1.0, 10.0), (3.0, 2.0), (10.0, 1.3), (10.0, 0.5)])
def test_a_planted_warm_up_is_found_and_its_end_covered(until, factor):
    for seed in range(10):
        t, y, _ = latencies(seed)
        found = detect_warmup(t, np.where(t < until, factor * y, y))
        assert found.is_present and found.is_steady
        assert found.low_s - 0.31 <= until <= found.high_s + 0.31
        assert found.level_ratio == pytest.approx(factor, rel=0.25)


def test_a_steady_series_has_no_warm_up():
    found = [detect_warmup(*latencies(seed)[:2]) for seed in range(40)]
    assert sum(one.is_present for one in found) <= 1
    assert not any(one.matters for one in found)
    assert all(one.discard_s == 0 and one.length_s == 0 for one in found if not one.is_present)


def test_heavy_tails_and_correlated_values_are_no_warm_up():
    present = 0
    for seed in range(20):
        t, _, rng = latencies(seed)
        present += detect_warmup(t, np.exp(0.3 * rng.standard_t(2, len(t)))).is_present
        noise = rng.standard_normal(100)
        walk = np.zeros(100)
        for i in range(1, 100):
            walk[i] = 0.6 * walk[i - 1] + 0.05 * noise[i]
        present += detect_warmup(np.arange(100.0), np.exp(walk)).is_present
    assert present <= 4


def test_a_pause_every_few_seconds_is_a_steady_state_not_a_warm_up():
    present = 0
    for seed in range(10):
        t, y, _ = latencies(seed, 4000)
        stalled = np.where(t % 5 < 1, 1.0 - t % 5 + 0.003, 0.003 * y)
        found = detect_warmup(t, stalled)
        assert found.is_steady
        present += found.is_present
    assert present <= 2


def test_a_warm_up_of_a_few_requests_matters_only_if_it_moves_the_conclusion():
    t, y, _ = latencies(3)
    small = detect_warmup(t, np.where(t < 1, 1.3 * y, y))
    large = detect_warmup(t, np.where(t < 1, 60 * y, y))
    assert small.is_present and not small.matters
    assert large.matters and large.mean_bias > 1 and large.p99_bias > 1


def test_a_cache_that_fills_is_a_warm_up_too():
    rng = np.random.default_rng(5)
    t = np.arange(120.0)
    y = np.where(t < 25, 480e6, 90e6) * np.exp(0.05 * rng.standard_normal(120))
    found = detect_warmup(t, y)
    assert found.low_s <= 25 <= found.high_s + 1
    assert found.level_ratio == pytest.approx(480 / 90, rel=0.05)
    kept = found.in_steady_state(t)
    assert y[kept].max() < 200e6 and kept.sum() >= 90


def test_what_keeps_changing_never_becomes_steady():
    rng = np.random.default_rng(6)
    t = np.arange(100.0)
    found = detect_warmup(t, np.exp(-t / 30 + 0.02 * rng.standard_normal(100)))
    assert not found.is_steady and not found.is_present and not found.matters


def test_one_value_a_second_is_enough_where_the_change_is_clear():
    rng = np.random.default_rng(7)
    t = np.arange(12.0) - 2
    y = np.where(t < 0, 400.0, 5.0) * np.exp(0.1 * rng.standard_normal(12))
    found = detect_warmup(t, y, np.full(12, 300))
    assert found.is_present and found.length_s == 2


def test_order_of_rows_and_unit_do_not_matter():
    t, y, rng = latencies(8)
    y = np.where(t < 4, 3 * y, y)
    shuffled = rng.permutation(len(t))
    straight, mixed = detect_warmup(t, y), detect_warmup(t[shuffled], 1000 * y[shuffled])
    assert mixed.length_s == straight.length_s
    assert mixed.probability == pytest.approx(straight.probability)


def test_a_longer_record_of_the_same_warm_up_is_no_less_sure():
    widths = []
    for n in (60, 600, 6000):
        t, y, _ = latencies(9, n)
        found = detect_warmup(t, np.where(t < 6, 1.6 * y, y))
        widths.append(found.high_s - found.low_s)
    assert widths[0] >= widths[-1]


@pytest.mark.parametrize(
    ("t", "y"),
    [(np.arange(5.0), np.ones(5)), (np.arange(9.0), np.full(9, np.nan)),
     (np.arange(9.0), np.zeros(9)), (np.zeros(9), np.ones(9))],
)  # fmt: skip
def test_what_cannot_be_judged_is_refused_with_the_reason(t, y):
    with pytest.raises(TableError, match="8 values or more over some time, none missing"):
        detect_warmup(t, y)
