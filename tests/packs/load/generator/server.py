"""An HTTP server that behaves as it is told: `python server.py BEHAVIOUR`; it prints its port.

stall: answers nothing for 1 s in every 5 s. garbage: no HTTP. closes: hangs up on every request.
error: status 500. silent: never answers. slow: after 0.3 s. dies: ends after 100 answers. once:
closes after each answer. drops: hangs up on every third request of a connection. tires: says 408 to
a connection that idles for 0.1 s.
"""

import asyncio
import os
import sys
import time

PERIOD_S, STALL_S, SLOW_S, TIRED_S = 5.0, 1.0, 0.3, 0.1
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
ANSWERS = {
    "garbage": b"220 mail.example.org ESMTP\r\n",
    "error": b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n",
    "once": b"HTTP/1.0 200 OK\r\n\r\nhello",
}
LAST = 100
answered = 0


async def serve(behaviour: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    global answered
    count = 0
    try:
        while True:
            patience_s = TIRED_S if behaviour == "tires" else None
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), patience_s)
            if b"Content-Length: " in head:
                await reader.readexactly(
                    int(head.partition(b"Content-Length: ")[2].split(b"\r")[0])
                )
            into = time.monotonic() % PERIOD_S
            count += 1
            if behaviour == "stall" and into < STALL_S:
                await asyncio.sleep(STALL_S - into)
            if behaviour == "slow":
                await asyncio.sleep(SLOW_S)
            if behaviour == "closes" or (behaviour == "drops" and count % 3 == 0):
                break
            if behaviour != "silent":
                writer.write(ANSWERS.get(behaviour, ANSWER))
            answered += 1
            if behaviour == "dies" and answered >= LAST:
                os._exit(7)
            if behaviour == "once":
                await writer.drain()
                break
    except TimeoutError:
        writer.write(b"HTTP/1.1 408 Tired\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    except (OSError, asyncio.IncompleteReadError):
        pass
    writer.close()


async def main(behaviour: str) -> None:
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    server = await asyncio.start_server(
        lambda reader, writer: serve(behaviour, reader, writer), "127.0.0.1", port, backlog=1_000
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main(sys.argv[1]))
