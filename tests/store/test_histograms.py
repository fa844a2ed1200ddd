import numpy as np
import pytest

from deadzone.errors import StoreError
from deadzone.measurement import HistogramSlice
from deadzone.store.histograms import counts_ms, decode, encoded, merged, percentiles_ms, series
from deadzone.store.run import RunFolder
from deadzone.study.spec import Study

LATENCIES_US = np.random.default_rng(4).lognormal(8, 1, 5_000)


def test_percentiles_come_back_to_a_tenth_of_a_percent():
    told = percentiles_ms(decode(encoded(LATENCIES_US)), [50, 90, 99])
    true = np.percentile(LATENCIES_US, [50, 90, 99], method="inverted_cdf") / 1e3
    assert list(told.values()) == pytest.approx(list(true), rel=2e-3)


def test_merged_trials_have_the_percentiles_of_all_their_values_together():
    parts = np.split(LATENCIES_US * np.repeat([1, 5], 2_500), 2)
    together = merged(encoded(part) for part in parts)
    true = np.percentile(np.concatenate(parts), 99, method="inverted_cdf") / 1e3
    assert together.get_total_count() == len(LATENCIES_US)
    assert percentiles_ms(together, [99])[99] == pytest.approx(true, rel=2e-3)


def test_values_and_counts_hold_every_latency():
    values, counts = counts_ms(decode(encoded(np.array([100.0, 100.0, 2_000.0]))))
    assert values == pytest.approx([0.1, 2.0], rel=1e-3)
    assert list(counts) == [2, 1]


def test_latencies_beyond_the_range_are_kept_at_its_ends_and_without_any_there_are_none():
    values, counts = counts_ms(decode(encoded(np.array([-5.0, 0.2, 1e12]))))
    assert list(counts) == [2, 1]
    assert values[-1] == pytest.approx(3_600_000, rel=1e-3)
    assert np.isnan(percentiles_ms(merged(()), [50])[50])


def record(trial: int, attempt: int = 1) -> dict:
    nothing = dict.fromkeys(("warmup", "started_at", "error", "distrust_reason"))
    numbers = dict.fromkeys(("block", "replicate", "wall_s", "user_s", "sys_s", "exit_code"), 1)
    told = {"trial": trial, "attempt": attempt, "final": True, "status": "ok", "trusted": True}
    return {**nothing, **numbers, **told, "levels": {"rate": 5}, "responses": {}}


def test_a_run_keeps_the_histograms_of_its_trials_and_writes_their_table(tmp_path):
    workload = {"kind": "command", "argv": ["true", "{rate}"]}
    document = {"study": "s", "workload": workload, "factors": {"rate": [5]}}
    run = RunFolder.create(tmp_path, Study.model_validate(document))
    slices = [
        HistogramSlice("latency_us", float(t), 1.0, 10, encoded(np.full(10, 1e3 * (t + 1))))
        for t in (1, 0)
    ]
    run.append(record(1), (), slices)
    run.append(record(2))
    table = run.histograms()
    assert list(table["trial"]) == [1, 1]
    over_time = series(table)
    assert list(over_time["t_s"]) == [0, 1]
    assert list(over_time["p50_ms"]) == pytest.approx([1, 2], rel=1e-3)
    run.write_tables()
    assert (run.folder / "histograms.parquet").is_file()


@pytest.mark.parametrize(
    "text", ["", "x", "HISTFAAA", encoded(LATENCIES_US)[:-40], encoded(LATENCIES_US)[40:]]
)
def test_a_damaged_histogram_is_told(text):
    with pytest.raises(
        StoreError, match=r"A histogram of the run is damaged.*histograms\.jsonl back from a copy"
    ):
        merged([encoded(LATENCIES_US), text])
