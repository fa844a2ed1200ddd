"""A relay of messages with two costly parts to switch off: `python relay_server.py --port 8080`.

POST /relay takes a message as JSON and answers it signed. `--history` keeps copies and sends some
again, `--names` looks the receiver's address up; without them the service does the same for less.
Its own CPU profile is at /debug/pprof/profile?seconds=5.
"""

import argparse
import asyncio
import hashlib
import hmac
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from relay import names, sampling
from relay.history import History

KEY = b"key of the relay"
LONGEST_S = 600

Answer = tuple[int, bytes]


class Relay:
    """The service."""

    def __init__(self, with_history: bool, with_names: bool) -> None:
        self._history = History() if with_history else None
        self._with_names = with_names

    async def answer(self, method: str, target: str, body: bytes) -> Answer:
        """Status and body for a request."""
        parts = urlsplit(target)
        if method == "POST" and parts.path == "/relay":
            return self._relay(body)
        if parts.path == "/health":
            return 200, b"ok\n"
        if parts.path == "/debug/pprof/profile":
            return await _profile(parse_qs(parts.query).get("seconds", ["5"])[0])
        return 404, b"no such page\n"

    def _relay(self, body: bytes) -> Answer:
        try:
            message = json.loads(body)
        except ValueError:
            return 400, b"not JSON\n"
        signed = self._sign(message)
        if self._history is not None:
            self._history.remember(signed)
            self._history.resend()
        return 200, json.dumps(signed).encode()

    def _sign(self, message: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(message, sort_keys=True).encode()
        to = names.resolve(str(message.get("to", ""))) if self._with_names else ""
        return {**message, "address": to, "signature": hmac.new(KEY, text, hashlib.sha256).hexdigest()}


async def _profile(seconds: str) -> Answer:
    if not seconds.isdigit() or not 0 < int(seconds) <= LONGEST_S:
        return 400, b"seconds must be a whole number\n"
    sampling.start()
    await asyncio.sleep(int(seconds))
    return 200, sampling.stop()


async def serve(relay: Relay, host: str, port: int) -> None:
    """Answer requests over HTTP/1.1 until killed."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                method, target, _ = head.split(" ", 2)
                length = next(
                    (
                        int(line[15:])
                        for line in head.lower().split("\r\n")
                        if line.startswith("content-length:")
                    ),
                    0,
                )
                status, body = await relay.answer(method, target, await reader.readexactly(length))
                writer.write(f"HTTP/1.1 {status} -\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            writer.close()

    server = await asyncio.start_server(connected, host, port)
    async with server:
        await server.serve_forever()


def main() -> None:
    """Serve as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument(
        "--history", choices=("yes", "no"), default="yes", help="keep messages and send some again"
    )
    parser.add_argument(
        "--names", choices=("yes", "no"), default="yes", help="look the receiver's address up"
    )
    chosen = parser.parse_args()
    relay = Relay(chosen.history == "yes", chosen.names == "yes")
    asyncio.run(serve(relay, chosen.host, chosen.port))


if __name__ == "__main__":
    main()
