"""The link to a server: what goes over it is passed on, held, cut, or refused."""

import socket
import struct
import threading
from contextlib import suppress

PIECE_BYTES = 65_536

RESET = struct.pack("ii", 1, 0)
"""Of SO_LINGER: a connection that is closed is reset."""


class Link:
    """Listens on a port of this machine and passes on to a server."""

    def __init__(self, server: tuple[str, int]) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._passing = threading.Event()
        self._passing.set()
        self._refusing = self._closed = False
        self._ends: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, reset: bool) -> None:
        """End every connection; with a reset, as a machine that goes away does it, or in order."""
        for end in list(self._ends):
            with suppress(OSError):
                if reset:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                end.shutdown(socket.SHUT_RDWR)

    def hold(self) -> None:
        """Pass nothing on any more, and say nothing."""
        self._passing.clear()

    def refuse(self) -> None:
        """Cut all, and let nobody in."""
        self._refusing = True
        self.cut(reset=True)

    def mend(self) -> None:
        """Pass on again."""
        self._refusing = False
        self._passing.set()

    def close(self) -> None:
        self._closed = True
        self.mend()
        self._listener.close()
        self.cut(reset=False)

    def _accept(self) -> None:
        while not self._closed:
            with suppress(OSError):
                near, _ = self._listener.accept()
                if self._refusing:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(self._server, timeout=5)
                except OSError:
                    near.close()
                    continue
                far.settimeout(None)
                self._ends |= {near, far}
                for here, there in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(here, there), daemon=True).start()

    def _pass_on(self, here: socket.socket, there: socket.socket) -> None:
        with suppress(OSError):
            while piece := here.recv(PIECE_BYTES):
                self._passing.wait()
                there.sendall(piece)
        for end in (here, there):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._ends -= {here, there}
        here.close()
