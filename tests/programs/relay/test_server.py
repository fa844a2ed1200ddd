import json
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from threading import Event, Thread

import pytest
from relay.history import KEPT, History
from relay.names import resolve
from servers import free_port
from waiting import wait_for

from deadzone_profiles.reading import parse_profile
from programs import PROGRAMS

OPEN = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
MESSAGE = {"to": "camera-300.studio.local", "part": 7}


@contextmanager
def relay(*options: str):
    """The address of a relay that runs meanwhile."""
    port = free_port()
    argv = (sys.executable, str(PROGRAMS / "relay_server.py"), "--port", str(port), *options)
    with subprocess.Popen(argv) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(lambda: OPEN(f"{address}/health").read(), "the relay is not ready")
            yield address
        finally:
            process.kill()


def send(address: str) -> dict:
    with OPEN(
        urllib.request.Request(f"{address}/relay", data=json.dumps(MESSAGE).encode())
    ) as answer:
        return json.loads(answer.read())


def test_it_profiles_itself_while_it_serves():
    with relay() as address:
        answered, is_profiled = [], Event()

        def load() -> None:
            while not is_profiled.wait(0.002):
                answered.append(send(address))

        thread = Thread(target=load)
        thread.start()
        profile = parse_profile(OPEN(f"{address}/debug/pprof/profile?seconds=1").read())
        is_profiled.set()
        thread.join()
    assert answered[0]["address"] == "10.0.1.44" and answered[0]["signature"]
    assert profile.value_type().name == "samples" and 0 < profile.total() <= 110
    assert any(package.endswith("relay_server.py") for package in profile.packages)


def test_without_its_parts_it_answers_too_and_refuses_what_it_does_not_know():
    with relay("--history", "no", "--names", "no") as address:
        assert send(address)["address"] == ""
        for page in ("nothing", "debug/pprof/profile?seconds=x"):
            with pytest.raises(urllib.error.HTTPError):
                OPEN(f"{address}/{page}")


def test_history_keeps_copies_and_sends_every_fourth_again():
    history = History()
    message = {"part": 1, "place": {"x": 1}}
    again = []
    for _ in range(8):
        history.remember(message)
        again.append(bool(history.resend()))
    message["place"]["x"] = 2
    assert again == [False, False, False, True] * 2
    assert json.loads(history.resend())["place"] == {"x": 1}
    assert KEPT > 8


def test_names_are_found():
    assert resolve("camera-0.studio.local") == "10.0.0.0"
    assert resolve("nobody") == ""
