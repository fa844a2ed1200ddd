import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from servers import refusing_port
from waiting import wait_for

from deadzone.errors import StoreError, StudyError, TargetError
from deadzone.run.targets.local import LocalTarget
from deadzone.study.design import Treatment
from deadzone.study.service_specs import DataSpec, ReadinessSpec, ServiceSpec
from deadzone.study.target_specs import LocalTargetSpec
from deadzone_services.base import ServiceError, placeholders_of
from deadzone_services.service import LOG_KEPT_BYTES, Service, free_port
from deadzone_services.settings import Data

SERVER = Path(__file__).with_name("misbehaving.py")
HEALTH = ReadinessSpec(path="/health", timeout_s=20)
ONE = Treatment({"pool_size": 1})


def spec(fault="none", **keys):
    argv = ("{python}", "-S", str(SERVER), "{port}", fault)
    return ServiceSpec(**{"argv": argv, "ready": HEALTH, **keys})


with_a_group_and_without = pytest.mark.parametrize("host", ["auto", "unlimited"], indirect=True)


@pytest.fixture
def host(request):
    """A target with a control group where there is one to have."""
    mechanism = getattr(request, "param", "auto")
    with LocalTarget(LocalTargetSpec(mechanism=mechanism)) as target:
        yield target


@pytest.fixture
def serve(host, tmp_path):
    """Services on the target; whatever still runs is stopped."""
    with ExitStack() as stack:

        def make(*arguments, **keys):
            logs = tmp_path / "logs"
            service = Service(spec(*arguments, **keys), host, tmp_path, "here", logs)
            stack.callback(service.stop)
            return service

        yield make


def ask(reached, path="/"):
    with urllib.request.urlopen(f"{reached}{path}", timeout=20) as answer:
        return answer.read()


def test_what_the_setup_of_a_service_leaves_running_is_ended_and_said(
    write_study, deadzone, tmp_path
):
    program, note = shutil.copy(shutil.which("sleep"), tmp_path / "a-store"), tmp_path / "pid"
    setup = ["sh", "-c", f"setsid {program} 600 >/dev/null 2>&1 & echo $! >{note}"]
    argv = ["{python}", "-S", str(SERVER), "{port}", "none"]
    study = write_study(
        service={"argv": argv, "ready": {"path": "/health"}, "setup": setup},
        workload={"kind": "http"},
        factors={"cpu_limit": [1]},
        replicates=1,
    )
    assert "left a-store (" in deadzone("sweep", study, code=0).err
    pid = int(note.read_text())
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@with_a_group_and_without
def test_it_is_ready_when_it_is_asked_and_gone_afterwards_without_a_log_if_it_is_silent(
    serve, host, alive, tmp_path
):
    service = serve()
    service.prepare_sweep()
    reached = service.ready(ONE)
    assert ask(reached) == b"ready\n"
    assert service.start_s > 0
    pid = service.process()
    service.after_trial()
    assert not alive(pid)
    assert service.process() is None
    assert host.processes()[1:] == ()
    assert list((tmp_path / "logs").glob("*")) == []


def test_a_trial_gets_a_fresh_process_unless_the_study_keeps_it_for_a_treatment(serve):
    fresh, kept = serve(), serve(restart="treatment")
    pids = []
    for service in (fresh, fresh, kept, kept):
        service.ready(ONE)
        pids.append(service.process())
        service.after_trial()
        if service is fresh:
            assert service.process() is None
    assert pids[0] != pids[1]
    assert pids[2] == pids[3]
    kept.ready(Treatment({"pool_size": 2}))
    assert kept.process() != pids[3]


@with_a_group_and_without
def test_one_that_does_not_heed_the_signal_is_killed_with_its_descendants(serve, host, alive):
    service = serve("stubborn", stop_timeout_s=0.2)
    service.ready(ONE)
    pids = host.processes()[1:]
    assert len(pids) >= 2
    service.stop()
    assert not any(alive(pid) for pid in pids)


@with_a_group_and_without
def test_a_launcher_that_was_killed_is_told_once_and_stopping_again_does_no_harm(
    serve, host, alive
):
    service = serve()
    service.ready(ONE)
    launcher, pid = host.processes()[0], service.process()
    os.kill(launcher, signal.SIGKILL)
    with pytest.raises(TargetError, match="launcher"):
        service.stop()
    assert not alive(pid)
    service.stop()


def test_factors_and_folders_reach_arguments_and_environment(serve, tmp_path):
    program = (
        "import os, sys\n"
        "print(sys.argv[1], os.environ['POOL'], os.listdir(sys.argv[2]), flush=True)\n"
        "sys.argv = ['', os.environ['PORT'], 'none']; exec(open(os.environ['SERVER']).read())"
    )
    service = serve(
        argv=("{python}", "-c", program, "{pool_size}", "{scratch}"),
        env={"POOL": "{pool_size}", "PORT": "{port}", "SERVER": str(SERVER)},
    )
    service.ready(Treatment({"pool_size": 7}))
    service.stop()
    (log,) = (tmp_path / "logs").glob("*.log")
    assert log.read_text() == "7 7 []\n"


def test_what_it_printed_is_kept_the_end_of_it_if_it_is_long(serve, tmp_path):
    program = (
        "print('first'); print('x' * 3_000_000); print('http://user:secret@host/ last', flush=True)"
        f"\nimport sys; exec(open({str(SERVER)!r}).read())"
    )
    service = serve(argv=("{python}", "-c", program, "{port}", "none"))
    service.ready(ONE)
    service.stop()
    kept = (tmp_path / "logs" / "00001-here.log").read_text()
    assert len(kept) <= LOG_KEPT_BYTES + 10
    assert kept.endswith("http://***@host/ last\n")
    assert "secret" not in kept


ENDED = "ended with exit code 1; the end of its log 00001-here.log: configuration is missing"
LATE = "was not ready within 0.3 s: http://127.0.0.1:"


@pytest.mark.parametrize(
    ("fault", "ready", "words"),
    [("crash", HEALTH, ENDED), ("late", {"path": "/health", "timeout_s": 0.3}, LATE),
     ("error", {"path": "/other", "timeout_s": 0.3}, "status 503 where 200 means ready")],
    ids=["crash", "late", "error"],
)  # fmt: skip
def test_not_ready_is_told_with_the_reason_and_nothing_is_left(serve, host, fault, ready, words):
    service = serve(fault, ready=ready)
    with pytest.raises(ServiceError, match="service not ready") as refusal:
        service.ready(ONE)
    assert words in str(refusal.value)
    assert host.processes()[1:] == ()


def test_a_program_that_is_missing_is_not_ready(host, tmp_path):
    service = Service(ServiceSpec(argv=("no-such-service", "{port}")), host, tmp_path)
    with pytest.raises(ServiceError, match="did not start: No such file"):
        service.ready(ONE)


def test_a_port_that_is_taken_is_told_with_its_holder(serve):
    with socket.create_server(("127.0.0.1", 0)) as holder:
        service = serve(port=holder.getsockname()[1])
        with pytest.raises(ServiceError, match="port taken") as refusal:
            service.ready(ONE)
    assert f"process {os.getpid()}" in str(refusal.value)


def test_a_service_that_ends_in_a_trial_is_told_with_its_last_words(serve):
    service = serve("die")
    reached = service.ready(ONE)
    with pytest.raises(OSError):
        ask(reached)
    told = wait_for(service.death, "the service lives")
    assert "ended with exit code 9; the end of its log" in told
    assert told.endswith("the last words of the service")


def test_a_target_that_starts_nothing_needs_a_url(tmp_path):
    with pytest.raises(StudyError, match="Give the url"):
        Service(ServiceSpec(argv=("x", "{port}")), None, tmp_path).prepare_sweep()


@with_a_group_and_without
def test_what_it_used_while_it_was_asked_is_its_own(serve, host):
    service = serve("burn")
    reached = service.ready(ONE)
    watch = service.watch()
    watch.begin()
    ask(reached)
    watch.tick(0.1)
    watch.end()
    use = watch.use()
    assert 0.25 < use.user_s + use.sys_s < 0.6
    assert use.responses["service_threads"] >= 1
    assert use.responses["service_rss_bytes"] > 1_000_000
    assert use.largest_rss_bytes >= use.responses["service_rss_bytes"] * 0.5
    assert use.responses["service_major_faults"] >= 0
    watch.begin()
    watch.end()
    assert watch.use().user_s < 0.05


@pytest.fixture
def external():
    port = free_port("127.0.0.1")
    with subprocess.Popen((sys.executable, "-S", str(SERVER), str(port), "burn")) as process:
        yield f"http://127.0.0.1:{port}"
        process.kill()


def hooked(external, folder, hook="echo {pool_size} >> hooked", **keys):
    """A service that is up, whose hook notes each setting."""
    up = ServiceSpec(url=external, hook=("sh", "-c", hook), ready=HEALTH, **keys)
    return Service(up, None, folder)


def test_one_that_is_up_is_reached_its_hook_run_once_a_treatment_and_its_processes_watched(
    external, tmp_path
):
    service = hooked(external, tmp_path)
    service.prepare_sweep()
    for size in (1, 1, 2):
        reached = service.ready(Treatment({"pool_size": size}))
        service.after_trial()
    assert (tmp_path / "hooked").read_text().split() == ["1", "2"]
    watch = service.watch()
    watch.begin()
    ask(reached)
    watch.end()
    assert watch.use().user_s + watch.use().sys_s == pytest.approx(0.3, abs=0.1)


def test_a_setting_that_another_environment_changed_is_set_again(external, tmp_path):
    service = hooked(external, tmp_path, restart="treatment")
    for _ in range(2):
        service.ready(ONE)
        service.after_trial()
    assert (tmp_path / "hooked").read_text().split() == ["1"]
    service.displaced()
    service.ready(ONE)
    assert (tmp_path / "hooked").read_text().split() == ["1", "1"]


def test_after_a_treatment_that_failed_the_one_before_is_set_again(external, tmp_path):
    failing = "echo {pool_size} >> hooked; test {pool_size} != 2"
    service = hooked(external, tmp_path, failing, restart="treatment")
    service.ready(ONE)
    with pytest.raises(ServiceError, match="exit code 1"):
        service.ready(Treatment({"pool_size": 2}))
    service.ready(ONE)
    assert (tmp_path / "hooked").read_text().split() == ["1", "2", "1"]


def test_a_url_that_does_not_answer_is_told(tmp_path):
    with refusing_port() as port, pytest.raises(ServiceError, match="nothing listens there"):
        down = ServiceSpec(url=f"http://u:p@127.0.0.1:{port}", ready=ReadinessSpec(timeout_s=0.2))
        Service(down, None, tmp_path).ready(ONE)


def test_an_address_has_parts_for_every_protocol():
    places = placeholders_of("http://127.0.0.1:8000/")
    url, address = places.pop("service_url"), places.pop("address")
    assert (url, address) == ("http://127.0.0.1:8000", "127.0.0.1:8000")
    assert places == {"host": "127.0.0.1", "port": 8000}
    assert placeholders_of("https://[::1]")["address"] == "[::1]:443"


def test_the_folder_of_a_run_that_was_moved_away_is_not_made_anew(tmp_path):
    with LocalTarget(LocalTargetSpec()) as target:
        service = Service(spec(), target, tmp_path, "here", tmp_path / "gone" / "logs")
        with pytest.raises(StoreError, match="gone/logs: cannot be made"):
            service.ready(ONE)
    assert not (tmp_path / "gone").exists()


def test_each_environment_has_a_copy_of_the_data_of_its_own(tmp_path):
    prepared = tmp_path / "pgdata"
    prepared.mkdir()
    (prepared / "fresh").touch()
    copies = [Data(DataSpec(folder=str(prepared)), tmp_path) for _ in range(2)]
    folders = [copy.ready(tmp_path, None) for copy in copies]
    try:
        assert folders[0] != folders[1]
        assert [[path.name for path in folder.iterdir()] for folder in folders] == [["fresh"]] * 2
    finally:
        for copy in copies:
            copy.remove()
