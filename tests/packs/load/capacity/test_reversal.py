"""The reversal of each rate, on the published tables."""

from __future__ import annotations

from deadzone.analysis.phases.fit import fit_slices
from deadzone.store.reference import load_reference
from deadzone_load.capacity.reversal import reversals


def test_the_published_channels_turn_back_where_their_author_saw_it():
    for channel, start, rates in (("inbound", 32, [373, 513]), ("outbound", 16, [2800, 4200])):
        models = fit_slices(
            load_reference("thread-pools", channel), "pool_size", "latency_max_ms", "min", "rate"
        )
        found = {one.rate: one for one in reversals(models)}
        assert [rate for rate, one in found.items() if one.start is not None] == rates
        for rate in rates:
            one = found[rate]
            assert one.start == start and one.low <= start <= one.high
            assert one.probability > 0.5 and one.worse > 0.5
