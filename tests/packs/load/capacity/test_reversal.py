"""The reversal of each rate, on the published tables."""

import numpy as np
import pandas as pd
import pytest

import deadzone as dz
from deadzone.store.reference import load_reference
from deadzone_load.capacity.reversal import reversals, reversals_alone


def test_the_published_channels_turn_back_where_their_author_saw_it():
    for channel, start, rates in (("inbound", 32, [373, 513]), ("outbound", 16, [2800, 4200])):
        models = dz.fit_phases(
            load_reference("thread-pools", channel), "pool_size", "latency_max_ms", "min", by="rate"
        )
        found = {one.rate: one for one in reversals(models)}
        assert [rate for rate, one in found.items() if one.start is not None] == rates
        for rate in rates:
            one = found[rate]
            assert one.start == start and one.low <= start <= one.high
            assert one.probability > 0.5 and one.worse > 0.5


def test_a_curve_that_turns_back_where_all_is_well_ends_in_a_plateau():
    """Of one rate after scaling, of the other after a plateau, which then goes on to the end."""
    table = load_reference("thread-pools", "outbound")
    models = dz.fit_phases(table, "pool_size", "latency_max_ms", "min", by="rate")
    assert reversals_alone(models, None).phases.equals(models.phases)
    flat = reversals_alone(models, harmless=table["latency_max_ms"].max())
    for rate, model in models.items():
        changed, turned = flat[rate], model.phases["label"] == "reversal"
        assert "reversal" not in {*changed.step_labels, *changed.phases["label"]}
        assert changed.phases[["start", "stop"]].equals(model.phases[["start", "stop"]])
        assert changed.phases["elasticity"].to_numpy() == pytest.approx(model.phases["elasticity"])
        assert (changed.phases["label"][turned] == "plateau").all()
    assert [one.start for one in reversals(flat)] == [None] * len(flat)


def test_a_plateau_and_the_reversal_after_it_are_one():
    pools = np.repeat([1, 2, 4, 8, 16, 32, 64], 4)
    latency = np.array([80, 40, 20, 20, 20, 20, 40.0])[np.log2(pools).astype(int)]
    noise = np.random.default_rng(3).normal(0, 0.01, len(pools))
    frame = pd.DataFrame({"pool": pools, "ms": latency * np.exp(noise), "rate": 1})
    model = dz.fit_phases(frame, "pool", "ms", "min", by="rate")
    assert [*model[1].phases["label"]] == ["linear", "plateau", "reversal"]
    flat = reversals_alone(model, harmless=100.0)[1]
    assert flat.phases[["start", "stop", "label"]].to_numpy().tolist() == [
        [1, 4, "linear"],
        [4, 64, "plateau"],
    ]
    assert flat.phases["elasticity"][1] == pytest.approx(-0.25, abs=0.05)
    assert [*flat.joints["level"]] == [4]
    flat.plot()
