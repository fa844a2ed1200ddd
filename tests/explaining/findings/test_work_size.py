"""How much work there is, or how much load, is no setting; a knob of a program is one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from deadzone import fit_phases
from deadzone.explaining.findings.experiment import Experiment
from deadzone.explaining.findings.work_size import _how
from deadzone.store.reference import reference_folder

SETTINGS = [
    "threads",
    "num_threads",
    "worker_threads",
    "OMP_NUM_THREADS",
    "GOMAXPROCS",
    "workers",
    "max_workers",
    "uvicorn_workers",
    "shared_buffers_mb",
    "effective_io_concurrency",
    "work_mem_mb",
    "pool_size",
    "hikari_maximum_pool_size",
    "max_connections",
    "clients",
    "connections",
    "concurrency",
    "batch_size",
    "insert_batch_rows",
    "rows_per_batch",
    "chunk_size",
    "block_size_kib",
    "buffer_bytes",
    "sndbuf_bytes",
    "cache_size_mb",
    "heap_gib",
    "compression_level",
    "zstd_level",
    "quality",
    "queue_depth",
    "iodepth",
    "prefetch_count",
    "fetch_size",
    "fetch_rows",
    "page_size",
    "window_bits",
    "max_open_files",
    "io_threads",
    "innodb_buffer_pool_size_gb",
    "checkpoint_timeout_s",
    "commit_interval_ms",
    "linger_ms",
    "shards",
    "partitions",
    "num_partitions",
    "replicas",
    "parallelism",
    "jobs",
    "make_jobs",
    "codegen_units",
    "unroll",
    "tile_size",
    "stripe_size",
    "readahead_kb",
    "cpu_limit",
    "memory_limit_bytes",
    "gc_percent",
    "GOGC",
    "stack_size",
    "ring_entries",
    "max_batch_messages",
    "messages_in_flight",
    "log_buffer_bytes",
]

WORKS = [
    "rows",
    "n_rows",
    "row_count",
    "num_rows",
    "total_records",
    "records",
    "record_count",
    "entries",
    "num_entries",
    "items",
    "n_items",
    "files",
    "file_count",
    "file_size",
    "file_size_mb",
    "input_size",
    "input_bytes",
    "input_mb",
    "data_size",
    "dataset_rows",
    "dataset_gb",
    "payload_bytes",
    "payload_size",
    "message_size",
    "messages",
    "message_count",
    "message_bytes",
    "matrix_size",
    "matrix_n",
    "problem_size",
    "iterations",
    "n_iterations",
    "repetitions",
    "documents",
    "num_docs",
    "keys",
    "num_keys",
    "elements",
    "num_elements",
    "vertices",
    "n_edges",
    "particles",
    "tokens",
    "image_size_mb",
    "table_rows",
    "requests",
    "request_count",
    "body_size_kb",
    "inserts",
    "array_length",
    "vector_length",
    "upload_mb",
    "transfer_size_mb",
    "scale_rows",
    "rate",
    "offered_rate",
    "arrival_rate",
    "rps",
    "requests_per_second",
    "target_qps",
]


def curve(knob: str, in_proportion: bool) -> pd.DataFrame:
    x = np.tile([1, 2, 4, 8, 16, 32], 3)
    y = 0.05 + 0.4 * x if in_proportion else 10 / np.minimum(x, 8)
    return pd.DataFrame(
        {knob: x, "time_s": y * np.exp(0.01 * np.random.default_rng(1).standard_normal(len(x)))}
    )


def test_settings_and_sizes_of_work_are_told_by_their_names():
    """At most 2 % of the knobs are taken for work, and 5 % of the work for a knob."""
    taken = [name for name in SETTINGS for way in (False, True) if how(curve(name, way)).startswith(TAKEN)]
    missed = [name for name in WORKS if not how(curve(name, "r" not in name)).startswith(TAKEN)]
    assert len(SETTINGS) >= 60 and len(WORKS) >= 60
    assert len(taken) <= 0.02 * 2 * len(SETTINGS), taken
    assert len(missed) <= 0.05 * len(WORKS), missed


TAKEN = ("named", "load", "grows")


def how(table: pd.DataFrame, goal: str = "min") -> str:
    return _how(Experiment(table, str(table.columns[0]), str(table.columns[1]), goal))


def test_the_sweeps_that_people_published_are_told_apart():
    folder = reference_folder() / "published-curves"
    index = pd.read_csv(folder / "index.csv")
    found = {
        row.name: (
            row.is_work_size == "yes",
            how(pd.read_csv(folder / "cases" / f"{row.name}.csv"), row.goal),
        )
        for row in index.itertuples(index=False)
    }
    assert [name for name, (is_work, said) in found.items() if not is_work and said] == []
    assert [name for name, (is_work, said) in found.items() if is_work and not said] == []


@pytest.mark.parametrize("knob", ["rows", "size", "rate"])
def test_no_level_of_a_size_of_work_is_recommended_and_the_curve_is(knob):
    model = fit_phases(curve(knob, True), knob, "time_s")
    advice = model.recommend()
    assert advice.setting is None and not advice.is_stopped and len(model.phases) >= 1
    assert "--role" in advice.reason and "A unit takes" in advice.reason
    as_setting = fit_phases(curve(knob, True), knob, "time_s", role="setting").recommend()
    assert as_setting.setting == 1 and not as_setting.doubt


def test_what_may_be_work_is_asked_in_the_sentence_of_the_setting():
    asked = fit_phases(curve("n", True), "n", "time_s").recommend()
    assert asked.setting == 1 and "in proportion to n" in asked.doubt and asked.probability is None
    assert not fit_phases(curve("n", False), "n", "time_s").recommend().doubt
    assert fit_phases(curve("n", True), "n", "time_s", role="work_size").recommend().setting is None
