"""A small server that gets into trouble on demand: server.py PORT FOLDER.

It answers with the number that it is asked for. A word in FOLDER/trouble says what becomes of the
next request; whoever reads it takes it away.
"""

import contextlib
import os
import socket
import struct
import sys
import threading
import time
from pathlib import Path

FOREVER_S = 600.0


def served(connection: socket.socket, trouble: Path) -> None:
    """Answer the requests of one connection until it is closed, by either side."""
    with connection, contextlib.suppress(ConnectionError):
        _served(connection, trouble)


def _served(connection: socket.socket, trouble: Path) -> None:
    while True:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65536)
            if not piece:
                return
            head += piece
        word = ""
        with contextlib.suppress(FileNotFoundError):
            word = trouble.read_text()
            trouble.unlink()
        if word == "crashes":
            os._exit(9)
        if word == "resets":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        if word == "cut off":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this")
            return
        if word == "garbage":
            connection.sendall(b"\0\xff\r\n\x1b]0;x\x07 no HTTP\r\n\r\n")
            return
        if word == "error":
            connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy")
            continue
        answer = b"n=" + head.split()[1].strip(b"/") + b"\n"
        time.sleep({"slow": 0.3, "hangs": FOREVER_S}.get(word, 0))
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer)
        )


def main(port: int, folder: Path) -> None:
    moved = folder / "elsewhere"
    with socket.create_server(("127.0.0.1", 0 if moved.exists() else port)) as listener:
        moved.unlink(missing_ok=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(
                target=served, args=(connection, folder / "trouble"), daemon=True
            ).start()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
