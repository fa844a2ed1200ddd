import os
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import needs
from servers import postgres_programs, redis_client

from deadzone.errors import StudyError
from deadzone.run.targets.undo_log import STATE_VARIABLE
from deadzone.study.service_specs import DataSpec
from deadzone_services.settings import Data, as_user, same_value


def asked(redis, name="hz"):
    """The value of a setting of a Redis."""
    argv = [needs("redis-cli"), "-p", str(redis.port), "config", "get", name]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()[-1]


def study_of(write_study, redis, levels=(20, 50), replicates=1, argv=("sleep", "0.02"), **more):
    cli = [needs("redis-cli"), "-p", "{port}"]
    service = {
        "url": f"tcp://127.0.0.1:{redis.port}",
        "hook": [*cli, "config", "set", "hz", "{hz}"],
        "read_back": {"factor": "hz", "argv": [*cli, "config", "get", "hz"], "regex": r"^(\d+)$"},
        "restore": [*cli, "config", "set", "hz", "10"],
        "ready": {"argv": [*cli, "ping"], "timeout_s": 2},
        **more,
    }
    factors = {"hz": list(levels)}
    return write_study(argv=argv, service=service, factors=factors, replicates=replicates)


@pytest.mark.alone("it measures a server at two settings")
def test_a_setting_is_changed_read_back_and_given_back(redis, write_study, sweep):
    client = redis_client("{port}", 20_000)
    trials = sweep(study_of(write_study, redis, argv=client)).trials()
    assert (trials["status"] == "ok").all()
    assert (trials["cpu_efficiency"] > 0.1).all() and (trials["client_cpu_s"] > 0).all()
    assert asked(redis) == "10"


def test_a_setting_that_does_not_take_is_a_failed_trial_that_says_so(redis, write_study, sweep):
    trials = sweep(study_of(write_study, redis, levels=(50, 5000))).trials().set_index("hz")
    assert trials.loc[50, "status"] == "ok"
    not_taken = "the setting did not take: hz is 500 where 5000 was asked for"
    assert trials.loc[5000, "error"] == not_taken
    assert asked(redis) == "10"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_after_an_end_in_the_middle_the_setting_is_given_back(
    number, redis, write_study, start, deadzone
):
    running = start("sweep", study_of(write_study, redis, replicates=200))
    running.wait_for(lambda: running.trials() >= 2, "two trials")
    assert asked(redis) != "10"
    os.kill(running.pid, number)
    running.process.wait()
    if number == signal.SIGKILL:  # by this one, or by a sweep of another test that tidies up first
        assert deadzone("restore").code == 0
    assert asked(redis) == "10"


def test_a_hook_that_fails_stops_the_sweep_and_gives_back(redis, write_study, deadzone):
    hook = ["sh", "-c", "echo no such setting >&2; exit 3", "{hz}"]
    said = deadzone("sweep", study_of(write_study, redis, hook=hook, replicates=3), code=3)
    assert "service.hook failed with exit code 3" in said.err and "no such setting" in said.err
    assert asked(redis) == "10"


def test_a_server_that_does_not_come_back_after_a_hook_is_said(
    redis, write_study, deadzone, monkeypatch, tmp_path
):
    # the note stays: the server never comes back
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    hook = ["sh", "-c", f"kill -9 {redis.pid} {{hz}} 2>/dev/null; true"]
    ready = {"timeout_s": 0.3}
    said = deadzone("sweep", study_of(write_study, redis, hook=hook, ready=ready, replicates=3))
    assert said.code != 0 and "was not ready within 0.3 s" in said.err
    assert "start a new run" in said.err


def test_a_factor_that_is_read_back_and_is_none_is_refused(redis, write_study, deadzone):
    study = study_of(write_study, redis, read_back={"factor": "hzz", "argv": ["true"]})
    said = deadzone("sweep", study, code=2)
    assert "Did you mean `hz`?" in said.err


def test_a_postgresql_runs_as_its_user_on_a_fresh_copy_of_its_data(write_study, sweep, tmp_path):
    if os.geteuid():
        pytest.skip("only root may run programs as another user")
    programs, pgbench = postgres_programs(), needs("pgbench")
    make = f"""{programs}/initdb -D {{inputs}} -A trust -U postgres --no-sync >/dev/null &&
        {programs}/pg_ctl -D {{inputs}} -w -o '-k {{inputs}} -c listen_addresses=' -l /dev/null start >/dev/null &&
        {pgbench} -q -i -h {{inputs}} -U postgres postgres 2>/dev/null && {programs}/pg_ctl -D {{inputs}} stop >/dev/null"""  # noqa: E501
    there = ["-h", "127.0.0.1", "-p", "{port}"]
    as_user = [*there, "-U", "postgres"]
    started = ["-D", "{data}", "-p", "{port}", "-k", "{scratch}", "-c", "fsync=off"]
    buffers = ["-c", "shared_buffers={shared_buffers}"]
    asked = ["psql", *as_user, "-Atc", "show shared_buffers"]
    study = write_study(
        service={
            "user": "postgres",
            "setup": ["sh", "-c", make],
            "argv": [f"{programs}/postgres", *started, *buffers],
            "data": {"fresh": "copy"},
            "ready": {"argv": [f"{programs}/pg_isready", *there]},
            "read_back": {"factor": "shared_buffers", "argv": asked},
        },
        argv=[pgbench, *as_user, "-n", "-t", 50, "postgres"],
        replicates=1,
        workload={"output": "pgbench"},
        factors={"shared_buffers": ["16MB", "32MB"]},
        response={"name": "achieved_rate", "unit": "1/s", "goal": "max"},
    )
    trials = sweep(study).trials()
    assert (trials["status"] == "ok").all(), trials["error"].tolist()
    assert (trials["achieved_rate"] > 0).all()


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [("16.0", "16", True), ("on", "on", True), ("on", "off", False), ("500", "5000", False),
     ("1GB", "1024MB", True), ("1MiB", "1048576", True), ("", "1", False)],
)  # fmt: skip
def test_values_are_compared_by_what_they_mean(found, wanted, same):
    assert same_value(found, wanted) is same


@given(st.integers(0, 10**12), st.sampled_from("kMG"))
def test_a_number_and_its_size_are_the_same(number, letter):
    assert same_value(str(number), f" {number}.0 ")
    assert same_value(f"{number}{letter}B", str(number * 1024 ** " kMG".index(letter)))


def test_an_unknown_user_is_named_with_the_nearest():
    with pytest.raises(StudyError, match="Did you mean `root`"):
        as_user("rooot", ["true"])


def test_a_copy_of_the_data_is_fresh_and_goes_away(tmp_path):
    prepared, nowhere = tmp_path / "prepared", Path("nowhere")
    prepared.mkdir()
    (prepared / "file").write_text("prepared")
    data = Data(DataSpec(folder="prepared"), tmp_path)
    (data.ready(nowhere, None) / "file").write_text("changed")
    assert (data.ready(nowhere, None) / "file").read_text() == "prepared"
    data.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["prepared"]
    reused = Data(DataSpec(folder="prepared", fresh="reuse"), tmp_path)
    assert reused.ready(nowhere, None) == prepared
