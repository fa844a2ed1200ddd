import ipaddress
import socket

import pytest

from deadzone.errors import WorkloadError
from deadzone.run.workloads.addresses import far_networks, is_near, is_this_machine, resolve

NEAR = (
    *("127.0.0.1", "10.1.2.3", "172.31.0.9", "192.168.1.1", "169.254.1.1", "100.64.0.1"),
    *("::1", "fd00::1"),
)
FAR = (
    *("8.8.8.8", "172.32.0.1", "192.0.2.1", "100.128.0.1", "0.0.0.0", "224.0.0.1"),
    *("2001:4860::1", "::ffff:8.8.8.8"),
)


@pytest.mark.parametrize("address", NEAR)
def test_this_machine_and_private_addresses_are_near(address):
    assert is_near(address)
    host = f"[{address}]" if ":" in address else address
    assert resolve(f"http://{host}:8080/a?b=1", allow_remote=False).path == "/a?b=1"


def test_of_a_name_with_two_addresses_the_one_is_taken_at_which_a_server_listens(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        both = [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", port, 0, 0)),
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)),
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *asked, **more: both)
        assert resolve(f"http://localhost:{port}/", allow_remote=False).sockaddr[0] == "127.0.0.1"


@pytest.mark.parametrize("address", FAR)
def test_other_addresses_need_a_word_in_the_study(address):
    assert not is_near(address)
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(WorkloadError, match="allow_remote: true"):
        resolve(f"ws://{host}/", allow_remote=False)
    assert resolve(f"wss://{host}/", allow_remote=True).tls


@pytest.mark.parametrize(
    "url", ["ftp://localhost/", "http://localhost:99999/", "http:///x", "localhost:80"]
)
def test_what_is_no_url_is_said(url):
    with pytest.raises(WorkloadError, match=r"is no URL|names no host"):
        resolve(url, allow_remote=True)


def test_names_are_resolved_first():
    assert resolve("http://localhost:80/", allow_remote=False).sockaddr[0] in ("127.0.0.1", "::1")
    with pytest.raises(WorkloadError, match="not known here"):
        resolve("http://no-such-host.invalid/", allow_remote=False)


@pytest.mark.parametrize("address", [*NEAR, *FAR[:-1]])
def test_the_far_networks_are_all_that_is_not_near(address):
    parsed = ipaddress.ip_address(address)
    nets = [ipaddress.ip_network(net) for net in far_networks()]
    assert any(parsed in net for net in nets if net.version == parsed.version) != is_near(address)


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True), ("api.localhost", True), ("127.3.0.1", True), ("::1", True),
        ("localhost.example.org", False), ("10.1.2.3", False), ("127.example.org", False),
    ],
)  # fmt: skip
def test_this_machine_is_known_by_its_name(host, here):
    assert is_this_machine(host) == here
