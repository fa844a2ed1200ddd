import json

import pytest
from sweeping import ALLOWED, job_target, resources, target

pytestmark = pytest.mark.cluster

MIB = 2**20

LOOK = """cd /sys/fs/cgroup
for file in cpu/cpu.shares cpu.weight memory/memory.limit_in_bytes memory.max; do
    if [ -r $file ]; then echo $file $(cat $file); fi
done"""
"""Prints the weight and the memory limit of its own control group."""

READINGS = {"weight": {"regex": r"cpu\S+ (\d+)"}, "memory_bytes": {"regex": r"memory\S+ (\d+)"}}

OWN = {"limits": {"cpu": "1", "memory": "256Mi"}, "requests": {"cpu": "50m", "memory": "64Mi"}}


@pytest.fixture
def look(write_study, namespace):
    """A study whose program prints the amounts in force."""

    def make(factors, target=target, **more):
        return write_study(
            argv=["sh", "-c", LOOK],
            workload={"responses": READINGS},
            target=target(namespace, **more),
            factors=factors,
            replicates=1,
        )

    return make


def check_in_force(trials):
    assert set(trials["status"]) == {"ok"}
    assert list(trials["memory_bytes"]) == list(trials["memory_limit"].astype(float))
    by_request = trials.groupby("cpu_request")["weight"].unique()
    assert all(len(weights) == 1 for weights in by_request)
    if (trials["weight"] > 100).any():  # version 1 of control groups: 1024 a core
        by_cores = {cores: int(weights[0]) for cores, weights in by_request.items()}
        assert by_cores == {0.1: 102, 0.4: 409}


@pytest.mark.parametrize("change", ["resize", "patch"])
def test_requests_and_memory_are_in_force_and_given_back(change, deployment, look, sweep, left):
    deployment(annotations=ALLOWED, resources=OWN)
    before = left.pods()[0]
    factors = {"cpu_request": [0.1, 0.4], "memory_limit": ["96MiB", "128MiB"]}
    trials = sweep(look(factors, change=change)).trials()
    check_in_force(trials)
    assert set(trials["memory_limit"]) == {96 * MIB, 128 * MIB}
    assert left.limits() == OWN
    assert left.annotation() is None and left.leases() == [] and left.files() == []
    if change == "resize":
        (after,) = left.pods()
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert after["status"]["containerStatuses"][0]["restartCount"] == 0


def test_a_request_above_the_limit_is_refused_before_the_first_trial(
    deployment, look, deadzone, left
):
    deployment(annotations=ALLOWED, resources=OWN)
    said = deadzone("sweep", look({"cpu_request": [0.1, 1.5]}), code=4)
    assert "must be less than or equal to cpu limit" in said.err
    assert "Nothing was measured" in said.err
    assert left.limits() == OWN and left.annotation() is None


def test_a_request_that_takes_the_pod_out_of_its_class_is_told_and_rolled_out(
    deployment, look, deadzone, left
):
    own = {part: {"cpu": "500m", "memory": "128Mi"} for part in ("limits", "requests")}
    deployment(annotations=ALLOWED, resources=own)
    refused = deadzone("sweep", look({"cpu_request": [0.1, 0.5]}, change="resize"), code=4)
    assert "Pod QOS Class may not change as a result of resizing" in refused.err
    assert left.limits() == own
    said = deadzone("sweep", look({"cpu_request": [0.1, 0.5]}), code=0)
    told = "are of the QoS class Burstable, now Guaranteed"
    assert "with limit 500m, request 100m the pods of deployment/worker" in said.err
    assert said.err.index(told) < said.err.index("trial 1")
    assert left.limits() == own


def test_a_program_that_outgrows_a_level_of_memory_is_killed_there_alone(
    deployment, write_study, namespace, sweep, left
):
    deployment(annotations=ALLOWED, resources=OWN)
    eat = "x=$(head -c 60000000 /dev/zero | tr '\\0' a); echo ${{#x}}"
    run = sweep(
        write_study(
            argv=["sh", "-c", eat],
            target=target(namespace, change="resize"),
            factors={"memory_limit": ["48MiB", "256MiB"]},
            replicates=1,
        )
    )
    status = dict(zip(run.trials()["memory_limit"], run.trials()["status"], strict=True))
    assert status == {48 * MIB: "oom_killed", 256 * MIB: "ok"}
    assert left.limits() == OWN


def test_a_job_has_the_requests_and_the_memory_of_its_trial(look, ffmpeg_image, sweep, left):
    factors = {"cpu_request": [0.1, 0.4], "memory_limit": ["96MiB", "128MiB"]}

    def jobs(namespace):
        return job_target(namespace, ffmpeg_image)

    check_in_force(sweep(look(factors, jobs)).trials())
    assert left.jobs() == [] and left.leases() == []


def test_the_patch_has_what_was_swept_and_fits_an_object_that_was_never_applied(
    deployment, look, deadzone, cluster, namespace, tmp_path
):
    deployment(annotations=ALLOWED, resources=OWN)
    made = cluster.get("deployment", "worker", "--namespace", namespace)
    cluster.kubectl("delete", "deployment/worker", "--namespace", namespace)
    made["metadata"] = {"name": "worker", "namespace": namespace, "annotations": ALLOWED}
    cluster.kubectl("create", "--filename=-", given=json.dumps(made))
    limits = {"memory_limit": ["96MiB", "128MiB"], "cpu_limit": [0.5]}
    said = deadzone("sweep", look(limits), code=0)
    said = deadzone("recommend", "probe/latest", "--manifest", code=0)
    (tmp_path / "patch.yaml").write_text(said.out)
    command = f"-n {namespace} patch deployment worker --patch-file"
    assert f"# apply: kubectl {command} FILE" in said.out
    cluster.kubectl(*command.split(), str(tmp_path / "patch.yaml"))
    now = resources(cluster.get("deployment", "worker", "--namespace", namespace))
    assert now["limits"]["memory"] in ("96Mi", "128Mi") and now["limits"]["cpu"] == "500m"
