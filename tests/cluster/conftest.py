"""The cluster of the tests: the one that KUBECONFIG names, else the node of `make cluster`, brought up if need be."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import node
import pytest
from node_images import BARE_IMAGE, FFMPEG_IMAGE
from node_places import NotPossibleHere
from project_image import PROJECT_IMAGE, project_archive

PATIENCE_S = 120.0
"""A busy machine may take this long for what takes a second."""

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Cluster:
    """A cluster, as its administrator sees it.

    own: whether it is the node of `make cluster`, whose programs a test may kill and whose link it may cut.
    """

    kubeconfig: Path
    own: bool

    def kubectl(self, *arguments: str, given: str | None = None) -> str:
        """What kubectl printed. Raises CalledProcessError, with what it said, if it fails."""
        argv = ("kubectl", f"--kubeconfig={self.kubeconfig}", *arguments)
        answer = subprocess.run(argv, input=given, capture_output=True, text=True, check=False)
        if answer.returncode:
            raise AssertionError(f"kubectl {' '.join(arguments)}: {answer.stderr.strip()}")
        return answer.stdout

    def apply(self, *manifests: Manifest) -> None:
        """Create or change objects."""
        listed = {"apiVersion": "v1", "kind": "List", "items": list(manifests)}
        self.kubectl("apply", "--filename=-", given=json.dumps(listed))

    def get(self, *arguments: str) -> Any:
        """An object or a list, as `kubectl get` knows it."""
        return json.loads(self.kubectl("get", "--output=json", *arguments))

    def raw(self, path: str) -> str:
        """What the API server answers to a GET of a path."""
        return self.kubectl("get", f"--raw={path}")

    def wait_for(self, condition: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
        """Wait until something is the case, and return it."""
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            if found := condition():
                return found
            time.sleep(0.2)
        raise AssertionError(f"after {patience_s:.0f} s still not: {what}")


_was_up = pytest.StashKey[bool]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Where tests run side by side, the process that hands them out looks after the node that they share."""
    if session.config.getoption("numprocesses", None):
        session.config.stash[_was_up] = node.is_up()


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not session.config.stash.get(_was_up, True) and node.state().folder.exists():
        node.down()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A real cluster; the node is brought up if nothing else is there, and then taken down at the end."""
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
    cluster.kubectl("create", "namespace", name)
    cluster.wait_for(
        lambda: "default" in cluster.kubectl("get", "serviceaccounts", "--namespace", name, "--output=name"),
        "the namespace's default service account",
    )
    yield name
    with contextlib.suppress(AssertionError):
        cluster.kubectl("delete", "pods", "--all", "--namespace", name, "--grace-period=1", "--wait=false")
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
def deployment(cluster: Cluster, namespace: str, ffmpeg_image: str) -> Callable[..., str]:
    """Make a Deployment of one pod that waits for work, and wait until it does; returns its name."""

    def make(
        name: str = "worker",
        *,
        image: str = ffmpeg_image,
        cpu_limit: str | None = "1",
        annotations: dict[str, str] | None = None,
        **container: Any,
    ) -> str:
        limits = {} if cpu_limit is None else {"limits": {"cpu": cpu_limit}, "requests": {"cpu": "50m"}}
        worker = {
            "name": "ffmpeg",
            "image": image,
            "imagePullPolicy": "IfNotPresent",
            "resources": limits,
            **container,
        }
        labels = {"app": name}
        cluster.apply(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": name, "namespace": namespace, "annotations": annotations or {}},
                "spec": {
                    "selector": {"matchLabels": labels},
                    "template": {
                        "metadata": {"labels": labels},
                        "spec": {"terminationGracePeriodSeconds": 1, "containers": [worker]},
                    },
                },
            }
        )
        until = f"--timeout={PATIENCE_S:.0f}s"
        cluster.kubectl("rollout", "status", f"deployment/{name}", "--namespace", namespace, until)
        return name

    return make


@pytest.fixture(scope="session")
def project_image(cluster: Cluster) -> str:
    """Name of the project's own image, built from deploy/Containerfile and given to the cluster."""
    if named := os.environ.get("DEADZONE_TEST_PROJECT_IMAGE"):
        return named
    if not cluster.own:
        pytest.skip("DEADZONE_TEST_PROJECT_IMAGE names no image of the project that this cluster has")
    try:
        node.load(project_archive())
    except NotPossibleHere as error:
        pytest.skip(f"the project's image cannot be built here: {error}")
    return PROJECT_IMAGE


@pytest.fixture(scope="module")
def second_node(cluster: Cluster) -> Iterator[str]:
    """Name of a second node: of a cluster that has several, any but the first; else one that joins for these tests."""
    nodes = cluster.get("nodes")["items"]
    if not cluster.own:
        if len(nodes) < 2:
            pytest.skip("the cluster has one node, and this test needs two")
        yield nodes[1]["metadata"]["name"]
        return
    worker = {**os.environ, "DEADZONE_TEST_NODE": "1"}
    command = (sys.executable, node.__file__)
    joined = subprocess.run((*command, "join"), env=worker, capture_output=True, text=True, check=False)
    assert joined.returncode == 0, joined.stderr
    yield joined.stdout.strip()
    subprocess.run((*command, "leave"), env=worker, check=True)
