"""The veth pair by which this machine reaches the node, in a network namespace of its own."""

import subprocess
from pathlib import Path

from node_places import (
    HOST_ADDRESS,
    HOST_LINK,
    LINK_NETWORK,
    MAIN_ADDRESS,
    NODE_ADDRESS,
    NODE_LINK,
    POD_NETWORK,
    NotPossibleHere,
)


def make_network(pid: int) -> None:
    """Join the network namespace of a process to this machine. Raises NotPossibleHere if it is not
    permitted."""
    _run(
        "ip", "link", "add", HOST_LINK, "type", "veth", "peer", "name", NODE_LINK, "netns", str(pid)
    )
    _address((), _inside(pid))
    _run("ip", "route", "add", f"{POD_NETWORK}.0/24", "via", NODE_ADDRESS)


def make_worker_network(pid: int, main_pid: int) -> None:
    """Join a worker's namespace to that of the node it joins, which passes packets on."""
    main = _inside(main_pid)
    pair = ("type", "veth", "peer", "name", NODE_LINK, "netns", str(pid))
    _run(*main, "ip", "link", "add", HOST_LINK, *pair)
    _address(main, _inside(pid))
    _run(*main, "ip", "route", "add", f"{POD_NETWORK}.0/24", "via", NODE_ADDRESS)
    for network in (LINK_NETWORK, POD_NETWORK):
        _run("ip", "route", "replace", f"{network}.0/24", "via", MAIN_ADDRESS)


def _address(outer: tuple[str, ...], inner: tuple[str, ...]) -> None:
    """Give both ends of the pair their addresses, and the inner one its way out."""
    _run(*outer, "ip", "address", "add", f"{HOST_ADDRESS}/24", "dev", HOST_LINK)
    _run(*outer, "ip", "link", "set", HOST_LINK, "up")
    _run(*inner, "ip", "link", "set", "lo", "up")
    _run(*inner, "ip", "address", "add", f"{NODE_ADDRESS}/24", "dev", NODE_LINK)
    _run(*inner, "ip", "link", "set", NODE_LINK, "up")
    _run(*inner, "ip", "route", "add", "default", "via", HOST_ADDRESS)
    _run(*inner, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")


def _inside(pid: int) -> tuple[str, ...]:
    return ("nsenter", f"--net=/proc/{pid}/ns/net")


def _run(*command: str) -> None:
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise NotPossibleHere(f"{' '.join(command)} is not permitted here: {answer.stderr.strip()}")


def remove_network() -> None:
    """Remove the pair, if it is there; the namespace ends with its last process."""
    if Path(f"/sys/class/net/{HOST_LINK}").exists():
        subprocess.run(("ip", "link", "delete", HOST_LINK), check=False, capture_output=True)
    for network in (LINK_NETWORK, POD_NETWORK):  # a worker's lead over another node's link
        subprocess.run(
            ("ip", "route", "delete", f"{network}.0/24"), check=False, capture_output=True
        )


def set_link(up: bool) -> None:
    """Cut this machine off the node, or join them again; the node itself runs on."""
    subprocess.run(("ip", "link", "set", HOST_LINK, "up" if up else "down"), check=True)
    if up:
        subprocess.run(
            ("ip", "route", "replace", f"{POD_NETWORK}.0/24", "via", NODE_ADDRESS), check=True
        )
