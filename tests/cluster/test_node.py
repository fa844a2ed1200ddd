"""The node that `make cluster` brings up is a real one: limits, RBAC, metrics, service accounts,
restarts."""

import json
import os
import signal
import subprocess

import node
import pytest
from node_network import set_link
from node_tokens import short_lived_token

pytestmark = pytest.mark.cluster


def pod_of(cluster, namespace: str, deployment: str) -> str:
    pods = cluster.get("pods", "--namespace", namespace, f"--selector=app={deployment}")["items"]
    (name,) = [
        pod["metadata"]["name"] for pod in pods if "deletionTimestamp" not in pod["metadata"]
    ]
    return name


def refused(cluster, *arguments: str) -> str:
    """What the API server says to a request that it must not grant."""
    with pytest.raises(AssertionError) as error:
        cluster.kubectl(*arguments)
    return str(error.value)


@pytest.mark.alone("it changes the node")
def test_a_limit_changes_in_place_and_nothing_restarts(cluster, namespace, deployment):
    pod = pod_of(cluster, namespace, deployment(cpu_limit="500m"))
    execute = ("exec", pod, "--namespace", namespace, "--", "sh", "-c")
    quota = (
        "cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null || cut -d' ' -f1 "
        "/sys/fs/cgroup/cpu.max"
    )
    assert cluster.kubectl(*execute, quota).strip() == "50000"
    change = {
        "spec": {"containers": [{"name": "ffmpeg", "resources": {"limits": {"cpu": "750m"}}}]}
    }
    where = ("--namespace", namespace, "--subresource=resize")
    cluster.kubectl("patch", "pod", pod, *where, f"--patch={json.dumps(change)}")
    cluster.wait_for(
        lambda: cluster.kubectl(*execute, quota).strip() == "75000",
        "the new limit in the container's own group",
    )
    status = cluster.get("pod", pod, "--namespace", namespace)["status"]["containerStatuses"][0]
    assert status["restartCount"] == 0


def test_the_image_without_a_shell_has_ffmpeg_and_no_shell(
    cluster, namespace, deployment, bare_image
):
    pod = pod_of(cluster, namespace, deployment(image=bare_image))
    execute = ("exec", pod, "--namespace", namespace, "--")
    assert "ffmpeg version" in cluster.kubectl(*execute, "ffmpeg", "-version")
    assert "executable file not found" in refused(cluster, *execute, "sh", "-c", "true")


def test_an_account_may_do_only_what_its_role_says(own_cluster, namespace):
    account = own_cluster.get("serviceaccount", "default", "--namespace", namespace)
    token = short_lived_token(namespace, "default", account["metadata"]["uid"], 60)
    config = json.loads(own_cluster.kubeconfig.read_text())
    server, authority = (
        config["clusters"][0]["cluster"][key] for key in ("server", "certificate-authority")
    )
    as_account = (
        "--kubeconfig=/dev/null",
        f"--server={server}",
        f"--certificate-authority={authority}",
    )
    said = subprocess.run(
        ("kubectl", *as_account, f"--token={token}", "get", "pods", "--namespace", namespace),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (
        said.returncode
        and "system:serviceaccount" in said.stderr
        and 'cannot list resource "pods"' in said.stderr
    )


def test_a_token_expires_in_seconds_where_a_test_wants_it(own_cluster, namespace):
    account = own_cluster.get("serviceaccount", "default", "--namespace", namespace)
    token = short_lived_token(namespace, "default", account["metadata"]["uid"], 2)
    config = json.loads(own_cluster.kubeconfig.read_text())
    server, authority = (
        config["clusters"][0]["cluster"][key] for key in ("server", "certificate-authority")
    )
    ask = (
        "kubectl",
        "--kubeconfig=/dev/null",
        f"--server={server}",
        f"--certificate-authority={authority}",
    )

    def answer() -> str:
        asked = (*ask, f"--token={token}", "auth", "whoami")
        said = subprocess.run(asked, capture_output=True, text=True, check=False)
        return said.stdout + said.stderr

    assert f"system:serviceaccount:{namespace}:default" in answer()
    own_cluster.wait_for(lambda: "must be logged in" in answer(), "the token's refusal")


def test_pods_reach_the_api_server_with_their_service_account(cluster, namespace, deployment):
    pod = pod_of(cluster, namespace, deployment())
    ask = "busybox wget -q -O - --no-check-certificate https://$KUBERNETES_SERVICE_HOST/version"
    said = cluster.kubectl("exec", pod, "--namespace", namespace, "--", "sh", "-c", ask)
    assert json.loads(said)["major"] == "1"


def test_a_limit_range_and_a_quota_forbid_what_they_should(cluster, namespace, deployment):
    name = deployment(cpu_limit="500m")
    limits = {"type": "Container", "max": {"cpu": "1"}}
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "LimitRange",
            "metadata": {"name": "at-most-one-core", "namespace": namespace},
            "spec": {"limits": [limits]},
        }
    )
    change = {
        "spec": {"containers": [{"name": "ffmpeg", "resources": {"limits": {"cpu": "1500m"}}}]}
    }
    where = ("--namespace", namespace, "--subresource=resize")
    said = refused(
        cluster,
        "patch",
        "pod",
        pod_of(cluster, namespace, name),
        *where,
        f"--patch={json.dumps(change)}",
    )
    assert "maximum cpu usage per Container is 1" in said


@pytest.mark.alone("it changes the node")
def test_a_killed_api_server_comes_back_and_the_pods_never_noticed(
    own_cluster, namespace, deployment
):
    pod = pod_of(own_cluster, namespace, deployment())
    os.kill(node.program_pid("kube-apiserver"), signal.SIGKILL)
    own_cluster.wait_for(node.is_up, "the API server's return")
    status = own_cluster.get("pod", pod, "--namespace", namespace)["status"]["containerStatuses"][0]
    assert status["restartCount"] == 0


@pytest.mark.alone("it changes the node")
def test_the_link_to_the_node_can_be_cut_and_joined(own_cluster):
    set_link(up=False)
    try:
        assert not node.is_up()
    finally:
        set_link(up=True)
    own_cluster.wait_for(node.is_up, "the answer after the link came back")


def test_the_kubelet_tells_what_it_counts(cluster, namespace, deployment):
    pod = pod_of(cluster, namespace, deployment(cpu_limit="200m"))
    name = cluster.get("nodes")["items"][0]["metadata"]["name"]

    def throttled() -> float:
        # Again each time: two seconds beside other pods may get no more than the limit allows.
        busy = "timeout 2 sh -c 'while :; do :; done'; true"
        cluster.kubectl("exec", pod, "--namespace", namespace, "--", "sh", "-c", busy)
        lines = cluster.raw(f"/api/v1/nodes/{name}/proxy/metrics/cadvisor").splitlines()
        wanted = f'namespace="{namespace}",pod="{pod}"'
        values = (
            float(line.split()[1])
            for line in lines
            if line.startswith('container_cpu_cfs_throttled_periods_total{container="ffmpeg"')
            and wanted in line
        )
        return max(values, default=0.0)

    # The kubelet reads its counters now and then.
    cluster.wait_for(lambda: throttled() > 5, "throttled periods in the kubelet's metrics")
    summary = json.loads(cluster.raw(f"/api/v1/nodes/{name}/proxy/stats/summary"))
    assert pod in [one["podRef"]["name"] for one in summary["pods"]]
