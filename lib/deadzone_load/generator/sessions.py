"""Connections that a user holds: made ready (request answered, WebSocket agreed, STOMP connected
and subscribed), then handing messages over."""

from typing import Protocol

from deadzone_load.generator import protocols
from deadzone_load.generator.connection import Connection, Failure, Wire
from deadzone_load.generator.plan import ROOM, USER, LoadPlan
from deadzone_load.generator.recording import Recorder

HTTP_ERRORS = 400
"""Status codes from here on are errors."""


class SessionOwner(Protocol):
    """Who holds sessions, and is told what becomes of them."""

    recorder: Recorder

    def on_ready(self, session: "Session") -> None:
        """It can be used."""

    def on_message(self, session: "Session", body: bytes) -> None:
        """A message came: a text message, or the body of a STOMP message."""

    def on_closed(self, session: "Session", kind: Failure) -> None:
        """It broke, or could not be made ready. It is not told of any more."""


class Session:
    """A connection of user `number` that began at a moment of the plan; an HTTP session is ready at
    its first answer."""

    def __init__(
        self, wire: Wire, plan: LoadPlan, owner: SessionOwner, number: int, began_s: float
    ) -> None:
        self.number, self.began_s = number, began_s
        self.is_ready = False
        self.is_over = False
        self.pending: dict[int, None] = {}
        self._plan, self._address, self._owner = plan, wire.address, owner
        self.connection = Connection(wire, self._on_open, self._receive, self._over)

    def fill(self, text: str) -> str:
        """A text of the plan with this session's number and room in it."""
        return text.replace(USER, str(self.number)).replace(
            ROOM, str(self.number // self._plan.room_size)
        )

    def _on_open(self) -> None:
        self._reader = protocols.ResponseReader()
        plan, address = self._plan, self._address
        path, body = self.fill(address.path), self.fill(plan.body).encode()
        self.connection.send(
            protocols.request(plan.method, path, address.host_header, plan.headers, body)
        )

    def _receive(self, data: bytes) -> None:
        try:
            complete = self._reader.feed(data)
        except protocols.GarbageError:
            self.give_up("garbage")
            return
        if complete and not self.is_ready:
            if self._reader.status >= HTTP_ERRORS:
                self._refused(self._reader.status)
            else:
                self._ready()

    def _ready(self) -> None:
        self.is_ready = True
        self._owner.on_ready(self)

    def _refused(self, status: int) -> None:
        """The server answered with a status of HTTP that is an error."""
        self._owner.recorder.statuses[status] += 1
        self.give_up("status")

    def give_up(self, kind: Failure) -> None:
        """Close, and tell the owner why."""
        self.connection.close()
        self._over(kind)

    def _over(self, kind: Failure) -> None:
        if not self.is_over:
            self.is_over = True
            self._owner.on_closed(self, kind)


class WebSocketSession(Session):
    """A WebSocket; ready when the server has agreed and what is said first has been sent."""

    subprotocol = ""

    def send(self, payload: bytes) -> None:
        """Send a message."""
        self.connection.send(protocols.text_frame(payload))

    def message(self, body: bytes) -> bytes:
        """What is sent for a body; here the body itself."""
        return body

    def _on_open(self) -> None:
        scheme = "wss" if self._address.tls else "ws"
        url = f"{scheme}://{self._address.host_header}{self.fill(self._address.path)}"
        self._frames = protocols.FrameReader(url, self._plan.headers, self.subprotocol)
        self._answer()

    def _answer(self) -> None:
        for answer in self._frames.answers:
            self.connection.send(answer)
        self._frames.answers.clear()

    def _receive(self, data: bytes) -> None:
        frames = self._frames
        was_upgraded = frames.is_upgraded
        try:
            messages = frames.feed(data)
            if frames.is_upgraded and not was_upgraded:
                self._on_upgrade()
            for message in messages:
                self._on_message(message)
        except protocols.UpgradeRefusedError as error:
            self._refused(error.args[0])
            return
        except protocols.GarbageError:
            self.give_up("garbage")
            return
        self._answer()
        if frames.is_closed and not self.is_over:
            self.give_up("closed")

    def _on_upgrade(self) -> None:
        self._say_first()
        self._ready()

    def _on_message(self, message: bytes) -> None:
        if not self.is_over:
            self._owner.on_message(self, message)

    def _say_first(self) -> None:
        for text in self._plan.on_open:
            self.send(self.fill(text).encode())


class StompSession(WebSocketSession):
    """STOMP 1.2 over WebSocket; ready when connected, with its subscriptions on their way."""

    subprotocol = protocols.SUBPROTOCOL

    def message(self, body: bytes) -> bytes:
        """A SEND frame with the body, which tells no length: it is text and ends at the null
        byte."""
        headers = {"destination": self.fill(self._plan.send_to), "content-type": "application/json"}
        return protocols.write_frame("SEND", headers).removesuffix(b"\0") + body + b"\0"

    def _on_upgrade(self) -> None:
        headers = {"accept-version": "1.2", "host": self._address.host, "heart-beat": "0,0"}
        self.send(protocols.write_frame("CONNECT", headers))

    def _on_message(self, message: bytes) -> None:
        frame = protocols.read_frame(message)
        if frame is None or self.is_over:
            return
        command, body = frame
        if command == b"MESSAGE":
            self._owner.on_message(self, body)
        elif command == b"CONNECTED" and not self.is_ready:
            for number, destination in enumerate(self._plan.subscribe):
                headers = {"id": str(number), "destination": self.fill(destination)}
                self.send(protocols.write_frame("SUBSCRIBE", headers))
            self._say_first()
            self._ready()
        elif command == b"ERROR":
            self.give_up("status")


KINDS: dict[str, type[Session]] = {
    "http": Session,
    "websocket": WebSocketSession,
    "stomp": StompSession,
}
"""Sessions by the protocol of the plan."""
