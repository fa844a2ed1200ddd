"""Messages of the kernel over netlink(7)."""

import struct


def request(kind: int, flags: int, body: bytes) -> bytes:
    """A message to the kernel. kind: of the message, or the family that is asked."""
    return struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body


def attributes(data: bytes) -> dict[int, bytes]:
    """Netlink attributes by number."""
    values = {}
    while len(data) >= 4:
        length, kind = struct.unpack("=HH", data[:4])
        values[kind & 0x3FFF] = data[4:length]
        data = data[max(length + (-length % 4), 4) :]
    return values
