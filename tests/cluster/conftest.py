"""The cluster of the tests: the one that KUBECONFIG names, else the node of `make cluster`."""

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import node
import pytest
from administering import PATIENCE_S, Cluster
from node_images import BARE_IMAGE, FFMPEG_IMAGE
from node_places import NotPossibleHere
from project_image import PROJECT_IMAGE, project_archive
from sweeping import ALLOWED, SLEEP, Left, target

_was_up = pytest.StashKey[bool]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Where tests run side by side, the process that hands them out looks after their node."""
    if session.config.getoption("numprocesses", None):
        session.config.stash[_was_up] = node.is_up()


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not session.config.stash.get(_was_up, True) and node.state().folder.exists():
        node.down()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A real cluster; where nothing else is there the node is brought up, and down at the end."""
    if not shutil.which("kubectl"):
        pytest.skip("no cluster: kubectl is not installed")
    if named := os.environ.get("KUBECONFIG"):
        yield Cluster(Path(named), own=Path(named) == node.state().kubeconfig)
        return
    was_up = node.is_up()
    try:
        kubeconfig = node.up()
    except NotPossibleHere as error:
        pytest.skip(f"no cluster: KUBECONFIG names none, and none can run here: {error}")
    yield Cluster(kubeconfig, own=True)
    if not was_up and "PYTEST_XDIST_WORKER" not in os.environ:
        node.down()


@pytest.fixture(autouse=True)
def kubeconfig(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests start finds the cluster as a person's programs do."""
    if "cluster" in request.fixturenames:
        monkeypatch.setenv("KUBECONFIG", str(request.getfixturevalue("cluster").kubeconfig))


@pytest.fixture
def own_cluster(cluster: Cluster) -> Cluster:
    """The node of `make cluster`, for tests that kill its programs or cut its link."""
    if not cluster.own:
        pytest.skip("this test harms the cluster, so it runs on the node of `make cluster` alone")
    return cluster


_count = itertools.count(1)


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace of the test's own, whose pods are ended at once when it is removed."""
    name = f"deadzone-test-{os.getpid()}-{next(_count)}"
    inside = ("--namespace", name)
    cluster.kubectl("create", "namespace", name)
    accounts = ("get", "serviceaccounts", *inside, "--output=name")
    cluster.wait_for(
        lambda: "default" in cluster.kubectl(*accounts), "the namespace's default service account"
    )
    yield name
    with contextlib.suppress(AssertionError):
        cluster.kubectl("delete", "pods", "--all", *inside, "--grace-period=1", "--wait=false")
    cluster.kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")


@pytest.fixture(scope="session")
def ffmpeg_image() -> str:
    """Name of an image with ffmpeg and a shell that the cluster has."""
    return os.environ.get("DEADZONE_TEST_FFMPEG_IMAGE", FFMPEG_IMAGE)


@pytest.fixture(scope="session")
def bare_image() -> str:
    """Name of an image with ffmpeg and no shell that the cluster has."""
    return os.environ.get("DEADZONE_TEST_BARE_IMAGE", BARE_IMAGE)


@pytest.fixture
def left(cluster: Cluster, namespace: str) -> Left:
    return Left(cluster, namespace)


@pytest.fixture
def deployment(
    cluster: Cluster, namespace: str, ffmpeg_image: str, left: Left
) -> Callable[..., str]:
    """Make a Deployment of one pod, and wait until it waits for work; returns its name."""

    def make(
        name: str = "worker",
        *,
        image: str = ffmpeg_image,
        cpu_limit: str | None = "1",
        annotations: dict[str, str] | None = None,
        **container: Any,
    ) -> str:
        worker = {"name": "ffmpeg", "image": image, "imagePullPolicy": "IfNotPresent"}
        if cpu_limit is not None:
            worker["resources"] = {"limits": {"cpu": cpu_limit}, "requests": {"cpu": "50m"}}
        labels, pod = {"app": name}, {"containers": [worker | container]}
        template = {
            "metadata": {"labels": labels},
            "spec": pod | {"terminationGracePeriodSeconds": 1},
        }
        metadata = {"name": name, "namespace": namespace, "annotations": annotations or {}}
        spec = {"selector": {"matchLabels": labels}, "template": template}
        deployed = {"apiVersion": "apps/v1", "kind": "Deployment"}
        cluster.apply({**deployed, "metadata": metadata, "spec": spec})
        until = f"--timeout={PATIENCE_S:.0f}s"
        cluster.kubectl("rollout", "status", f"deployment/{name}", "--namespace", namespace, until)
        left.remember(name)
        return name

    return make


@pytest.fixture(scope="session")
def project_image(cluster: Cluster) -> str:
    """Name of the project's own image, built from deploy/Containerfile and given to the cluster."""
    if named := os.environ.get("DEADZONE_TEST_PROJECT_IMAGE"):
        return named
    if not cluster.own:
        pytest.skip(
            "DEADZONE_TEST_PROJECT_IMAGE names no image of the project that this cluster has"
        )
    try:
        node.load(project_archive())
    except NotPossibleHere as error:
        pytest.skip(f"the project's image cannot be built here: {error}")
    return PROJECT_IMAGE


@pytest.fixture(scope="module")
def second_node(cluster: Cluster) -> Iterator[str]:
    """Name of a second node: of a cluster that has several, any but the first; else one that joins
    for these tests."""
    nodes = cluster.get("nodes")["items"]
    if not cluster.own:
        if len(nodes) < 2:
            pytest.skip("the cluster has one node, and this test needs two")
        yield nodes[1]["metadata"]["name"]
        return
    worker = {**os.environ, "DEADZONE_TEST_NODE": "1"}
    command = (sys.executable, node.__file__)
    argv = (*command, "join")
    joined = subprocess.run(argv, env=worker, capture_output=True, text=True, check=False)
    assert joined.returncode == 0, joined.stderr
    yield joined.stdout.strip()
    subprocess.run((*command, "leave"), env=worker, check=True)


@pytest.fixture
def worker_study(
    namespace: str, deployment: Callable[..., str], write_study: Callable[..., Path], left: Left
) -> Iterator[Callable[..., Path]]:
    """Write a study of a Deployment that may be swept, with keys of its target; nothing of its
    sweeps is left in the end."""
    deployment(annotations=ALLOWED)

    def write(
        argv: Any = ("true",),
        factors: Any = None,
        replicates: int = 1,
        study: Any = None,
        **of: Any,
    ) -> Path:
        keys = {"argv": argv, "replicates": replicates, **(study or {})}
        factors = {"cpu_limit": [0.5]} if factors is None else factors
        return write_study(target=target(namespace, **of), factors=factors, **keys)

    yield write
    left.check_nothing()


@pytest.fixture
def sleeping(worker_study: Callable[..., Path], start: Any, left: Left) -> Callable[..., Any]:
    """A sweep of a Deployment whose one trial sleeps for so many seconds, and is asleep."""

    def begin(seconds: int, **factors: list[object]) -> Any:
        keys = {"design": {"timeout_s": 900}}
        begun = start("sweep", worker_study(SLEEP, {"seconds": [seconds], **factors}, study=keys))
        begun.wait_for(
            lambda: left.annotation() and f"sleep {seconds}" in left.inside("ps"), "the program"
        )
        return begun

    return begin
