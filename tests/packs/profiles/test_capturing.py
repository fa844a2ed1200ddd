import gzip
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest
from servers import free_port

from deadzone.errors import WorkloadError
from deadzone.study.profile_specs import ProfilesSpec
from deadzone_profiles.capturing import CaptureError, Capturing, PprofPages, PySpy, Subject
from deadzone_profiles.reading import parse_profile, read_profile

PPROF = {"profiler": "pprof", "url": "http://127.0.0.1:{port}/debug/pprof", "duration_s": 1}

BUSY = """
import sys, time
def wasteful():
    return sum(i * i for i in range(20000))
def useful():
    return sum(range(20000))
until = time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    wasteful() if sys.argv[1] == "before" else None
    useful()
"""


def test_before_and_after_of_a_go_server_are_taken_in_interleaved_trials(
    media_server, write_study, sweep
):
    path = write_study(
        argv=[
            str(media_server),
            "-listen=127.0.0.1:{port}",
            "-streams={streams}",
            "-nack={nack}",
            "-pages=4",
        ],
        workload={"responses": {"packets": {"regex": r'"packets": (\d+)'}}},
        factors={"nack": ["true", "false"], "streams": [100], "port": [free_port()]},
        replicates=2,
        profiles=PPROF
        | {
            "start_s": 0.3,
            "kinds": ["cpu", "heap", "goroutine", "mutex"],
            "load": {"column": "streams", "unit": "stream"},
        },
    )
    run = sweep(path)
    records = run.records()
    assert [record["error"] for record in records] == [None] * 4
    assert [record["levels"]["nack"] for record in records[:2]] != [
        records[0]["levels"]["nack"]
    ] * 2
    remember = {"true": [], "false": []}
    for record in records:
        files = record["profiles"]
        assert files["cpu"] == f"profiles/{record['trial']}-cpu.pb.gz"
        profiles = {kind: read_profile(run.folder / name) for kind, name in files.items()}
        assert set(profiles) == {"cpu", "heap", "goroutine", "mutex"}
        # a second, and what the server waits for a core to end it
        assert 0.9e9 < profiles["cpu"].duration_ns < 3e9
        assert profiles["goroutine"].total() > 100
        remembers = any("nack" in name for name in profiles["cpu"].functions)
        remember[record["levels"]["nack"]].append(remembers)
    assert any(remember["true"]) and not any(remember["false"]), remember
    assert "profiles" not in run.trials()
    assert run.provenance()["profiler"] == "pprof pages"


def test_py_spy_samples_the_program_of_a_trial(write_study, sweep, tmp_path):
    try:
        PySpy(100).check()
    except WorkloadError as error:
        pytest.skip(str(error))
    program = tmp_path / "busy.py"
    program.write_text(BUSY)
    path = write_study(
        argv=[sys.executable, str(program), "{build}", "2"],
        factors={"build": ["before", "after"]},
        replicates=1,
        profiles={"profiler": "py-spy", "start_s": 0.2, "duration_s": 1},
    )
    run = sweep(path)
    wasteful = {}
    for record in run.records():
        if record["error"] and "CAP_SYS_PTRACE" in record["error"]:
            pytest.skip(record["error"])
        assert record["status"] == "ok", record["error"]
        profile = read_profile(run.folder / record["profiles"]["cpu"])
        wasteful[record["levels"]["build"]] = any("wasteful" in name for name in profile.functions)
        assert profile.total() > 20
        assert "busy.py" in profile.packages
    assert wasteful == {"before": True, "after": False}
    assert run.provenance()["profiler"].startswith("py-spy")


def test_a_service_that_is_not_there_fails_the_trial_and_stops_the_sweep(
    write_study, deadzone, monkeypatch
):
    monkeypatch.setattr("deadzone_profiles.capturing.START_S", 0.1)
    write_study(
        argv=["sleep", "{port}e-9", "1.1"],
        factors={"port": [free_port(), free_port()]},
        replicates=2,
        profiles=PPROF | {"url": "http://127.0.0.1:{port}/", "start_s": 0},
    )
    answer = deadzone("sweep", "probe", code=3)
    assert "the cpu profile was not taken" in answer.err and "does not answer" in answer.err


def test_a_load_that_ends_before_the_profile_is_said(write_study, sweep):
    path = write_study(
        argv=["sleep", "0.2", "{threads}e-9"],
        factors={"threads": [1]},
        profiles=PPROF | {"url": "http://127.0.0.1:1", "start_s": 0},
    )
    record = sweep(path).records()[0]
    assert record["status"] == "failed"
    assert record["error"].startswith("the load was over after 0.")
    assert "profile for less long" in record["error"]


@contextmanager
def page_server(answer: bytes, code: int = 200, wait_s: float = 0) -> Iterator[int]:
    """The port of a server that answers the first request, whatever it asks. wait_s: how long it
    does not listen yet."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))

        def serve() -> None:
            time.sleep(wait_s)
            listening.listen()
            with listening.accept()[0] as connection:
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.0 %d Told\r\n\r\n" % code + answer)

        Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]


@pytest.mark.parametrize(
    ("answer", "code", "ending"),
    [(b"main;work 5\n", 200, "folded"), (gzip.compress(b"main;work 5\n", mtime=0), 200, "pb.gz"),
     (b"gone", 404, None), (b"", 200, None)],
    ids=["a text", "zipped", "an error", "nothing"],
)  # fmt: skip
def test_pages_are_kept_as_they_are_and_errors_say_what_was_answered(answer, code, ending):
    pages = PprofPages("http://127.0.0.1:{port}/debug/pprof/")
    with page_server(answer, code) as port:
        subject = Subject({"port": port})
        if ending is None:
            with pytest.raises(CaptureError, match="answered"):
                pages.take("heap", subject, 1, Event())
        else:
            taken = pages.take("heap", subject, 1, Event())
            assert (taken.kind, taken.ending) == ("heap", ending)
            assert parse_profile(taken.content).total() == 5


def test_a_server_that_does_not_listen_yet_is_asked_again():
    with page_server(b"main;work 5\n", wait_s=0.5) as port:
        taken = PprofPages(f"http://127.0.0.1:{port}").take("heap", Subject({}), 1, Event())
    assert parse_profile(taken.content).total() == 5


def test_addresses_are_those_of_net_http_pprof():
    pages, subject = PprofPages(None), Subject({"service_url": "http://127.0.0.1:8"})
    assert pages.address("cpu", subject, 5) == "http://127.0.0.1:8/debug/pprof/profile?seconds=5"
    assert pages.address("heap", subject, 5) == "http://127.0.0.1:8/debug/pprof/heap"
    assert pages.address("mutex", subject, 5) == "http://127.0.0.1:8/debug/pprof/mutex?seconds=5"
    with pytest.raises(CaptureError, match="service_url"):
        pages.address("heap", Subject({}), 5)


def test_py_spy_says_what_it_cannot_look_into():
    with subprocess.Popen(("sleep", "5")) as process:
        with pytest.raises((CaptureError, WorkloadError), match="py-spy"):
            PySpy(100).take("cpu", Subject({}, lambda: process.pid), 1, Event())
        process.kill()
    with pytest.raises(CaptureError, match="no process"):
        PySpy(100).take("cpu", Subject({}), 1, Event())


def test_py_spy_that_is_not_installed_is_named_with_its_remedy(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(WorkloadError, match=r"the extra \[py-spy\] brings it"):
        PySpy(100).check()


def test_a_capture_that_is_abandoned_ends_at_once():
    spec = ProfilesSpec(profiler="pprof", url="http://127.0.0.1:1", start_s=60)
    capturing = Capturing(spec, PprofPages(spec.url), Subject({}))
    with pytest.raises(KeyboardInterrupt), capturing:
        raise KeyboardInterrupt
    assert not any(thread.is_alive() for thread in capturing._threads.values())
