"""A client of the demonstration server: its connection, what it speaks, and where it listens.

Text clients are in one room, named in their path (`/?room=7`): what one says, all of the room hear.
STOMP clients subscribe to destinations; what is sent to `/app/NAME` is heard at `/topic/NAME`, and
answered at `/user/queue/reply`.
"""

import contextlib
import socket
import threading
from collections import defaultdict
from urllib.parse import parse_qs, urlsplit

from websockets.frames import Frame, Opcode
from websockets.server import ServerProtocol

from deadzone_load.generator.protocols import escaped

STOMP = "v12.stomp"
REPLY_DESTINATION = "/user/queue/reply"

SEND_TIMEOUT_S = 5.0
"""A client that takes nothing for so long is given up [s]."""


class Client:
    """A WebSocket connection. Threads may send through it at the same time."""

    def __init__(self, connection: socket.socket, session_kib: int) -> None:
        connection.settimeout(SEND_TIMEOUT_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = connection
        self.protocol = ServerProtocol(subprotocols=[], select_subprotocol=_choose)  # type: ignore[arg-type]
        self.lock = threading.Lock()
        self.room = ""
        self.is_stomp = False
        self.subscriptions: dict[str, str] = {}
        self.state = b""
        self._session_kib = session_kib

    def greet(self, path: str) -> None:
        """Remember what the upgrade said, and make the state that a session of its kind holds."""
        self.room = parse_qs(urlsplit(path).query).get("room", [""])[0]
        self.is_stomp = self.protocol.subprotocol == STOMP
        self.state = b"\1" * (self._session_kib * 1024)

    def flush(self) -> None:
        """Send what the protocol has to say."""
        with self.lock:
            self._write(self.protocol.data_to_send())

    def say(self, text: bytes) -> None:
        """Send a text message."""
        with self.lock:
            self._write([Frame(Opcode.TEXT, text).serialize(mask=False)])

    def deliver(self, destination: str, body: bytes) -> None:
        """Send the message of a destination, in the way the client speaks."""
        if not self.is_stomp:
            self.say(body)
            return
        subscription = self.subscriptions.get(destination)
        if subscription is not None:
            head = f"MESSAGE\ndestination:{escaped(destination)}\nsubscription:{escaped(subscription)}\nmessage-id:0\n\n"  # noqa: E501
            self.say(head.encode() + body + b"\0")

    def _write(self, pieces: list[bytes]) -> None:
        with contextlib.suppress(OSError):
            for piece in pieces:
                if piece:
                    self.socket.sendall(piece)


class Listeners:
    """Who listens where: clients by room or destination."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_place: dict[str, dict[Client, None]] = defaultdict(dict)

    def add(self, place: str, client: Client) -> None:
        """The client listens there from now on."""
        with self._lock:
            self._by_place[place][client] = None

    def remove(self, client: Client) -> None:
        """The client listens nowhere any more."""
        with self._lock:
            for place in self._by_place.values():
                place.pop(client, None)

    def at(self, place: str) -> list[Client]:
        """Who listens at a place."""
        with self._lock:
            return list(self._by_place.get(place, ()))


def _choose(protocol: ServerProtocol, offered: list[str]) -> str | None:
    return STOMP if STOMP in offered else None
