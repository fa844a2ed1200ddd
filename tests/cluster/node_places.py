"""Where the node's programs and images are cached, its state lies, and its parts' names."""

import os
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]

INSTANCE = int(os.environ.get("DEADZONE_TEST_NODE", "0"))
"""0 is the node of `make cluster`; 1 to 9 are others beside it, clusters of their own or workers
that joined it."""

NAME = "deadzone-cluster" + (f"-{INSTANCE}" if INSTANCE else "")
"""Name of the control groups; whatever runs below them belongs to the node."""

NODE = "deadzone-node" + (f"-{INSTANCE}" if INSTANCE else "")
"""Name of the node in the cluster."""

HOST_LINK, NODE_LINK = f"dzcluster{2 * INSTANCE}", f"dzcluster{2 * INSTANCE + 1}"
"""The two ends of the veth pair; the kernel allows 15 letters."""

LINK_NETWORK, POD_NETWORK, SERVICE_NETWORK = (
    f"198.18.{97 + 3 * INSTANCE + part}" for part in range(3)
)
"""The first three numbers of addresses, from 198.18.0.0/15, which RFC 2544 sets aside for
benchmarks of networks: no other machine is reached by them."""

HOST_ADDRESS, NODE_ADDRESS, API_SERVICE_ADDRESS = (
    f"{LINK_NETWORK}.1",
    f"{LINK_NETWORK}.2",
    f"{SERVICE_NETWORK}.1",
)

MAIN_ADDRESS = "198.18.97.2"
"""Address of the node of `make cluster`."""

API_PORT = 6443


class NotPossibleHere(Exception):
    """The node cannot run here; the text says what is missing."""


@dataclass(frozen=True)
class State:
    """The folder of one node that runs, or ran and was killed."""

    folder: Path

    @property
    def kubeconfig(self) -> Path:
        """For the person or the test: an administrator of the cluster."""
        return self.folder / "kubeconfig"

    @property
    def pid(self) -> Path:
        """Process id of the `unshare` that holds the node's namespaces."""
        return self.folder / "pid"

    @property
    def joined(self) -> Path:
        """There once the node has its network."""
        return self.folder / "joined"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def certificates(self) -> Path:
        return self.folder / "certificates"

    @property
    def configuration(self) -> Path:
        return self.folder / "configuration"


def cache_folder() -> Path:
    """Where programs and images are kept between runs."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "deadzone" / "cluster"


def main_state() -> State:
    """The node of `make cluster`, which workers join."""
    return State(cache_folder() / "state")


def state() -> State:
    """The node that this process is about."""
    return State(cache_folder() / (f"state-{INSTANCE}" if INSTANCE else "state"))
