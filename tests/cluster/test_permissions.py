import os
import signal

import node
import pytest
from accounts import ACCOUNT, is_cluster_wide, kubeconfig_with, rules_of_the_account
from node_tokens import CACHED_S, short_lived_token
from sweeping import SLEEP, job_target

pytestmark = pytest.mark.cluster


@pytest.fixture
def account(cluster, namespace, monkeypatch, tmp_path):
    """Become the account of deploy/rbac.yaml, less some verbs; returns a function that does it."""
    made: list[tuple[str, str]] = []

    def become(without: tuple[str, str] | None = None, token: str | None = None) -> None:
        documents = rules_of_the_account(namespace, without)
        made.extend(
            (one["kind"], one["metadata"]["name"]) for one in documents if is_cluster_wide(one)
        )
        cluster.apply(*documents)
        who = f"--as=system:serviceaccount:{namespace}:{ACCOUNT}"
        asked = ("auth", "can-i", "get", "deployments.apps", "--namespace", namespace, who)
        # The authorizer learns of a new binding a moment later; kubectl fails where the answer is
        # no.
        cluster.wait_for(lambda: _permitted(cluster, asked), "the binding")
        token = (
            token or cluster.kubectl("create", "token", ACCOUNT, "--namespace", namespace).strip()
        )
        path = tmp_path / "kubeconfig"
        path.write_text(kubeconfig_with(cluster.kubeconfig, token))
        monkeypatch.setenv("KUBECONFIG", str(path))

    yield become
    for kind, name in made:
        cluster.kubectl("delete", kind, name, "--ignore-not-found")


def _permitted(cluster, asked) -> bool:
    try:
        return "yes" in cluster.kubectl(*asked)
    except AssertionError:
        return False


@pytest.fixture
def study(worker_study, write_study, namespace, ffmpeg_image):
    """Write a study of one trial, of a workload by resize or patch, or in a pod of its own."""

    def write(way):
        if way != "job":
            return worker_study(change=way)
        jobs = job_target(namespace, ffmpeg_image)
        return write_study(argv=["true"], target=jobs, factors={"cpu_limit": [0.4]}, replicates=1)

    return write


def test_the_role_is_enough_for_a_whole_sweep(namespace, account, study, deadzone):
    account()
    for way in ("resize", "patch", "job"):
        deadzone("sweep", study(way), code=0)
    deadzone("restore", "--namespace", namespace, code=0)


@pytest.mark.parametrize(
    ("way", "resource", "verb"),
    [("resize", "pods", "list"), ("resize", "pods/exec", "get"), ("resize", "pods/resize", "patch"),
     ("resize", "deployments", "patch"), ("resize", "leases", "create"), ("job", "jobs", "create")],
)  # fmt: skip
def test_a_verb_that_is_missing_is_named(way, resource, verb, namespace, account, study, deadzone):
    account(without=(resource, verb))
    said = deadzone("sweep", study(way), code=4)
    who = f"system:serviceaccount:{namespace}:{ACCOUNT}"
    assert f"{who} lacks the verb '{verb}' for {resource}" in said.err
    assert "deploy/rbac.yaml" in said.err


@pytest.mark.alone("it restarts the API server")
@pytest.mark.usefixtures("own_cluster")
def test_a_server_that_restarts_and_knows_no_account_yet_is_waited_for(
    worker_study, account, start
):
    account()
    factors = {"seconds": [0.2], "cpu_limit": [0.4, 0.5]}
    begun = start("sweep", worker_study(SLEEP, factors, replicates=10, change="resize"))
    begun.wait_for(lambda: begun.trials() > 1, "two trials")
    os.kill(node.program_pid("kube-apiserver"), signal.SIGKILL)
    begun.end_with(0)


def test_a_token_that_expires_ends_the_sweep_with_the_command_that_restores(
    own_cluster, namespace, worker_study, account, deadzone, monkeypatch
):
    account()
    uid = own_cluster.get("serviceaccount", ACCOUNT, "--namespace", namespace)["metadata"]["uid"]
    account(token=short_lived_token(namespace, ACCOUNT, uid, lifetime_s=30))
    factors = {"seconds": [1], "cpu_limit": [0.4]}
    study = worker_study(SLEEP, factors, replicates=90, change="resize")
    said = deadzone("sweep", study, code=10)
    assert "no longer accepts the credentials" in said.err
    assert "`deadzone restore` gives them back" in said.err
    assert "go on with `--resume" in said.err
    assert CACHED_S < 30
    monkeypatch.setenv("KUBECONFIG", str(own_cluster.kubeconfig))
    deadzone("restore", "--namespace", namespace, code=0)
