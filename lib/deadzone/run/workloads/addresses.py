"""Where a load may go: loopback and private addresses, and others only where the study says so.

A load test against a stranger's host by a typing error must not happen, so names are resolved first
and every address they stand for is looked at.
"""

import errno
import ipaddress
import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from deadzone.errors import WorkloadError
from deadzone.study.masking import masked

PROBE_S = 1.0
"""How long an attempt to connect is given [s]."""

STANDARD_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}


@dataclass(frozen=True)
class Address:
    """A resolved URL: the socket family and address to connect to, and what the request says of
    it."""

    family: int
    sockaddr: tuple[str, int]
    host: str
    host_header: str
    path: str
    tls: bool

    def connect_error(self) -> int:
        """What a connection ends in: 0 where it opens, else an errno."""
        try:
            with socket.socket(self.family, socket.SOCK_STREAM) as probe:
                probe.settimeout(PROBE_S)
                return probe.connect_ex(self.sockaddr)
        except OSError as error:  # a machine without IPv6
            return error.errno or errno.EIO


def resolve(url: str, allow_remote: bool) -> Address:
    """The address of a URL of http, https, ws or wss.

    Raises WorkloadError if it is no such URL, its name is unknown, or it leads off this machine and
    its private networks and allow_remote is false.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or STANDARD_PORTS[parts.scheme]
    except (ValueError, KeyError) as error:
        raise WorkloadError(
            f"workload.url: {masked(url)!r} is no URL of http, https, ws or wss with a port of 1 "
            "to 65535."
        ) from error
    host = parts.hostname
    if not host:
        raise WorkloadError(f"workload.url: {masked(url)!r} names no host.")
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise WorkloadError(
            f"workload.url: the host {host!r} is not known here: {error}."
        ) from error
    far = [text for text in (str(address[4][0]) for address in addresses) if not is_near(text)]
    if far and not allow_remote:
        shown = far[0] if far[0] == host else f"{host} ({far[0]})"
        raise WorkloadError(
            f"workload.url: {shown} is neither this machine nor a private address, so no load is "
            "sent there. If the host is yours to load, say allow_remote: true in the study's "
            "workload."
        )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    named = f"[{host}]" if ":" in host else host
    header = named if port == STANDARD_PORTS[parts.scheme] else f"{named}:{port}"
    about = host, header, path, parts.scheme in ("https", "wss")
    first, *others = (
        Address(family, (str(sockaddr[0]), int(sockaddr[1])), *about)
        for family, _, _, _, sockaddr in addresses
    )
    # of a name with two addresses, such as localhost, a server may listen on one
    several = (first, *others) if others else ()
    return next((one for one in several if one.connect_error() == 0), first)


def is_near(address: str) -> bool:
    """Whether an address is loopback, private or link-local."""
    parsed = ipaddress.ip_address(address.split("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    return any(parsed in net for net in NEAR)


def is_this_machine(host: str) -> bool:
    """Whether a host's name or address means this machine's loopback; nothing is looked up."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def far_networks() -> list[str]:
    """Every network that is not near, as CIDRs: for tools that are told what they must not
    reach."""
    far: list[Any] = [ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0")]
    for near in NEAR:
        kept = [net.address_exclude(near) if net.overlaps(near) else [net] for net in far]
        far = [part for parts in kept for part in parts]
    return [str(net) for net in far]


LOCAL = ("127.0.0.0/8", "169.254.0.0/16", "::1/128", "fe80::/10")
"""Loopback and link-local networks."""

PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
"""Private networks (RFC 1918, RFC 4193) and the shared space of RFC 6598, in which clusters and
tunnels live."""

NEAR = tuple(map(ipaddress.ip_network, (*LOCAL, *PRIVATE)))
"""No two of them share an address."""
