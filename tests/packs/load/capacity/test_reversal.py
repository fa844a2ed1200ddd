"""The reversal of each rate, on the published tables."""

from functools import cache

import numpy as np
import pandas as pd

import deadzone as dz
from deadzone.store.reference import load_reference
from deadzone_load.capacity.reversal import reversals


@cache
def models_of(channel):
    table = load_reference("thread-pools", channel)
    return dz.fit_phases(table, "pool_size", "latency_max_ms", "min", by="rate")


def test_the_published_channels_turn_back_where_their_author_saw_it():
    for channel, start, rates in (("inbound", 32, [373, 513]), ("outbound", 16, [2800, 4200])):
        found = {one.rate: one for one in reversals(models_of(channel))}
        assert [rate for rate, one in found.items() if one.start is not None] == rates
        for rate in rates:
            one = found[rate]
            assert one.start == start and one.low <= start <= one.high
            assert one.probability > 0.5 and one.worse > 0.5


def test_a_curve_that_turns_back_where_all_is_well_does_no_harm():
    models = models_of("outbound")
    largest = load_reference("thread-pools", "outbound")["latency_max_ms"].max()
    assert [one.start for one in reversals(models, harmless=largest)] == [None] * len(models)
    ends = {rate: float(model.levels["fitted"].iloc[-1]) for rate, model in models.items()}
    some = reversals(models, harmless=ends[2800] * 1.01)
    assert [one.rate for one in some if one.start is not None] == [4200]


def test_repeated_trials_say_themselves_whether_the_end_does_harm():
    pools = np.repeat([1, 2, 4, 8, 16, 32, 64], 4)
    latency = np.array([80, 40, 20, 20, 20, 20, 40.0])[np.log2(pools).astype(int)]
    noise = np.random.default_rng(3).normal(0, 0.01, len(pools))
    frame = pd.DataFrame({"pool": pools, "ms": latency * np.exp(noise), "rate": 1})
    model = dz.fit_phases(frame, "pool", "ms", "min", by="rate")
    (harm,) = reversals(model, frame)
    assert harm.start == 32 and harm.probability > 0.99 and 0.9 < harm.worse < 1.1
    (none,) = reversals(model, frame, harmless=50.0)
    assert none.start is None
