import os
import signal
import time

import node
import node_network
import pytest
from accounts import kubeconfig_with
from node_places import API_PORT, NODE_ADDRESS
from sweeping import ALLOWED, records, target
from torture.link import Link

pytestmark = [pytest.mark.cluster, pytest.mark.kept]

MOST_IS_ONE = "maximum cpu usage per Container is 1"


@pytest.fixture
def refused(worker_study, deadzone):
    """Sweep a study that must be refused; returns what was said."""

    def sweep(limit: object, **more: object) -> str:
        study = worker_study(factors={"cpu_limit": [limit]}, **more)
        said = deadzone("sweep", study, code=4)
        assert "Traceback" not in said.err
        return said.err

    return sweep


def test_a_limit_that_no_container_can_have_changes_nothing(refused):
    assert "is beyond the node" in refused(4096)


@pytest.mark.parametrize("change", ["resize", "patch"])
@pytest.mark.parametrize(
    ("kind", "spec", "said"),
    [("LimitRange", {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}, MOST_IS_ONE),
     ("ResourceQuota", {"hard": {"limits.cpu": "1200m"}}, "exceeded quota: small")],
)  # fmt: skip
def test_a_range_or_a_quota_that_forbids_the_value_is_told(
    change, kind, spec, said, cluster, namespace, refused
):
    metadata = {"name": "small", "namespace": namespace}
    cluster.apply({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec})
    assert said in refused(1.5, change=change, start_timeout_s=30)


def test_a_rollout_that_hangs_is_given_up_and_undone(
    cluster, namespace, deployment, write_study, deadzone, left
):
    def refused(**more):
        where = target(namespace, change="patch", **more)
        study = write_study(argv=["true"], target=where, factors={"cpu_limit": [0.5]}, replicates=1)
        return deadzone("sweep", study, code=4).err

    deployment(annotations=ALLOWED)
    # The template names an image that is nowhere; its pods of now run on, for the rollout is paused
    # at them.
    cluster.kubectl("rollout", "pause", "deployment/worker", "--namespace", namespace)
    assert "is paused" in refused()
    cluster.kubectl("rollout", "resume", "deployment/worker", "--namespace", namespace)
    probe = '{"spec":{"template":{"spec":{"containers":[{"name":"ffmpeg","readinessProbe":{"exec":{"command":["test","-e","/tmp/ready"]},"periodSeconds":1}}]}}}}'  # noqa: E501
    cluster.kubectl("patch", "deployment", "worker", "--namespace", namespace, "--patch", probe)
    said = refused(start_timeout_s=8)
    assert "has not ended after 8 s" in said
    assert "does not get ready" in said
    assert left.annotation() is None
    assert left.leases() == []


def test_an_unknown_workload_or_container_is_named_with_the_nearest(refused):
    said = refused(0.5, workload="deployment/wroker")
    assert "There is no deployment/wroker" in said
    assert "Did you mean `worker`?" in said
    assert "Did you mean `ffmpeg`?" in refused(0.5, container="fmpeg")


def test_no_cluster_is_one_sentence(write_study, deadzone, monkeypatch, tmp_path):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    study = write_study(argv=["true"], target=target("x"), factors={"cpu_limit": [1]})
    said = deadzone("sweep", study, code=4)
    assert "There is no cluster to reach" in said.err


@pytest.mark.alone("it restarts the API server or cuts its link")
def test_an_api_server_that_restarts_in_a_trial_loses_nothing(
    own_cluster, worker_study, start, left
):
    argv = ["sh", "-c", "echo run >> /tmp/runs; sleep {seconds}; wc -l < /tmp/runs"]
    begun = start("sweep", worker_study(argv, {"seconds": [6], "cpu_limit": [0.5]}, replicates=2))

    def runs() -> int:
        return left.inside("cat /tmp/runs || true").count("run")

    begun.wait_for(lambda: left.annotation() and runs() == 1, "the first trial")
    os.kill(node.program_pid("kube-apiserver"), signal.SIGKILL)
    told = records(begun)
    assert [(record["status"], record["attempt"]) for record in told] == [("ok", 1), ("ok", 1)]
    assert all(6 <= record["wall_s"] < 9 for record in told)
    assert runs() == 2


@pytest.mark.alone("it restarts the API server or cuts its link")
@pytest.mark.usefixtures("own_cluster")
def test_a_link_that_is_cut_for_a_while_loses_nothing(sleeping):
    begun = sleeping(8)
    node_network.set_link(False)
    try:
        time.sleep(12)
    finally:
        node_network.set_link(True)
    (trial,) = records(begun)
    assert trial["status"] == "ok"
    assert 8 <= trial["wall_s"] < 11


@pytest.mark.parametrize("reset", [True, False], ids=["reset", "ended"])
def test_streams_that_are_cut_while_a_sweep_settles_in_are_opened_again(
    reset, own_cluster, worker_study, start, left, tmp_path, monkeypatch
):
    link = Link((NODE_ADDRESS, API_PORT))
    path = tmp_path / "kubeconfig"
    server = f"https://127.0.0.1:{link.port}"
    path.write_text(kubeconfig_with(own_cluster.kubeconfig, server=server))
    monkeypatch.setenv("KUBECONFIG", str(path))
    begun = start("sweep", worker_study())
    begun.wait_for(left.annotation, "the lock of the workload")
    for _ in range(20):
        link.cut(reset)
        time.sleep(0.1)
    code, _, err = begun.end()
    link.close()
    assert code == 0, err
