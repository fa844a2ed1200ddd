"""A real Kubernetes node on this machine, from packages alone: `node.py up`, `down`, `status`,
`load IMAGE.tar`.

Its programs run in a network, a mount and a process namespace of their own and below control groups
of their own, so that bringing it down, or up again after a kill, leaves nothing of it.
"""

import argparse
import contextlib
import fcntl
import json
import os
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from node_certificates import make_certificates
from node_cgroups import make_groups, processes, remove_groups
from node_configuration import CONTAINERD, write_configuration, write_worker_configuration
from node_images import BUILT_IN, archive
from node_network import make_network, make_worker_network, remove_network
from node_places import (
    HERE,
    INSTANCE,
    NODE,
    NotPossibleHere,
    State,
    cache_folder,
    main_state,
    state,
)
from node_programs import programs

TOOLS = {
    "containerd": "containerd", "ctr": "containerd", "etcd": "etcd-server", "ip": "iproute2",
    "iptables": "iptables", "nsenter": "util-linux", "openssl": "openssl", "runc": "runc",
    "unshare": "util-linux",
}  # fmt: skip
"""Programs by the Debian package that has them."""

CNI_PLUGINS = Path("/usr/lib/cni")

UP_TIMEOUT_S = 300.0
"""Ready takes 15 s on two idle cores; a busy machine takes several times that [s]."""


def up() -> Path:
    """Bring the node up, unless it is, and return the administrator's kubeconfig.

    Raises NotPossibleHere with the reason if this machine cannot run one.
    """
    _check_tools()
    with _lock():
        if not is_up():
            _remove()
            folder = programs()
            _start(folder)
    return state().kubeconfig


def down() -> None:
    """Bring the node down and remove all of it: processes, mounts, control groups, network, state.

    The node of `make cluster` takes with it what a killed test left of others.
    """
    for other in () if INSTANCE else cache_folder().glob("state-*"):
        environment = {**os.environ, "DEADZONE_TEST_NODE": other.name.rpartition("-")[2]}
        subprocess.run((sys.executable, __file__, "down"), env=environment, check=True)
    with _lock():
        _remove()


def join() -> str:
    """Bring up a further node of the cluster of `make cluster`, unless it is up, and return its
    name.

    Which one, DEADZONE_TEST_NODE says. Raises NotPossibleHere as `up` does.
    """
    _check_tools()
    assert INSTANCE, "DEADZONE_TEST_NODE must say which node joins, 1 to 9"
    with _lock():
        if not is_up():
            _remove()
            _start_worker(programs())
    return NODE


def leave() -> None:
    """Take that node out of the cluster, and remove all of it."""
    with _lock():
        with contextlib.suppress(OSError):
            _ask(f"/api/v1/nodes/{NODE}", "DELETE")
        _remove()


def is_up() -> bool:
    """Whether the node runs and is ready for pods."""
    with contextlib.suppress(OSError, KeyError, StopIteration, json.JSONDecodeError):
        node = _ask(f"/api/v1/nodes/{NODE}")
        ready = next(one for one in node["status"]["conditions"] if one["type"] == "Ready")
        _ask("/api/v1/namespaces/default/serviceaccounts/default")
        return bool(ready["status"] == "True")
    return False


def load(path: Path) -> None:
    """Give the node an image, from the archive that `docker save` or node_images writes."""
    _ctr("images", "import", str(path.resolve()))


def inside(*argv: str) -> subprocess.CompletedProcess[str]:
    """Run a program in the node's namespaces. Raises CalledProcessError if it fails."""
    enter = ("nsenter", "--target", str(init_pid()), "--mount", "--pid", "--net", "--", *argv)
    return subprocess.run(enter, check=True, capture_output=True, text=True)


def init_pid(which: State | None = None) -> int:
    """Process id of a node's first process. Raises FileNotFoundError if there is no node."""
    holder = int((which or state()).pid.read_text())
    return int(Path(f"/proc/{holder}/task/{holder}/children").read_text().split()[0])


def program_pid(name: str) -> int:
    """Process id of one of the node's programs, such as kube-apiserver. Raises LookupError if it
    does not run."""
    for pid in processes():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/exe").readlink().name == name:
                return pid
    raise LookupError(f"the node has no running {name}")


def _start(folder: Path) -> None:
    """Start the one node of a cluster."""
    here = state()
    here.folder.mkdir(parents=True, mode=0o700)
    make_certificates(here.certificates)
    write_configuration(here, folder, _snapshotter(here.folder))
    _run_node(make_network)


def _start_worker(folder: Path) -> None:
    """Start a further node of the cluster of `make cluster`."""
    here, main = state(), main_state()
    here.folder.mkdir(parents=True, mode=0o700)
    write_worker_configuration(here, main, folder, _snapshotter(here.folder))
    _run_node(lambda pid: make_worker_network(pid, init_pid(main)))


def _run_node(make_its_network: Callable[[int], None]) -> None:
    """Run what services.json says in namespaces of its own, and wait until the node is ready."""
    here, group = state(), make_groups()
    archives = [archive(image()) for image in BUILT_IN]
    argv = (
        *("sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(group)),
        *("unshare", "--net", "--mount", "--propagation=private", "--pid", "--fork"),
        "--kill-child=KILL",
        *(sys.executable, "-I", "-S", str(HERE / "node_init.py"), str(here.folder)),
    )
    with here.log.open("wb") as log:
        holder = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/"
        )
    here.pid.write_text(str(holder.pid))
    _wait_for(init_pid, "the first process")
    make_its_network(init_pid())
    here.joined.touch()
    _wait_for(lambda: _ctr("version"), "containerd")
    for path in archives:
        load(path)
    _wait_for(_assert_up, "the node")


def _wait_for(what: Any, name: str) -> None:
    deadline = time.monotonic() + UP_TIMEOUT_S
    while True:
        try:
            what()
            return
        except (OSError, subprocess.CalledProcessError, IndexError, AssertionError) as error:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{name} did not come up: {error}\n{_last_words()}") from error
        time.sleep(0.25)


def _assert_up() -> None:
    assert is_up(), "it is not ready"


def _last_words() -> str:
    logs = sorted((state().folder / "logs").glob("*"))
    return "\n".join(
        f"--- {log.name}\n" + "\n".join(log.read_text().splitlines()[-5:]) for log in logs
    )


def _remove() -> None:
    # and with them, every process: the first one of a namespace takes all others with it
    remove_groups()
    remove_network()
    shutil.rmtree(state().folder, ignore_errors=True)


def _snapshotter(folder: Path) -> str:
    """overlayfs where the file system of the folder can carry it, else plain copies."""
    names = ("lower", "upper", "work", "merged")
    for name in names:
        (folder / "overlay" / name).mkdir(parents=True)
    lower, upper, work, merged = (folder / "overlay" / name for name in names)
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    mount = ("mount", "-t", "overlay", "overlay", "-o", options, str(merged))
    tried = subprocess.run(("unshare", "--mount", *mount), capture_output=True, check=False)
    shutil.rmtree(folder / "overlay")
    return "native" if tried.returncode else "overlayfs"


def _ctr(*arguments: str) -> None:
    inside("ctr", "--address", CONTAINERD, "--namespace", "k8s.io", *arguments)


def _ask(path: str, method: str = "GET") -> Any:
    config = json.loads(state().kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    bearer = {"Authorization": f"Bearer {user['token']}"}
    request = urllib.request.Request(cluster["server"] + path, headers=bearer, method=method)
    trust = ssl.create_default_context(cafile=cluster["certificate-authority"])
    with urllib.request.urlopen(request, timeout=5, context=trust) as answer:
        return json.load(answer)


def _check_tools() -> None:
    if os.geteuid() != 0:
        raise NotPossibleHere("it takes root (namespaces, control groups, mounts)")
    missing = sorted({package for tool, package in TOOLS.items() if not shutil.which(tool)})
    if not (CNI_PLUGINS / "bridge").exists():
        missing.append("containernetworking-plugins")
    if missing:
        raise NotPossibleHere(f"these Debian packages are not installed: {', '.join(missing)}")


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    cache_folder().mkdir(parents=True, exist_ok=True)
    with (cache_folder() / f"lock-{state().folder.name}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, said in (
        ("up", "bring it up"),
        ("down", "remove all of it"),
        ("status", "say whether it is up"),
        ("join", "bring up a further node of it; DEADZONE_TEST_NODE=1 to 9 says which"),
        ("leave", "take that one out, and remove all of it"),
    ):
        commands.add_parser(name, help=said)
    commands.add_parser("load", help="give it an image").add_argument("archive", type=Path)
    arguments = parser.parse_args()
    try:
        match arguments.command:
            case "up":
                print(f"export KUBECONFIG={up()}")
            case "down":
                down()
            case "join":
                print(join())
            case "leave":
                leave()
            case "load":
                load(arguments.archive)
            case _:
                print(f"up: export KUBECONFIG={state().kubeconfig}" if is_up() else "down")
    except NotPossibleHere as error:
        sys.exit(f"No cluster can run here: {error}")


if __name__ == "__main__":
    main()
