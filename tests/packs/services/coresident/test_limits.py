import os
import signal
from pathlib import Path

import pytest
from servers import redis_client, redis_server

from deadzone.errors import TargetError
from deadzone.run.targets.limits.cgroup_v1 import CgroupV1, v1_homes
from deadzone.run.targets.limits.cgroup_v2 import own_v2_group


@pytest.fixture
def as_root(quota):
    """Where the control groups of others may be changed; a quota has to be the kernel's."""
    if os.geteuid() or not quota.startswith("cgroup"):
        pytest.skip("only root may change the control groups of others")
    return quota


def group_of(pid):
    """The group of a process, as the kernel tells it."""
    return v1_homes(pid).get("cpu") or own_v2_group(pid)


def study_of(write_study, redis, levels=(0.2, "none"), replicates=2, argv=("sleep", "0.05")):
    return write_study(
        argv=argv,
        factors={"redis_cpu_limit": list(levels)},
        replicates=replicates,
        belongs=[{"port": redis.port, "name": "redis"}],
    )


def client_of(redis):
    return redis_client(redis.port, 150_000, "-P", 4)


@pytest.mark.night
@pytest.mark.alone("it measures a server under limits")
def test_how_many_cores_a_running_server_wants_is_a_study(as_root, redis, write_study, sweep):
    home = group_of(redis.pid)
    study = study_of(write_study, redis, argv=client_of(redis))
    trials = sweep(study).trials().set_index("redis_cpu_limit")
    assert (trials.loc["0.2", "redis_cores"] < 0.3).all()
    assert trials.loc["0.2", "redis_nr_throttled"].sum() > 0
    assert trials.loc["none", "redis_nr_throttled"].sum() == 0
    assert group_of(redis.pid) == home
    assert not list(home.glob("held-by-*")) and redis.runs()


def test_a_memory_limit_of_it_is_in_force_meanwhile(as_root, redis, write_study, sweep):
    study = study_of(write_study, redis, replicates=1)
    overrides = {"factors": {"redis_memory_limit": [64 * 2**20, 128 * 2**20]}}
    trials = sweep(study, overrides).trials()
    assert (trials["redis_memory_limit_bytes"] == trials["redis_memory_limit"]).all()


def test_limits_of_a_group_of_its_own_are_changed_there_and_given_back(
    as_root, tmp_path, write_study, sweep
):
    if as_root != CgroupV1.name:
        pytest.skip("a group of version 1 is made by hand here")
    group = CgroupV1()
    group.open(f"test-{os.getpid()}")
    try:
        with redis_server(tmp_path) as redis:
            group.adopt(redis.pid)
            group.set_cpu_limit(0.5)
            group.set_memory_limit(256 * 2**20)
            before = [path.read_text() for path in group.limit_files()]
            study = study_of(write_study, redis, levels=(0.2, 1), replicates=1)
            trials = sweep(study).trials()
            assert set(trials["redis_cpu_limit"]) == {0.2, 1}
            assert [path.read_text() for path in group.limit_files()] == before
            assert group_of(redis.pid) == group.folders["cpu"]
    finally:
        group.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_after_an_end_in_the_middle_the_server_is_as_it_was(
    number, as_root, redis, write_study, start, deadzone
):
    home = group_of(redis.pid)
    running = start("sweep", study_of(write_study, redis, replicates=200))
    running.wait_for(lambda: running.trials() >= 2, "two trials")
    assert group_of(redis.pid) != home
    os.kill(running.pid, number)
    running.process.wait()
    if number == signal.SIGKILL:  # by this one, or by a sweep of another test that tidies up first
        assert deadzone("restore").code == 0
    assert group_of(redis.pid) == home
    assert redis.runs(), "the server is never killed with what is left over"
    assert not list(home.glob("held-by-*"))


@pytest.mark.night
def test_a_server_killed_in_the_middle_leaves_no_limit_behind(
    as_root, tmp_path, write_study, start
):
    with redis_server(tmp_path) as redis:
        home = group_of(redis.pid)
        study = study_of(write_study, redis, replicates=200, argv=client_of(redis))
        running = start("sweep", study)
        running.wait_for(lambda: running.trials() >= 2, "two trials")
        redis.kill()
        code, _, err = running.end()
    assert code == 3 and "has gone" in err
    assert not list(home.glob("held-by-*"))


def test_whose_limits_are_not_ours_is_said_with_the_right_that_is_missing(
    redis, write_study, deadzone, monkeypatch
):
    if os.geteuid() == 0:

        def refuse(self, name):
            raise TargetError("/sys/fs/cgroup/cpu: Permission denied")

        monkeypatch.setattr("deadzone.run.targets.limits.cgroup_v1.CgroupV1.adopt", refuse)
        monkeypatch.setattr("deadzone.run.targets.limits.cgroup_v2.CgroupV2.adopt", refuse)
    said = deadzone("sweep", study_of(write_study, redis))
    assert said.code in (2, 4)
    assert "Permission denied" in said.err
    assert Path(f"/proc/{redis.pid}").is_dir()
