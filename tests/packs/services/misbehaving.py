"""A small server that fails in the way it is told to; a process of its own, started like any
service under test.

python misbehaving.py PORT FAULT
"""

import contextlib
import os
import socket
import struct
import sys
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nready\n"


def reset(connection: socket.socket) -> None:
    """Close with RST in place of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def serve(connection: socket.socket, fault: str) -> None:
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(65536)
        if not piece:
            return
        head += piece
    if head.startswith(b"GET /health"):
        connection.sendall(ANSWER)
        return
    match fault:
        case "reset":
            connection.recv(200_000)
            reset(connection)
        case "silent":
            connection.close()
        case "short":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this")
        case "error":
            connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy")
        case "hang":
            time.sleep(60)
        case "die":
            print("the last words of the service", flush=True)
            os._exit(9)
        case "eat":
            room = []
            while True:
                room.append(bytearray(b"x") * 8_000_000)
        case "burn":
            end = time.process_time() + 0.3
            while time.process_time() < end:
                pass
            connection.sendall(ANSWER)
        case _:
            connection.sendall(ANSWER)


def main(port: int, fault: str) -> None:
    if fault == "late":
        time.sleep(30)
    if fault == "crash":
        sys.exit("configuration is missing")
    if fault == "stubborn":
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
    with socket.create_server(("127.0.0.1", port)) as listening:
        while True:
            connection, _ = listening.accept()
            with contextlib.suppress(OSError), connection:
                serve(connection, fault)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
