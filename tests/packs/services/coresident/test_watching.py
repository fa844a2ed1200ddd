import contextlib
import subprocess
import sys

import psutil
import pytest
from needs import needs
from servers import free_port, postgres_programs, postgres_server, redis_client, redis_server
from waiting import wait_for

from deadzone.errors import SweepError, TargetError
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.source import load_source
from deadzone.report.sweep.tables import cores_used
from deadzone.store.run import RunFolder
from deadzone.study.coresident_specs import CoresidentSpec
from deadzone_services.coresident.watching import CoresidentProcess

PATIENT = {"max_steal": 999, "max_pressure": 1, "max_clock_drift": 999}


def study_of(write_study, redis, **keys):
    """A study of a client of a Redis."""
    client = redis_client(redis.port, 20_000, "-P", "{depth}")
    return write_study(argv=client, factors={"depth": [1, 2]}, **keys)


@pytest.mark.alone("it measures the CPU of a server and of its neighbours")
def test_its_cpu_is_the_trials_and_stands_under_its_name(redis, write_study, sweep):
    belongs = [{"port": redis.port, "name": "redis"}]
    run = sweep(study_of(write_study, redis, belongs=belongs))
    trials = run.trials()
    assert (trials["redis_cpu_s"] > 0.02).all()
    used = trials["redis_cores"] * trials["wall_s"]
    assert used.tolist() == pytest.approx(trials["redis_cpu_s"].tolist(), rel=0.2)
    assert (trials["redis_threads"] >= 1).all() and (trials["redis_rss_bytes"] > 1e6).all()
    assert "redis" in run.provenance()["belongs"][0]
    named = trials.get("foreign_processes")
    assert named is None or not named.fillna("").str.contains("redis-server").any()


@pytest.mark.night
@pytest.mark.alone("it measures the CPU of a neighbour")
def test_the_same_load_without_it_is_a_neighbour(redis, write_study, sweep):
    trust = {**PATIENT, "max_foreign_cpu": 999}
    trials = sweep(study_of(write_study, redis, trust=trust)).trials()
    assert "redis_cores" not in trials
    assert trials["foreign_processes"].str.contains("redis-server").all()


def test_a_server_that_goes_away_loses_the_trials_and_stops_the_sweep(
    home, redis, write_study, deadzone
):
    kills = f"test {{n}} != 3 || kill -9 {redis.pid}; sleep 0.1"
    argv = ["sh", "-c", kills]
    study = write_study(argv=argv, factors={"n": [1, 2, 3]}, belongs=[{"port": redis.port}])
    said = deadzone("sweep", study, code=SweepError.exit_code)
    assert f"port {redis.port} has gone (it was process {redis.pid})" in said.err
    lost = RunFolder.find(home / "data" / "runs", "probe/latest").trials().query("status == 'lost'")
    assert len(lost)


def test_one_that_waits_for_no_child_is_refused_with_what_to_write(tmp_path):
    source = "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN); print(); input()"
    argv = [sys.executable, "-c", source]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        server.stdout.readline()
        (note := tmp_path / "server.pid").write_text(str(server.pid))
        with pytest.raises(TargetError, match=r"in no account.*belongs: \[\{unit: NAME\}\]"):
            CoresidentProcess(CoresidentSpec(pid_file=str(note))).find()
        server.kill()


def test_one_that_was_started_again_is_found_again(tmp_path, write_study, sweep):
    note = tmp_path / "server.pid"
    with redis_server(tmp_path) as first, redis_server(tmp_path) as second:
        note.write_text(str(first.pid))
        change = (
            f"open({str(note)!r}, 'w').write('{second.pid}'); import os; os.kill({first.pid}, 9)"
        )
        program = f"import os\nif os.path.exists('/proc/{first.pid}'): {change}\n{{n}}"
        study = write_study(
            argv=[sys.executable, "-c", program],
            factors={"n": [1, 2]},
            trust={**PATIENT, "max_foreign_cpu": 999, "max_attempts": 3},
            belongs=[{"pid_file": str(note)}],
        )
        trials = sweep(study).trials()
    assert trials["status"].tolist() == ["lost", "ok", "ok", "ok", "ok"]
    assert "was started again" in trials["error"][0]


STARTS = """
import os, signal, subprocess, sys
port, note = sys.argv[1:]
if os.path.exists(note):
    os.kill(int(open(note).read()), signal.SIGKILL)
# it listens some time after the command that starts it has ended
serves = "import time, runpy; time.sleep(0.3); runpy.run_module('http.server', run_name='__main__')"
server = subprocess.Popen([sys.executable, "-c", serves, port, "--bind", "127.0.0.1"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
open(note, "w").write(str(server.pid))
"""
"""A preparation that starts a server anew, as `pg_ctl restart` does."""


@pytest.mark.night
def test_a_server_that_is_started_before_each_trial_is_looked_up_then(tmp_path, write_study, sweep):
    port, note = free_port(), tmp_path / "server.pid"
    (script := tmp_path / "starts.py").write_text(STARTS)
    asks = f"import urllib.request as u; u.urlopen('http://127.0.0.1:{port}')  # {{n}}"
    study = write_study(
        argv=[sys.executable, "-c", asks],
        workload={"prepare": [sys.executable, str(script), str(port), str(note)]},
        factors={"n": [1, 2]},
        trust={**PATIENT, "max_foreign_cpu": 999},
        belongs=[{"port": port, "name": "server"}],
    )
    try:
        trials = sweep(study).trials()
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):  # the sweep ends what it has started
            psutil.Process(int(note.read_text())).kill()
    assert trials["status"].tolist() == ["ok"] * 4
    assert (trials["server_threads"] >= 1).all()


@pytest.mark.night
@pytest.mark.alone("it measures the CPU of a server and of its neighbours")
def test_a_postgresql_that_is_up_stands_beside_pgbench(write_study, sweep):
    postgres_programs()
    with postgres_server() as postgres:
        where = ["-h", "127.0.0.1", "-p", postgres.port, "-U", "postgres"]
        study = write_study(
            argv=[needs("pgbench"), *where, "-S", "-n", "-T", 1, "-c", "{clients}", "bench"],
            workload={"output": "pgbench"},
            factors={"clients": [1, 2, 4]},
            response={"name": "achieved_rate", "unit": "1/s", "goal": "max"},
            belongs=[{"process": "postgres", "name": "db"}],
        )
        run = sweep(study)
        trials = run.trials()
        assert len(trials) == 6 and trials["trusted"].all()
        is_busier = trials["db_cores"] > trials["cpu_efficiency"]
        assert is_busier.all(), "a server works more than its client"
    analysis = analyse(load_source(str(run.folder)))
    assert "db_cores" in cores_used(analysis.source.analysed, "clients")


def test_what_a_process_used_that_ended_and_was_not_waited_for_is_in_the_account(tmp_path):
    """PostgreSQL ends a process for each connection just as its client ends: at the trial's end it
    is a zombie."""
    program = """
import os, sys, time
while not os.path.exists(sys.argv[1]): time.sleep(0.01)
if not os.fork():
    end = time.process_time() + 0.3
    while time.process_time() < end: pass
    os._exit(0)
time.sleep(60)
"""
    begin, pid_file = tmp_path / "begin", tmp_path / "pid"
    server = subprocess.Popen([sys.executable, "-I", "-S", "-c", program, str(begin)])
    try:
        pid_file.write_text(str(server.pid))
        seen = CoresidentProcess(CoresidentSpec(pid_file=str(pid_file), name="server"))
        seen.find()
        before_s = seen.begin()
        begin.touch()
        child = psutil.Process(server.pid)
        ended = psutil.STATUS_ZOMBIE
        wait_for(lambda: ended in [one.status() for one in child.children()], "no child has ended")
        assert seen.end() - before_s == pytest.approx(0.3, abs=0.1)
        assert seen.responses()["server_cpu_s"] == pytest.approx(0.3, abs=0.1)
    finally:
        server.kill()
        server.wait()
