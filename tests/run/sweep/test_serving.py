import os
import signal
import socket
import sys
from pathlib import Path

import psutil
import pytest
from waiting import wait_for

from deadzone.errors import SweepError
from deadzone.run.sweep.opening import open_run, planned_file
from deadzone.store.run import LOGS, list_runs
from deadzone.store.table import ACCOUNT
from deadzone_services.service import free_port

SERVER = Path(__file__).parents[2] / "packs" / "services" / "misbehaving.py"
CRASHED = "service not ready: the service ended with exit code 1; the end of its log"
BY_CURL = {"kind": "http", "url": "{service_url}/"}


def service(fault="burn", **keys):
    return {
        "argv": ["{python}", "-S", str(SERVER), "{port}", fault],
        "ready": {"path": "/health", "timeout_s": 20},
        **keys,
    }


@pytest.fixture
def study(write_study):
    """A service in two environments that differ in their CPU limit."""

    def write(fault="burn", **keys):
        environments = {"limited": {"target": {"cpu_limit": 0.25}}, "unlimited": {}}
        own = {"service": service(fault), "environments": environments, "workload": BY_CURL}
        design = {"factors": {}, "design": {"replicates": 2}, "response": {"name": "total_s"}}
        return write_study(**{**own, **design, **keys})

    return write


@pytest.mark.alone("it measures response times and the CPU of others")
def test_environments_are_interleaved_and_the_limited_one_is_slow_and_throttled(
    quota, study, sweep, traces
):
    """What each service uses is its own, and not of others besides."""
    run = sweep(study())
    trials = run.trials()
    assert trials["status"].eq("ok").all(), trials["error"].tolist()
    blocks = [set(block) for _, block in trials.groupby("block")["environment"]]
    assert blocks == [{"limited", "unlimited"}] * 2
    by = trials.groupby("environment")
    assert by["total_s"].min()["limited"] > 0.6
    # neighbours may leave it less than its limit now and then
    assert by["nr_throttled"].max()["limited"] >= 1
    assert by["nr_throttled"].max()["unlimited"] == 0
    assert ((trials["user_s"] + trials["sys_s"]) > 0.25).all(), "the CPU is the service's"
    assert (trials["client_cpu_s"] < 0.1).all()
    assert trials["service_cpu_limit"].dropna().unique().tolist() == [0.25]
    assert (trials["wall_s"] == trials["total_s"]).all()
    assert (trials["service_start_s"] > 0).all()
    metrics = set(run.telemetry()["metric"])
    assert {"cpu_usage_s", "throttled_s", "service_rss_bytes", "service_threads"} <= metrics
    assert set(run.provenance()["environments"]) == {"limited", "unlimited"}
    own = trials["cpu_efficiency"] + trials["client_cpu_s"] / trials["wall_s"]
    used = (own + trials["foreign_cpu"])[trials["environment"] == "unlimited"]
    neighbours = psutil.cpu_percent(0.5) / 100 * (os.cpu_count() or 1)
    assert used.min() < 1.6 or neighbours > 0.4, "one thread has at most one core"
    assert traces(os.getpid()) == []


def test_the_account_of_time_is_the_services(study, sweep):
    """One thread that computes 0.3 s a request, and lives on between the trials of a treatment."""
    keys = {"environments": {"here": {}}, "design": {"replicates": 2}}
    run = sweep(study(service=service(restart="treatment"), **keys))
    trials = run.trials()
    parts = [*ACCOUNT][1:]
    assert trials[parts].notna().all(axis=None)
    used = trials["user_s"] + trials["sys_s"]
    assert trials[parts].sum(axis=1).tolist() == pytest.approx([*trials["threads_s"]], rel=0.01)
    assert trials["running_s"].tolist() == pytest.approx([*used], rel=0.2)
    assert (trials["running_s"] > 0.15).all()
    assert run.provenance()["account_source"]
    off = {"environments": {"here": {"target": {"account": False}}}, "design": {"replicates": 1}}
    assert "threads_s" not in sweep(study("none", **off)).trials()


def test_the_study_is_kept_with_its_environments(study):
    run = open_run(str(study(environments={"a": {"service": {"env": {"X": "1"}}}, "b": {}}))).run
    again = run.study()
    assert again.environments["a"].service.env == {"X": "1"}
    assert again.factor_names() == ("environment",)
    run.check_same_study(planned_file(run.folder / "study.yaml").study)


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [("crash", "failed", CRASHED), ("die", "failed", "the service ended with exit code 9"),
     ("error", "failed", "wrong status: 503"), ("hang", "timeout", "time-out")],
)  # fmt: skip
def test_a_failing_service_is_a_failed_trial_that_says_why(
    study, sweep, home, traces, fault, status, words
):
    workload = {**BY_CURL, "timeout_s": 0.5 if fault == "hang" else 20}
    path = study(fault, environments={"here": {}}, design={"replicates": 3}, workload=workload)
    with pytest.raises(SweepError, match="The last 3 trials failed"):
        sweep(path)
    (run,) = list_runs(home / "data" / "runs")
    trials = run.trials()
    assert trials["status"].tolist() == [status] * 3
    assert all(words in error for error in trials["error"])
    if fault in ("crash", "die"):
        assert len(list((run.folder / LOGS).glob("*.log"))) == 3
    assert traces(os.getpid()) == []


def test_a_kill_for_want_of_memory_is_told_as_such(quota, study, sweep, home):
    small = {"small": {"target": {"memory_limit": 100_000_000}}}
    path = study("eat", environments=small, design={"replicates": 3})
    with pytest.raises(SweepError, match="killed: out of memory"):
        sweep(path)
    trials = list_runs(home / "data" / "runs")[0].trials()
    assert trials["status"].tolist() == ["oom_killed"] * 3
    assert (trials["service_oom_kills"] >= 1).all()
    assert (trials["service_memory_limit_bytes"] == 100_000_000).all()


def test_any_program_can_be_the_client(study, sweep):
    code = "import sys, urllib.request; print(len(urllib.request.urlopen(sys.argv[1]).read()))"
    workload = {
        "kind": "command",
        "argv": [sys.executable, "-c", code, "{service_url}/"],
        "responses": {"size": {"regex": r"(\d+)"}},
    }
    keys = {"environments": {"here": {}}, "design": {"replicates": 1}}
    path = study(workload=workload, **keys, response={"name": "wall_s"})
    trials = sweep(path).trials()
    assert trials["size"].tolist() == [6]
    assert ((trials["user_s"] + trials["sys_s"]) > 0.25).all()


def test_a_factor_reaches_the_service_and_a_fixed_port_that_is_taken_fails_the_trial(
    study, write_study, sweep
):
    keys = {
        "service": service("{fault}"), "environments": {}, "factors": {"fault": ["none", "burn"]},
        "workload": BY_CURL, "design": {"replicates": 1},
    }  # fmt: skip
    trials = sweep(study(**keys)).trials().set_index("fault")
    assert trials.loc["burn", "total_s"] > trials.loc["none", "total_s"] + 0.2

    with socket.create_server(("127.0.0.1", 0)) as holder:
        keys["service"] = service("{fault}", port=holder.getsockname()[1])
        trials = sweep(write_study("taken", **keys)).trials()
    assert trials["status"].tolist() == ["failed", "failed"]
    assert all("port taken" in error for error in trials["error"])


def test_credentials_in_addresses_are_stored_nowhere(study, sweep, home):
    port = free_port("127.0.0.1")
    url = f"http://somebody:sesame@127.0.0.1:{port}"
    path = study(
        service={"url": url, "ready": {"timeout_s": 0.1}},
        environments={"elsewhere": {"url": f"{url}/?access_token=sesame"}},
        workload={**BY_CURL, "headers": {"Authorization": "Bearer sesame"}},
        design={"replicates": 1},
    )
    run = sweep(path)
    assert run.trials()["status"].tolist() == ["failed"]
    for file in run.folder.rglob("*"):
        assert file.is_dir() or b"sesame" not in file.read_bytes(), file


def test_killed_in_the_middle_the_service_is_gone_too(study, start, home, traces, alive, deadzone):
    started = start("sweep", str(study("hang", environments={"here": {}})))
    pids = started.wait_for(lambda: asking(), "a request")
    os.kill(started.pid, signal.SIGKILL)
    started.process.wait()
    wait_for(lambda: not any(map(alive, pids)), "some live on")
    assert deadzone("restore").code == 0
    assert traces(started.pid) == []


def asking():
    """Processes of the server and of its client, once there are both."""
    found = {}
    for one in psutil.process_iter(["cmdline"]):
        line = " ".join(one.info["cmdline"] or ())
        for word in (f"{SERVER}", "http_client"):
            if word in line:
                found.setdefault(word, []).append(one.pid)
    return [pid for pids in found.values() for pid in pids] if len(found) == 2 else None


@pytest.mark.parametrize(
    ("keys", "words"),
    [({"service": {"argv": ["x"]}}, "names no {port}"),
     ({"service": {"argv": ["x", "{prot}", "{port}"]}}, "{prot}"),
     ({"service": None}, "does not say how the service is reached"),
     ({"factors": {"environment": ["limited", "unlimted"]}}, "'unlimted' of environment"),
     ({"factors": {"service_url": [1]}}, "has the name of something else"),
     ({"factors": {"colour": [1]}}, "changes nothing"),
     ({"workload": {"kind": "http", "url": "{service}/"}}, "{service}"),
     ({"response": {"name": "first_byte_s"}}, "no trial measures"),
     ({"environments": {"bad": {"target": {"memory_limit": "much"}}}}, "a size such as 64MiB")],
)  # fmt: skip
def test_a_service_that_cannot_be_asked_is_refused_before_anything_starts(
    study, deadzone, home, keys, words
):
    study(**keys)
    said = deadzone("sweep", "probe", code=2)
    assert words in said.err
    assert not (home / "data").exists()
