import os
import signal
import sys

import pytest
from disturbance import GENERATOR, undisturbed
from servers import free_port

from deadzone.errors import StudyError, WorkloadError
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.report import SweepReport
from deadzone.report.sweep.source import load_source
from deadzone.store.histograms import merged, series

SERVER = ["{python}", "programs/websocket_server.py", "--port", "{port}"]
POOLS = [*SERVER, "--inbound-pool", "{pool_size}", "--outbound-pool", "{pool_size}"]
LIGHT = ["--wait-ms", 3, "--hash-kib", 1, "--outbound-wait-ms", 3, "--outbound-hash-kib", 1]

MESSAGES = {
    "kind": "load", "protocol": "websocket", "url": "{service_url}/?room={room}",
    "body": "hello {id}", "connections": 40, "room_size": 5, "fan_out": 5,
    "reply_contains": "reply", "duration_s": 1, "drain_s": 0.5,
}  # fmt: skip
ONCE = {"replicates": 1, "warmup": 0}


DIES = """
import itertools, os, runpy, sys
sys.path.insert(0, "programs")
from websocket_pools import Pool
tasks, submit = itertools.count(), Pool.submit
Pool.submit = lambda pool, task: os._exit(9) if next(tasks) == 300 else submit(pool, task)
sys.argv = ["server", "--port", "{port}"]
runpy.run_module("websocket_server", run_name="__main__")
"""
"""The bundled server, ending at its 300th task: each message is one, and five are its copies."""


@pytest.fixture
def pools(write_study):
    """Write a study of the bundled server."""

    def write(factors, argv=(*POOLS, *LIGHT), **keys):
        own = {"service": {"argv": list(argv)}, "factors": factors, "design": ONCE}
        workload = {**MESSAGES, **keys.pop("workload", {})}
        return write_study("pools", workload=workload, **own, **keys)

    return write


@pytest.mark.night
@pytest.mark.alone("it measures response times at a rate")
def test_a_pool_that_is_too_small_starves_its_broadcasts(pools, sweep, traces, alive):
    study = pools({"pool_size": [1, 8], "rate": [150]})
    trials = undisturbed(
        lambda: sweep(study).trials().groupby("pool_size").tail(1).set_index("pool_size"),
        lambda trials: trials["error"].str.contains(GENERATOR, na=False).any(),
    )
    assert list(trials["status"]) == ["ok", "ok"]
    # 150 messages a second make 750 copies of 3 ms each: 2.25 threads' work, so one thread sends
    # 333 a second at most.
    assert trials.loc[1, "broadcast_rate"] < 340
    assert trials.loc[8, "broadcast_rate"] > 500  # 750 on a machine without neighbours
    assert trials.loc[1, "broadcasts_missing"] > 0
    assert trials.loc[1, "broadcast_p50_ms"] > 5 * trials.loc[8, "broadcast_p50_ms"]
    assert trials.loc[8, "service_threads"] == 8 + 8 + 1
    assert trials.loc[8, "user_s"] > 0
    assert trials.loc[8, "client_cpu"] < 0.9


@pytest.mark.night
@pytest.mark.alone("it measures response times at a rate")
def test_the_rate_that_a_pool_bears_is_found_and_its_report_is_of_the_capacity(
    pools, deadzone, home
):
    """Each message waits 10 ms in a thread, so a thread bears 100 a second, whatever the machine
    computes meanwhile."""
    argv = [*SERVER, "--inbound-pool", "{pool_size}", "--wait-ms", 10, "--hash-kib", 0, "--outbound-wait-ms", 0, "--outbound-hash-kib", 0]  # fmt: skip  # noqa: E501
    load = {
        "room_size": 1,
        "fan_out": 1,
        "rate": {"find": "capacity", "from": 90, "within": 0.45},
        "duration_s": 0.7,
    }
    objectives = {"latency_p50_ms": {"at_most": 60}}
    path = pools({"pool_size": [1, 4]}, argv, workload=load, objectives=objectives)
    told = undisturbed(lambda: deadzone("sweep", path), lambda told: GENERATOR in told.err)
    assert told.code == 0, told.err
    source = load_source()
    found = source.analysed.set_index("pool_size")["capacity_rps"]
    assert source.response == "capacity_rps" and source.goal == "max"
    for pool_size in (1, 4):
        assert 60 * pool_size <= found[pool_size] <= 130 * pool_size
    assert set(source.trials["limited_by"]) == {"latency_p50_ms"}
    blocks = SweepReport(analyse(source)).section("adaptive")
    searches = next(one for one in blocks if getattr(one, "id", "") == "searches")
    assert len(searches.frame) == 2 and searches.frame.iloc[0, 0] == "pool_size=1"


RESTART = """
import os, signal, subprocess, sys, time
port, pool_size, note = sys.argv[1:]
if os.path.exists(note):
    os.kill(int(open(note).read()), signal.SIGKILL)
    time.sleep(0.2)
pools = ("--inbound-pool", pool_size, "--outbound-pool", pool_size, "--hash-kib", "1", "--outbound-hash-kib", "1")
argv = (sys.executable, "programs/websocket_server.py", "--port", port, *pools)
server = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
open(note, "w").write(str(server.pid))
"""  # noqa: E501
"""Changes the setting of a server that is up, as an operator's script does it: by a restart."""


def test_a_server_that_is_up_is_loaded_and_its_setting_changed_by_the_hook(
    write_study, sweep, tmp_path
):
    port, note = free_port(), tmp_path / "pid"
    study = write_study(
        service={
            "url": f"http://127.0.0.1:{port}",
            "hook": [sys.executable, "-c", RESTART, str(port), "{pool_size}", str(note)],
            "restart": "treatment",
        },
        workload=MESSAGES,
        factors={"pool_size": [2, 8], "rate": [20]},
        design=ONCE,
    )
    try:
        trials = undisturbed(
            lambda: sweep(study).trials().groupby("pool_size").tail(1).set_index("pool_size"),
            lambda trials: trials["error"].str.contains(GENERATOR, na=False).any(),
        )
    finally:
        os.kill(int(note.read_text()), signal.SIGKILL)
    assert list(trials["status"]) == ["ok", "ok"], trials["error"].tolist()
    assert trials["service_threads"].to_dict() == {2: 2 + 2 + 1, 8: 8 + 8 + 1}
    assert (trials["requests"] == 20).all()


def test_the_histograms_of_a_run_hold_every_latency(pools, sweep):
    run = sweep(pools({"rate": [100]}, [*SERVER, *LIGHT], workload={"warmup_s": 1}))
    table = run.histograms()
    (trial,) = run.trials().to_dict("records")
    measured = table[(table["metric"] == "latency_us") & (table["t_s"] >= 0)]
    assert merged(measured["histogram"]).get_total_count() == trial["requests"] == 100
    over_time = series(table)
    assert list(over_time["t_s"]) == [-1, 0]
    assert (run.folder / "histograms.parquet").is_file()


def test_a_service_that_crashes_fails_its_trial_and_the_journal_keeps_what_was_measured(
    pools, sweep
):
    path = pools({"rate": [50]}, ["{python}", "-c", DIES], workload={"duration_s": 2})
    run = sweep(path)
    (trial,) = run.trials().to_dict("records")
    assert trial["status"] == "failed"
    assert trial["error"].startswith("the service ended with exit code 9")
    assert "the client saw: " in trial["error"]
    assert 30 < trial["requests"] < 70
    assert trial["offered_rate"] == 50


def test_a_ramp_finds_how_many_connections_memory_holds(pools, sweep, quota):
    limit = 256 * 1024 * 1024
    path = pools(
        {"connection_rate": [25]},
        [*SERVER, "--session-kib", 8_192],
        workload={"mode": "ramp", "connections": 150, "fan_out": 0, "timeout_s": 2},
        target={"memory_limit": limit},
    )
    (trial,) = sweep(path).trials().to_dict("records")
    assert trial["status"] == "ok", trial["error"]
    assert trial["server_died"] == 1, trial
    assert trial["service_oom_kills"] >= 1
    assert limit * 0.8 < trial["service_memory_peak_bytes"] <= limit
    assert "out of memory" in trial["error"]
    # Each connection takes 8 MiB of 256 MiB, and the server itself some 40.
    assert 15 < trial["connections_held"] < 32


def test_no_load_goes_to_a_stranger_unless_the_study_says_so(write_study, sweep):
    workload = {"kind": "load", "url": "http://8.8.8.8/", "duration_s": 0.2}
    path = write_study("far", workload=workload, factors={"rate": [5]}, design=ONCE)
    with pytest.raises(WorkloadError, match=r"no load is sent there.*allow_remote: true"):
        sweep(path)


@pytest.mark.parametrize(
    ("keys", "words"),
    [({"workload": {"rate": None}, "factors": {"pool_size": [1]}}, "workload.rate is missing"),
     ({"factors": {"rate": [5, "none"]}}, "a number above zero"),
     ({"factors": {"rate": [0]}}, "a number above zero"),
     ({"factors": {"rate": [5]}, "workload": {"protocol": "http", "fan_out": 0, "on_open": []}},
      "room"),
     ({"factors": {"rate": [5]}, "workload": {"headers": {"X-Id": "{id}"}}}, "id"),
     ({"factors": {"rate": [5]}, "workload": {"headers": {"X-Id": "a\nb"}}}, "must match"),
     ({"factors": {"rate": [5]}, "workload": {"body": "{nothing}"}}, "nothing"),
     ({"factors": {"rate": [5]}, "workload": {"protocol": "stomp"}}, "send_to"),
     ({"factors": {"rate": [5]}, "workload": {"send_to": "/a"}},
      "which only the protocol stomp knows"),
     ({"factors": {"rate": [5]}, "workload": {"driver": "k6"}}, "needs a script"),
     ({"factors": {"rate": [5]}, "response": {"name": "latency_p98_ms"}}, "latency_p9")],
)  # fmt: skip
def test_a_study_that_cannot_be_measured_is_refused_before_anything_starts(
    pools, sweep, keys, words
):
    with pytest.raises(StudyError, match=words):
        sweep(pools(argv=[*POOLS] if "pool_size" in keys["factors"] else [*SERVER], **keys))
