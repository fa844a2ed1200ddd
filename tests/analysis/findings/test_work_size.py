import numpy as np
import pandas as pd
import pytest
from benchmarks.knob_names import listed

from deadzone import fit_phases
from deadzone.analysis.findings.experiment import Experiment
from deadzone.analysis.findings.fitting import examined, experiment_in
from deadzone.analysis.findings.work_size import _how
from deadzone.store.reference import reference_folder

SETTINGS = listed(
    "threads num_threads worker_threads OMP_NUM_THREADS GOMAXPROCS workers max_workers "
    "uvicorn_workers shared_buffers_mb effective_io_concurrency work_mem_mb pool_size "
    "hikari_maximum_pool_size max_connections clients connections concurrency batch_size "
    "insert_batch_rows rows_per_batch chunk_size block_size_kib buffer_bytes sndbuf_bytes "
    "cache_size_mb heap_gib compression_level zstd_level quality queue_depth iodepth "
    "prefetch_count fetch_size fetch_rows page_size window_bits max_open_files io_threads "
    "innodb_buffer_pool_size_gb checkpoint_timeout_s commit_interval_ms linger_ms shards "
    "partitions num_partitions replicas parallelism jobs make_jobs codegen_units unroll tile_size "
    "stripe_size readahead_kb cpu_limit memory_limit_bytes gc_percent GOGC stack_size ring_entries "
    "max_batch_messages messages_in_flight log_buffer_bytes "
)

WORKS = listed(
    "rows n_rows row_count num_rows total_records records record_count entries num_entries items "
    "n_items files file_count file_size file_size_mb input_size input_bytes input_mb data_size "
    "dataset_rows dataset_gb payload_bytes payload_size message_size messages message_count "
    "message_bytes matrix_size matrix_n problem_size iterations n_iterations repetitions documents "
    "num_docs keys num_keys elements num_elements vertices n_edges particles tokens image_size_mb "
    "table_rows requests request_count body_size_kb inserts array_length vector_length upload_mb "
    "transfer_size_mb scale_rows rate offered_rate arrival_rate rps requests_per_second target_qps "
)


SETTINGS += listed(
    "max_parallel_workers_per_gather random_page_cost autovacuum_naptime effective_cache_size "
    "maintenance_work_mem wal_buffers max_wal_size bgwriter_delay innodb_log_file_size "
    "table_open_cache thread_cache_size sort_buffer_size tmp_table_size key_buffer_size "
    "innodb_write_io_threads innodb_purge_batch_size write_buffer_size max_background_jobs "
    "block_cache_size target_file_size_base level0_file_num_compaction_trigger bloom_bits_per_key "
    "num_network_threads num_io_threads log_segment_bytes fetch_max_bytes max_poll_records "
    "socket_send_buffer_bytes replica_fetchers queued_max_requests worker_processes "
    "worker_connections keepalive_requests sendfile_max_chunk client_body_buffer_size maxmemory_mb "
    "hash_max_listpack_entries maxmemory_samples tcp_backlog ParallelGCThreads MaxGCPauseMillis "
    "G1HeapRegionSize TieredStopAtLevel ReservedCodeCacheSize executor_cores executor_memory_gb "
    "shuffle_partitions maxPartitionBytes broadcast_threshold_mb concurrent_reads "
    "concurrent_compactors memtable_heap_space_mb ramBufferSizeMB maxBufferedDocs merge_factor "
    "num_workers prefetch_factor inter_op_threads intra_op_threads gradient_accumulation_steps "
    "slices rc_lookahead refs bframes crf frame_threads tile_columns memLevel windowBits hashLog "
    "chainLog searchLog overlapLog dirty_ratio somaxconn tcp_rmem_max read_ahead_kb nr_requests "
    "sched_min_granularity_ns netdev_budget rmem_default OPENBLAS_NUM_THREADS nb_columns "
    "panel_width cache_blocking_kb max_requests_per_connection circuit_breaker_max_pending "
    "heartbeat_interval_ms snapshot_count max_inflight_msgs refresh_interval_s number_of_shards "
    "bulk_actions translog_flush_threshold_mb max_num_seqs max_num_batched_tokens "
    "gpu_memory_utilization kv_cache_block_size pack_window delta_cache_limit big_file_threshold "
    "index_threads cache_spill mmap_size wal_autocheckpoint busy_timeout max_block_size "
    "min_insert_block_size_rows merge_max_block_size index_granularity max_insert_threads "
    "uncompressed_cache_size row_group_size wiredTigerCacheSizeGB oplog_size_mb channel_max "
    "consumer_prefetch maxconn nbthread tune_bufsize thread_pool_min workspace_client "
    "slab_chunk_max growth_factor item_size_max taskmanager_slots network_buffers_per_channel "
    "checkpoint_interval task_concurrency max_drivers_per_task hash_partition_count io_sort_mb "
    "io_sort_factor dfs_blocksize mapreduce_reduces block_dim_x grid_blocks items_per_thread "
    "shared_mem_kb unroll_factor eager_limit ranks ranks_per_node subme me_range keyint "
    "bframe_bias cpu_used lag_in_frames tile_rows block_length blocking_factor inline_threshold "
    "parallel_loaders narenas lg_tcache_max arena_max mmap_threshold gc_generation0 "
    "uv_threadpool_size max_old_space_mb pm_max_children opcache_memory_mb threads_per_worker "
    "worker_prefetch_multiplier autoscale_max max_partition_fetch_bytes fetch_min_bytes "
    "learning_rate dropout_rate num_heads hidden_dim beam_width n_estimators max_depth num_leaves "
    "timer_slack_ns swappiness nr_hugepages rps_flow_entries tx_queue_len ring_rx initcwnd mss "
    "stripe_width raid_chunk_kb inode_size journal_size_mb sample_rate_hz frame_rate bit_rate_kbps "
    "scrape_interval "
)

MEASURED = listed(
    "recordcount operationcount fieldlength scale_factor warehouses table_size tables_rows nrfiles "
    "filesize_gb range_x n_elems num_elems input_len haystack_bytes string_length word_count "
    "log_lines json_bytes corpus_mb csv_rows n_points npoints ndocs nrows nnz grid_points "
    "grid_size mesh_cells n_bodies n_atoms natoms timesteps num_timesteps n_particles num_samples "
    "n_samples n_features seq_len sequence_length context_length prompt_tokens num_prompts "
    "output_tokens num_images image_pixels video_seconds clip_frames polygons n_reads read_count "
    "genome_mb num_variants n_objects object_size_kb blob_mb msg_len msg_size_bytes body_bytes "
    "payload_kb n_inserts n_queries num_events total_ops num_ops n_tasks n_files dir_entries "
    "commit_count source_lines graph_nodes n_vertices polynomial_degree modulus_bits key_count "
    "value_size_bytes doc_size_kb batchless_rows archive_mb dump_size_gb arrivals_per_second "
    "msgs_per_sec events_per_second offered_load_rps target_rps requests_per_sec "
    "queries_per_second publish_rate ingest_rate injection_rate constant_arrival_rate tx_rate "
    "call_rate connections_per_second lookups_per_second orders_per_second clicks_per_second "
    "tps_target write_rate update_rate login_rate job_arrival_rate packets_per_second msgs_s "
    "rate_rps traffic_rps ingress_qps peak_rps target_throughput_rps scrapes_per_second spawn_rate "
    "users_per_second tx_per_s inserts_per_s "
)
"""Sizes of work and loads, and more settings above, that `benchmarks/knob_names.py` had measured
when the rule was changed."""


def curve(knob: str, in_proportion: bool) -> pd.DataFrame:
    x = np.tile([1, 2, 4, 8, 16, 32], 3)
    y = 0.05 + 0.4 * x if in_proportion else 10 / np.minimum(x, 8)
    noise = np.exp(0.01 * np.random.default_rng(1).standard_normal(len(x)))
    return pd.DataFrame({knob: x, "time_s": y * noise})


@pytest.mark.night
def test_settings_and_sizes_of_work_are_told_by_their_names():
    """At most 2 % of the knobs are taken for work, and 5 % of the work for a knob."""
    tried = [(name, way) for name in SETTINGS for way in (False, True)]
    taken = [name for name, way in tried if how(curve(name, way)).startswith(TAKEN)]
    missed = [name for name in WORKS if not how(curve(name, "r" not in name)).startswith(TAKEN)]
    assert len(SETTINGS) >= 60 and len(WORKS) >= 60
    assert len(taken) <= 0.02 * 2 * len(SETTINGS), taken
    assert len(missed) <= 0.05 * len(WORKS), missed
    unasked = [name for name in MEASURED if not how(curve(name, True))]
    assert len(unasked) <= 0.05 * len(MEASURED), unasked


TAKEN = ("named", "load", "grows", "repeated")


def test_the_unit_of_its_levels_may_say_that_a_knob_is_work():
    heap = {"heap size": ["1,000 objects", "10,000 objects", "50,000 objects"]}
    assert how(pd.DataFrame({**heap, "gc_s": [17, 150, 1600]})) == "asked_grows"
    assert not how(pd.DataFrame({**heap, "gc_s": [17, 16, 20]}))
    sizes = ["2 KiB", "64 KiB", "1 MiB", "16 MiB"]
    assert how(pd.DataFrame({"input": sizes, "gc_s": [4, 3, 2, 2]})) == "named"
    assert not how(pd.DataFrame({"arena": sizes, "gc_s": [4, 3, 2, 2]}))


SIZED_PARTS = listed(
    "input_split upload_part file_part file_extent table_extent array_padding data_align data_unit "
    "matrix_panel image_strip file_roll text_piece input_lookahead document_splits"
)


def test_a_part_of_data_in_bytes_is_a_setting_and_the_whole_of_it_is_work():
    sizes, seconds = ["4 MB", "8 MB", "16 MB", "32 MB", "64 MB"], [10, 7, 5, 4.5, 5.2]
    said = {name: how(pd.DataFrame({name: sizes, "time_s": seconds})) for name in SIZED_PARTS}
    assert said == dict.fromkeys(SIZED_PARTS, "")
    for name in ("input", "payload", "file", "input_data", "input_split_size"):
        assert how(pd.DataFrame({name: sizes, "time_s": seconds})) == "named"


def test_a_rate_that_repeats_the_knob_says_that_it_is_a_load_and_what_the_capacity_is():
    """Throughput of YCSB over the target that it was given."""
    target = [200, 500, 1000, 2500, 5000, 10000, 20000]
    throughput = [199.6, 499.0, 998.1, 2341.5, 2303.0, 2432.3, 2656.0]
    table = pd.DataFrame({"target": target, "throughput": throughput})
    advice = fit_phases(table, "target", "throughput").recommend()
    assert advice.setting is None
    assert "The capacity is about 2,500" in advice.reason and "target 2500 on" in advice.reason
    assert how(table.rename(columns={"throughput": "speedup"}), "max") == ""
    assert how(table.rename(columns={"target": "threads"}), "max") == ""
    assert how(table.iloc[:2], "max") == ""


def test_threads_that_may_bring_their_own_work_keep_their_setting_with_a_doubt():
    table = pd.DataFrame({"ThreadCount": [2, 4], "Mean": ["1.086 ms", "2.084 ms"]})
    seen = experiment_in(table, "ThreadCount", "Mean", None, ())
    assert (seen.goal_from, _how(seen)) == ("cells", "asked_grows")
    result = examined(seen).recommend()
    assert result.setting == 2 and "each of ThreadCount brings its own" in result.doubt


@pytest.mark.parametrize(
    ("knob", "response", "latencies", "is_doubted"),
    [("Clients", "Latency (ms)", [0.030, 0.035, 0.044, 0.052, 0.115], True),
     ("Concurrency", "p99", [0.62, 2.39, 21.7, 1063, 2962], True),
     ("Threads", "S-P99", [53.5, 58.1, 85.3, 238, 964], True),
     ("Threads", "Mean time (s)", [0.030, 0.035, 0.044, 0.052, 0.115], False),
     ("Batch Size", "Total Latency", [1458, 1900, 2600, 4000, 6078], True),
     ("Concurrency", "p99", [2.4, 2.1, 2.3, 2.6, 5.0], False),  # the second level is better
     ("max_connections", "Latency (ms)", [0.030, 0.035, 0.044, 0.052, 0.115], False),
     ("并发数", "TTFT (ms)", [26.7, 35, 44, 120, 962], True),
     ("Clients", "build time (s)", [3, 3.1, 3.2, 4.1, 9], False)],
)  # fmt: skip
def test_a_latency_that_grows_with_its_clients_is_doubted(knob, response, latencies, is_doubted):
    table = pd.DataFrame({knob: [1, 2, 4, 8, 16], response: latencies})
    result = examined(experiment_in(table, knob, response, None, ())).recommend()
    assert ("more is asked for at once" in result.doubt) == is_doubted


def test_a_latency_of_a_knob_that_is_said_to_be_a_setting_is_not_doubted():
    table = pd.DataFrame({"Clients": [1, 2, 4, 8, 16], "p99": [53.5, 58.1, 85.3, 238, 964]})
    seen = experiment_in(table, "Clients", "p99", None, (), role="setting")
    assert not examined(seen).recommend().doubt


@pytest.mark.parametrize("factor", ["Rows", "rate", "machine", "clients"])
def test_a_further_factor_that_is_work_is_reported_slice_by_slice(factor):
    rows = [(n, name, t * n) for n in (1000, 20000) for name, t in (("a", 2.0), ("b", 1.0))]
    table = pd.DataFrame(rows, columns=[factor, "Method", "time_ms"])
    result = examined(experiment_in(table, "Method", "time_ms", None, (factor,)))
    assert result.recommend().setting is None and f"{factor} is work" in result.recommend().reason
    assert [one.setting["Method"] for one in result.in_each_slice()] == ["b", "b"]
    own = examined(experiment_in(table, "Method", "time_ms", None, (factor,), role="setting"))
    assert own.recommend().setting == {factor: 1000, "Method": "b"}


def how(table: pd.DataFrame, goal: str = "min") -> str:
    return _how(Experiment(table, str(table.columns[0]), str(table.columns[1]), goal))


@pytest.mark.parametrize(
    ("option", "asked"), [("shared_buffers", ""), ("", "asked_name"), ("-s", "asked_name")]
)
def test_an_amount_behind_the_name_of_a_setting_is_one(option, asked):
    table = pd.DataFrame({"mb": [1, 16, 128], "achieved_rate": [6000.0, 5900.0, 6100.0]})
    assert _how(Experiment(table, "mb", "achieved_rate", "max", option=option)) == asked


def test_the_sweeps_that_people_published_are_told_apart():
    folder = reference_folder() / "published-curves"
    index = pd.read_csv(folder / "index.csv")
    for row in index.itertuples(index=False):
        said = how(pd.read_csv(folder / "cases" / f"{row.name}.csv"), row.goal)
        assert bool(said) == (row.is_work_size == "yes"), row.name


@pytest.mark.parametrize("knob", ["size", "rate"])
def test_no_level_of_a_size_of_work_is_recommended_and_the_curve_is(knob):
    model = fit_phases(curve(knob, True), knob, "time_s")
    advice = model.recommend()
    assert advice.setting is None and advice.state == "no_setting" and len(model.phases) >= 1
    assert "--role" in advice.reason
    as_setting = fit_phases(curve(knob, True), knob, "time_s", role="setting").recommend()
    assert as_setting.setting == 1 and not as_setting.doubt


def test_what_may_be_work_is_asked_in_the_sentence_of_the_setting():
    asked = fit_phases(curve("n", True), "n", "time_s").recommend()
    assert asked.setting == 1 and "in proportion to n" in asked.doubt and asked.probability is None
    assert not fit_phases(curve("n", False), "n", "time_s").recommend().doubt
    assert fit_phases(curve("n", True), "n", "time_s", role="work_size").recommend().setting is None
