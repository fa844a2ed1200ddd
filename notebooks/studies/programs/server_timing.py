"""How long a service itself had a request, told in the answer's header `Server-Timing` (W3C), for
any ASGI application.

`total` is the time from the request's headers to the start of the answer, `receive` the part of it
spent waiting for the rest of the request, both in milliseconds. A client that knows both can tell
the time that a request spent on its way from the time that the service took.
"""

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = b"server-timing"


class ServerTiming:
    """An ASGI middleware that adds the header to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, waited = time.monotonic(), 0.0

        async def timed_receive() -> Message:
            nonlocal waited
            start = time.monotonic()
            message = await receive()
            waited += time.monotonic() - start
            return message

        async def timed_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                total = time.monotonic() - began
                value = f"receive;dur={1000 * waited:.3f}, total;dur={1000 * total:.3f}"
                message = {**message, "headers": [*message["headers"], (HEADER, value.encode())]}
            await send(message)

        await self._app(scope, timed_receive, timed_send)
