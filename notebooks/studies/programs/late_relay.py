"""A relay that plants a slow network: it starts a service and passes its connections on, late.

    python late_relay.py --port 8000 --answer-delay-s 0.3 -- python SERVICE --port {port}

The service gets a port of its own for {port}. The delay comes once a connection: before the first
byte of the answer is passed back, or before the first byte of the request is passed on.
"""

import argparse
import asyncio
import contextlib
import socket
import sys

PIECE_BYTES = 65536
CONNECT_TIMEOUT_S = 30.0
LOOK_EVERY_S = 0.02


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float) -> None:
    """Pass on what comes, the first of it after a delay, and then the end."""
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(PIECE_BYTES):
            await asyncio.sleep(delay_s)
            delay_s = 0.0
            writer.write(piece)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.write_eof()


class Relay:
    """Passes connections on to a port of this machine. delays: before the first byte of request and
    of answer [s]."""

    def __init__(self, port: int, request_delay_s: float, answer_delay_s: float) -> None:
        self._port = port
        self._delays = (request_delay_s, answer_delay_s)

    async def passed_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from its beginning to its end. It is reset where the service is gone."""
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            writer.transport.abort()
            return
        request, answer = self._delays
        await asyncio.gather(pump(reader, there_writer, request), pump(there_reader, writer, answer))
        for one in (there_writer, writer):
            with contextlib.suppress(OSError):
                one.close()


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def listens(port: int, process: asyncio.subprocess.Process) -> bool:
    """Wait until a service accepts connections; False if it ended, or the time is over."""
    for _ in range(round(CONNECT_TIMEOUT_S / LOOK_EVERY_S)):
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return True
        if process.returncode is not None:
            return False
        await asyncio.sleep(LOOK_EVERY_S)
    return False


async def serve(given: argparse.Namespace) -> int:
    """Start the service, listen once it is there, and end with it."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(word.replace("{port}", str(port)) for word in given.service)
    )
    try:
        if not await listens(port, process):
            return process.returncode or 1
        relay = Relay(port, given.request_delay_s, given.answer_delay_s)
        async with await asyncio.start_server(relay.passed_on, given.host, given.port):
            return await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def main() -> None:
    """Relay until the service ends or this process is told to."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--host", default="127.0.0.1", help="address to listen on")
    options.add_argument("--port", type=int, required=True, help="port to listen on")
    options.add_argument(
        "--request-delay-s", type=float, default=0.0, help="before the first byte of a request"
    )
    options.add_argument(
        "--answer-delay-s", type=float, default=0.0, help="before the first byte of an answer"
    )
    options.add_argument(
        "service", nargs="+", help="argument vector of the service; {port} is the port it gets"
    )
    sys.exit(asyncio.run(serve(options.parse_args())))


if __name__ == "__main__":
    main()
