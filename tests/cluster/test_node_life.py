"""A node comes up, also after a kill, and leaves nothing when it goes: shown on a second one."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from node_places import HERE, cache_folder

pytestmark = [pytest.mark.cluster, pytest.mark.alone("it stops and starts the node")]

SECOND = "9"

LONGEST_S = 400


def node(command: str) -> str:
    """What `node.py` says, for the second node."""
    argv = (sys.executable, str(HERE / "node.py"), command)
    environment = {**os.environ, "DEADZONE_TEST_NODE": SECOND}
    environment.pop("KUBECONFIG", None)
    said = subprocess.run(
        argv, env=environment, capture_output=True, text=True, timeout=LONGEST_S, check=False
    )
    assert said.returncode == 0, said.stderr
    return said.stdout.strip()


def left() -> list[str]:
    """Everything on this machine that bears the second node's marks."""
    name, state = f"deadzone-cluster-{SECOND}", cache_folder() / f"state-{SECOND}"
    groups = [str(path) for path in Path("/sys/fs/cgroup").glob(f"*/{name}")]
    interfaces = " ".join(path.name for path in Path("/sys/class/net").iterdir())
    links = re.findall(rf"dzcluster{2 * int(SECOND)}\b", interfaces)
    mounts = [
        line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(state) in line
    ]
    processes = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(state).encode() in path.read_bytes():
                processes.append(str(path))
        except OSError:
            continue
    return [*groups, *links, *mounts, *processes, *([str(state)] if state.exists() else [])]


@pytest.fixture
def nothing_stays():
    """Whatever the test finds, its node is gone afterwards."""
    yield
    node("down")


def test_it_comes_up_again_after_a_kill_and_leaves_nothing_when_it_goes(own_cluster, nothing_stays):
    assert node("status") == "down"
    assert "KUBECONFIG=" in node("up")
    assert left()
    holder = int((cache_folder() / f"state-{SECOND}" / "pid").read_text())
    os.kill(holder, signal.SIGKILL)
    assert node("status") == "down"
    up = node("up")
    config = up.partition("=")[2]
    ask = ("kubectl", f"--kubeconfig={config}", "get", "nodes", "--no-headers")
    assert " Ready " in subprocess.run(ask, capture_output=True, text=True, check=True).stdout
    assert node("up") == up  # and again changes nothing
    node("down")
    assert not left()
    node("down")  # and again is no error
