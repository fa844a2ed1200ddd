"""How often the name of a setting is taken for the size of the work, and the other way round, on
names nobody made the rule with.

The settings are options of programs (librdkafka, RocksDB, Cassandra, Lucene, CUDA, OpenMP, the JVM,
InnoDB, Raft, nginx, TLS, Linux, x264, cgroups); the sizes of work and loads are parameters of
benchmarks of puzzles, hashing, rendering, builds, parsing, data structures, graphs, genomics,
book-keeping, maps, audio and load tests. The rule was changed twice after other such lists had been
measured: of the second 9.6 % of the settings with a time in proportion were taken for work. These
names were written down after the second change; measured once, 9.9 % of the sizes of work with a
time in proportion got no question, and one is since put where a word for work stands beside one of
a setting. A setting has two curves: a time in proportion to it from the first level on, and one
that gains and then stays; a size of work a time in proportion, and one of which the start is most;
a load a response time that rises where the program is full, and the rate that it answers.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from deadzone.analysis.findings.examining import examine
from deadzone.analysis.findings.experiment import Experiment

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "knob_names.md"
SEED = 20261202
MOST_TAKEN, MOST_MISSED = 0.02, 0.05
"""Wanted: settings taken for work, and work taken for a setting."""


def listed(names: str) -> list[str]:
    """The names in a text."""
    return names.split()


SETTINGS = listed(
    "num_consumers acks_timeout_ms batch_num_messages_max queue_buffering_max_kbytes "
    "wal_bytes_per_sync stats_dump_period max_subcompactions arena_block_size rate_limit_mb_s "
    "vnodes gossip_interval hinted_handoff_throttle_kb row_cache_size_mb concurrent_writes "
    "mempool_capacity gas_limit fanout lru_size bloom_fp_rate merge_policy_ratio segments_per_tier "
    "term_index_interval search_threads reduce_batch_size kernel_tile_k warp_count stages "
    "vector_width simd_lanes omp_chunk numa_nodes huge_page_kb gc_threads survivor_ratio "
    "young_gen_mb eden_size_mb code_cache_mb inline_depth loop_unroll_limit tier2_threshold "
    "fsync_interval_ms group_commit_delay_us txn_buffers undo_segments redo_log_mb "
    "undo_tablespaces lock_table_slots spin_wait_delay adaptive_hash_parts read_ahead_pages "
    "flush_neighbors cleaner_threads doublewrite_pages zone_size quorum raft_max_batch "
    "proxy_buffers upstream_keepalive gzip_level brotli_window http2_streams tls_session_cache "
    "backlog sndbuf interrupt_coalesce_us rx_ring napi_budget rss_queues qdisc_limit "
    "dirty_background_kb io_scheduler_depth lookahead_frames gop_size me_method aq_strength "
    "dct_threads trellis deadline cpu_quota_percent memory_high_mb"
)

WORKS = listed(
    "n_cities sudoku_count puzzle_size hash_iterations kdf_rounds sha_bytes rsa_bits primes_upto "
    "fft_length signal_samples n_bins image_mpix photo_count thumbnails scene_objects "
    "mesh_triangles light_count spheres ray_depth_images poems_count lines_of_code loc n_modules "
    "translation_units unit_tests assertions yaml_kb config_entries template_items dom_nodes "
    "html_elements css_rules js_bytes bundle_mb regex_text_kb needle_haystack_mb sort_elements "
    "list_len array_size map_entries tree_keys heap_items queue_messages linked_list_nodes "
    "string_bytes matrix_rows matrix_cols sparse_nnz edges_millions graph_vertices social_users "
    "papers citations proteins amino_acids reads_m sequence_bp alignments snps cohort_size "
    "patients survey_responses invoices ledger_entries payments log_lines_k access_logs "
    "telemetry_points gps_points tiles_rendered map_features wav_seconds audio_files "
    "dataset_rows_m table_mb csv_mb parquet_rows json_docs backup_files restore_gb tar_entries"
)

LOADS = listed(
    "jobs_per_second payments_per_second reads_per_s writes_per_s ops_per_sec calls_per_sec "
    "logins_per_minute produce_rate consume_rate poisson_rate attack_rate hits_per_second "
    "sessions_per_second open_loop_rps load_qps target_tps publish_msgs_per_s emails_per_minute "
    "crawl_rate"
)


CURVES = {
    "a time in proportion": ("time_s", "min", lambda x: 0.05 + 0.4 * x),
    "a time that gains, then stays": ("time_s", "min", lambda x: 10 / np.minimum(x, 8)),
    "a time of which the start is most": ("time_s", "min", lambda x: 2 + 0.05 * x),
    "a response time that rises": (
        "latency_p99_ms",
        "min",
        lambda x: 5 + 40 / np.maximum(36 - x, 1),
    ),
    "the rate that is answered": ("achieved_rate", "max", lambda x: np.minimum(x, 20.0)),
}
"""What is measured over the knob, which way is better, and its values over 1 to 32; three trials a
level."""


def curve(knob: str, shape: str, rng: np.random.Generator) -> Experiment:
    """A sweep of the knob."""
    response, goal, values = CURVES[shape]
    x = np.tile([1, 2, 4, 8, 16, 32], 3)
    noise = np.exp(0.01 * rng.standard_normal(len(x)))
    return Experiment(pd.DataFrame({knob: x, response: values(x) * noise}), knob, response, goal)


def judged(names: list[str], shape: str) -> dict[str, str]:
    """What becomes of each name: `taken` for work, `asked` about, or `setting`."""
    rng = np.random.default_rng([SEED, *shape.encode()])
    found = {}
    for name in names:
        told = [one for one in examine(curve(name, shape, rng)) if one.key == "work_size"]
        found[name] = "setting" if not told else "taken" if told[0].withholds else "asked"
    return found


def _row(what: str, names: list[str], shape: str) -> tuple[str, str]:
    """A row of the page, and the names that are taken for what they are not."""
    found = judged(names, shape)
    mistake = "taken" if what == "settings" else "setting"
    wrong = [name for name, how in found.items() if how == mistake]
    count = " | ".join(
        str(sum(one == how for one in found.values())) for how in ("taken", "asked", "setting")
    )
    row = f"| {what} | {shape} | {len(names)} | {count} | {len(wrong) / len(names):.1%} |"
    return row, f"- {what}, {shape}: {', '.join(wrong) or 'none'}"


def main() -> None:
    """Measure, and write the page."""
    proportion, gains, starts, rises, answers = CURVES
    cases = (("settings", SETTINGS, (proportion, gains)), ("sizes of work", WORKS, (proportion, starts)),  # noqa: E501
             ("loads", LOADS, (rises, answers)))  # fmt: skip
    rows, mistaken = zip(
        *(_row(what, names, one) for what, names, shapes in cases for one in shapes), strict=True
    )
    intro = " ".join((__doc__ or "").split("\n\n", 1)[1].split())
    PAGE.write_text(
        "\n".join(
            [
                "# Names of knobs: a setting, or the size of the work", "", intro, "",
                f"Wanted: at most {MOST_TAKEN:.0%} of the settings taken for work, and " f"{MOST_MISSED:.0%} of the " f"work " f"for " f"a"  # noqa: E501
                " setting without a question. Made by `benchmarks/knob_names.py`.", "",
                "| names | curve | names | taken for work | asked about | taken for a setting | " "wrong |",  # noqa: E501
                "| --- | --- | --- | --- | --- | --- | --- |", *rows, "", "Wrong:", "", *mistaken, "",  # noqa: E501
            ]
        )
    )  # fmt: skip
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
