"""A WebSocket server with two pools of threads, to tune: `python websocket_server.py --port 8080`.

One thread reads all sockets. Each message is a task of the inbound pool, which works and answers
the sender; then the message goes to everybody in the room, each copy a task of the outbound pool.
That is the architecture of Spring's WebSocket messaging, with its inbound and outbound channels.
STOMP 1.2 is spoken to those who ask for it.
"""

import argparse
import gc
import resource
import selectors
import socket
import sys
import threading
from functools import partial

from websocket_clients import REPLY_DESTINATION, Client, Listeners
from websocket_pools import Pool, Work
from websockets.frames import Frame, Opcode
from websockets.http11 import Request

from deadzone_load.generator.protocols import GarbageError, write_frame

BACKLOG = 1_024
PIECE_BYTES = 65_536
MOST_SERVED = 64
"""Connections taken at once before those that stand are served again."""


class Server:
    """The server: sockets, pools, and who listens where."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._session_kib: int = arguments.session_kib
        self._inbound = Pool("inbound", arguments.inbound_pool)
        self._outbound = Pool("outbound", arguments.outbound_pool)
        self._inbound_work = Work(arguments.wait_ms, arguments.hash_kib)
        self._outbound_work = Work(arguments.outbound_wait_ms, arguments.outbound_hash_kib)
        self._opening_work = Work(0.0, arguments.room_kib)
        self._opened: set[str] = set()
        self._listeners = Listeners()
        self._selector = selectors.DefaultSelector()
        self._listening = socket.create_server((arguments.host, arguments.port), backlog=BACKLOG)
        self._listening.setblocking(False)
        self.port = self._listening.getsockname()[1]

    def serve(self) -> None:
        """Serve until killed."""
        self._selector.register(self._listening, selectors.EVENT_READ, None)
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    self._accept()
                else:
                    self._read(key.data)

    def _accept(self) -> None:
        for _ in range(MOST_SERVED):
            try:
                connection, _address = self._listening.accept()
            except OSError:
                return
            client = Client(connection, self._session_kib)
            self._selector.register(connection, selectors.EVENT_READ, client)

    def _read(self, client: Client) -> None:
        try:
            data = client.socket.recv(PIECE_BYTES)
        except OSError:
            data = b""
        if not data:
            self._forget(client)
            return
        client.protocol.receive_data(data)
        try:
            for event in client.protocol.events_received():
                self._take(client, event)
        except (GarbageError, UnicodeDecodeError):
            self._forget(client)
            return
        client.flush()
        if client.protocol.close_expected():
            self._forget(client)

    def _take(self, client: Client, event: object) -> None:
        if isinstance(event, Request):
            client.protocol.send_response(client.protocol.accept(event))
            client.greet(event.path)
            if not client.is_stomp:
                self._listeners.add(client.room, client)
        elif isinstance(event, Frame) and event.opcode in (Opcode.TEXT, Opcode.BINARY):
            if client.is_stomp:
                self._take_stomp(client, bytes(event.data))
            else:
                self._inbound.submit(partial(self._handle, client, client.room, "", bytes(event.data)))

    def _take_stomp(self, client: Client, message: bytes) -> None:
        head, _, body = message.lstrip(b"\n").partition(b"\n\n")
        command, *lines = head.decode().split("\n")
        headers = dict(line.split(":", 1) for line in lines if ":" in line)
        if command in ("CONNECT", "STOMP"):
            client.say(write_frame("CONNECTED", {"version": "1.2", "heart-beat": "0,0"}))
        elif command == "SUBSCRIBE":
            place = headers.get("destination", "")
            client.subscriptions[place] = headers.get("id", "0")
            self._listeners.add(place, client)
        elif command == "SEND":
            place = headers.get("destination", "").replace("/app/", "/topic/", 1)
            self._inbound.submit(
                partial(self._handle, client, place, REPLY_DESTINATION, body.rstrip(b"\0\n"))
            )
        elif command == "DISCONNECT":
            self._forget(client)
        elif command:
            client.say(write_frame("ERROR", {"message": f"unknown command {command[:20]}"}))

    def _handle(self, client: Client, place: str, reply: str, body: bytes) -> None:
        """A task of the inbound pool."""
        if place not in self._opened:
            self._opened.add(place)
            self._opening_work.do()
        self._inbound_work.do()
        client.deliver(reply, b"reply " + body)
        for listener in self._listeners.at(place):
            self._outbound.submit(partial(self._broadcast, listener, place, body))

    def _broadcast(self, listener: Client, place: str, body: bytes) -> None:
        """A task of the outbound pool."""
        self._outbound_work.do()
        listener.deliver(place, b"broadcast " + body)

    def _forget(self, client: Client) -> None:
        self._listeners.remove(client)
        if client.socket.fileno() >= 0:
            self._selector.unregister(client.socket)
            client.socket.close()


def arguments_of(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free one")
    parser.add_argument("--inbound-pool", type=int, default=8, help="threads that handle messages")
    parser.add_argument("--outbound-pool", type=int, default=8, help="threads that send broadcasts")
    parser.add_argument("--wait-ms", type=float, default=3.0, help="what handling a message waits [ms]")
    parser.add_argument(
        "--hash-kib", type=int, default=1_900, help="what handling it computes: hashing [KiB]"
    )
    parser.add_argument("--outbound-wait-ms", type=float, default=3.0, help="what sending a copy waits [ms]")
    parser.add_argument("--outbound-hash-kib", type=int, default=64, help="what sending it computes [KiB]")
    parser.add_argument(
        "--room-kib", type=int, default=0, help="hashing at the first message of a room [KiB]"
    )
    parser.add_argument("--session-kib", type=int, default=0, help="memory that each connection takes [KiB]")
    return parser.parse_args(argv)


def main() -> int:
    """Start and serve."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    gc.freeze()
    arguments = arguments_of(sys.argv[1:])
    try:
        server = Server(arguments)
    except OSError as error:
        print(f"The port {arguments.port} cannot be used: {error.strerror}.", file=sys.stderr)
        return 1
    threading.current_thread().name = "sockets"
    print(f"listening on port {server.port}", flush=True)
    server.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
