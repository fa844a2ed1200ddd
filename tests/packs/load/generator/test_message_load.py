import pytest

HEARD = ("/topic/room.{room}", "/user/queue/reply")
STOMP = {"protocol": "stomp", "subscribe": HEARD, "send_to": "/app/room.{room}"}


@pytest.mark.alone("it measures when messages are sent and answered")
def test_every_message_is_answered_and_heard_by_the_whole_room(websocket_server, generate):
    told = generate(
        websocket_server() + "?room={room}", protocol="websocket", rate=200, duration_s=1,
        connections=20, room_size=5, body="hello {id}", fan_out=5, reply_contains="reply",
    )  # fmt: skip
    assert told.failure is None
    assert told.responses["connections"] == told.responses["connections_held"] == 20
    assert told.responses["requests"] == 200
    assert told.responses["broadcasts"] == 1_000
    assert told.responses["broadcasts_missing"] == 0
    assert told.responses["broadcast_rate"] == pytest.approx(1_000, rel=0.1)
    metrics = {metric for metric, *_ in told.slices}
    assert metrics == {"latency_us", "broadcast_us", "connect_us", "lag_us"}


def test_replies_and_broadcasts_are_told_apart_without_words_too(websocket_server, generate):
    told = generate(
        websocket_server() + "?room={room}", protocol="websocket", rate=100, duration_s=0.5,
        connections=4, room_size=2
    )  # fmt: skip
    assert (told.responses["requests"], told.responses["broadcasts"]) == (50, 100)


def test_stomp_users_subscribe_send_and_hear(websocket_server, generate):
    told = generate(
        websocket_server(), **STOMP, rate=100, duration_s=1, connections=12, room_size=3, fan_out=3,
        body='{{"text": "{id}"}}', reply_contains="reply",
    )  # fmt: skip
    assert told.failure is None
    assert (told.responses["requests"], told.responses["broadcasts"]) == (100, 300)


def test_a_message_may_be_answered_by_its_broadcast(websocket_server, generate):
    told = generate(
        websocket_server(), protocol="stomp", subscribe=("/topic/a",), send_to="/app/a", rate=50,
        duration_s=0.5, connections=3, answered_by="broadcast",
    )  # fmt: skip
    assert (told.responses["requests"], told.responses["broadcasts"]) == (25, 75)


def test_broadcasts_that_never_come_are_missed_and_count_with_their_wait(
    websocket_server, generate
):
    told = generate(
        websocket_server("--outbound-pool", 1, "--outbound-wait-ms", 20), protocol="websocket",
        rate=100, duration_s=1, drain_s=0.5, connections=4, body="{id}", fan_out=4,
        reply_contains="reply",
    )  # fmt: skip
    heard, missed = told.responses["broadcasts"], told.responses["broadcasts_missing"]
    assert heard + missed == 400
    assert missed > 250
    assert told.responses["broadcast_p50_ms"] > 400


def test_messages_without_a_number_are_answered_in_their_order(starts, generate, tmp_path):
    echo = tmp_path / "echo.py"
    echo.write_text(
        "import asyncio\nfrom websockets.asyncio.server import serve\n"
        "async def say(peer):\n    async for message in peer:\n        await "
        "peer.send(message.upper())\n"
        "async def main():\n    async with serve(say, '127.0.0.1', 0) as server:\n"
        "        print(server.sockets[0].getsockname()[1], flush=True)\n        await "
        "server.serve_forever()\n"
        "asyncio.run(main())\n"
    )
    url = f"ws://127.0.0.1:{starts(echo)}/"
    told = generate(
        url, protocol="websocket", rate=100, duration_s=0.5, connections=5, body="x" * 70_000
    )
    assert told.failure is None
    assert told.responses["requests"] == 50
    assert told.responses["transferred_bytes"] > 50 * 70_000


def test_a_server_of_another_protocol_is_said(http_server, generate):
    told = generate(
        http_server("error"), protocol="websocket", rate=10, duration_s=0.3, connections=2
    )
    assert "no user could connect" in told.failure
    assert told.responses["connect_errors"] == 2
    few = {"rate": 10, "duration_s": 0.3, "connections": 2}
    told = generate(http_server("garbage"), protocol="stomp", send_to="/a", **few)
    assert "does not speak stomp" in told.failure


DIES = """
import itertools, os
from websocket_pools import Pool
tasks, submit = itertools.count(), Pool.submit
Pool.submit = lambda pool, task: os._exit(9) if next(tasks) == 150 else submit(pool, task)
"""
"""The server ends at its 150th task: each message is one, and five to send its copies."""


@pytest.mark.alone("it measures when messages are sent and answered")
def test_a_server_that_dies_while_its_users_send_leaves_what_was_measured(
    websocket_server, generate
):
    told = generate(
        lambda: websocket_server(change=DIES), protocol="websocket", rate=50, duration_s=1,
        connections=5, drain_s=1,
    )  # fmt: skip
    assert told.failure.startswith("the server closed all 5 connections")
    assert 0 < told.responses["requests"] < 50
    assert told.responses["errors_closed"] + told.responses["requests"] == pytest.approx(50, abs=1)
