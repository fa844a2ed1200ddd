import asyncio

import pytest
from server_timing import HEADER, ServerTiming

from deadzone_services.http_client import server_times


async def app(scope, receive, send):
    await receive()
    await asyncio.sleep(0.05)
    await send({"type": "http.response.start", "status": 200, "headers": []})


def test_time_spent_waiting_for_the_request_is_told_apart():
    sent = []

    async def receive():
        await asyncio.sleep(0.1)
        return {"type": "http.request"}

    async def send(message):
        sent.append(message)

    asyncio.run(ServerTiming(app)({"type": "http"}, receive, send))
    times = server_times(dict(sent[0]["headers"])[HEADER].decode())
    assert times["service_receive_s"] >= 0.1
    assert times["service_s"] >= times["service_receive_s"] + 0.05


@pytest.mark.parametrize(
    ("value", "times"),
    [("total;dur=123.4", {"service_s": 0.1234}),
     ('cache;desc="hit", receive ; dur="2" , total;desc=x;dur=5',
      {"service_receive_s": 0.002, "service_s": 0.005}),
     ("total, total;dur=much, db;dur=3", {}),
     ("", {})],
)  # fmt: skip
def test_only_the_durations_of_known_entries_are_read(value, times):
    assert server_times(value) == pytest.approx(times)
