"""The launcher by itself, run by every shell of this machine: its promises need no cluster."""

import contextlib
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path

import pytest
from needs import needs
from waiting import wait_for

from deadzone.store.table import ACCOUNT
from deadzone_kubernetes.container.accounting import measurement, parse, reading
from deadzone_kubernetes.container.container import MAKE_HOME

LAUNCHER = resources.files("deadzone_kubernetes.container").joinpath("launcher.sh").read_text()

SHELLS = (("dash",), ("bash",), ("busybox", "sh"))


@pytest.fixture(params=SHELLS, ids=" ".join)
def launcher(request, tmp_path):
    program = needs(request.param[0])
    shell = (program, *request.param[1:])
    home = tmp_path / "home"
    home.mkdir()
    (home / "launch").write_text(LAUNCHER)

    def argv(action, *arguments):
        own = (str(home / "launch"), action, str(home), " ".join(shell), "-")
        return (*shell, *own, *map(str, arguments))

    argv.home = home
    yield argv
    subprocess.run(argv("stop"), check=False, capture_output=True)


def act(argv) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)


def trial(name, *program, timeout=3000, cwd="", env=()):
    return ("run", name, timeout, "0.2", cwd, len(env), *env, *program)


def await_true(condition) -> None:
    wait_for(condition, "it did not come to it", pause_s=0.01)


def test_a_trial_is_told_with_everything_it_printed(launcher, tmp_path):
    words = ("a b", "", "$HOME", "`id`", "'", '"', "\\", "*", "가")
    program = ("sh", "-c", 'printf "%s\\n" "$@" "$X"; pwd >&2; exit 3', "x", *words)
    said = act(launcher(*trial("t", *program, cwd=tmp_path, env=("X=1 'y'",))))
    assert said.returncode == 0, said.stderr
    found = measurement(parse(said.stdout), "asked", 30, {})
    assert found.exit_code == 3
    assert found.stdout.split("\n") == [*words, "1 'y'"]
    assert found.stderr == str(tmp_path)
    assert 0 < found.wall_s < 30


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize("place", ["here", "/dev/shm"])
def test_what_another_sweep_left_is_ended_and_removed_unless_others_may_share_it(
    shell, place, tmp_path, alive
):
    words = (needs(shell[0]), *shell[1:])
    with tempfile.TemporaryDirectory(dir=tmp_path if place == "here" else place) as scratch:
        ours, left, empty, strange = (
            Path(scratch, f"deadzone-{name}")
            for name in ("0000cafe", "0badcafe", "0000beef", "notebook")
        )
        for folder in (left, empty, strange):
            folder.mkdir()
        for folder in (left, strange):
            (folder / "launch").write_text(LAUNCHER)
        sleeping = map(str, trial("t", "sleep", "60")[1:])
        argv = (*words, left / "launch", "run", left, " ".join(words), "-", *sleeping)
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as stream:
            note = left / "trials" / "t" / "program"
            await_true(lambda: note.exists() and note.read_text())
            stream.kill()
        program = int(note.read_text().split()[0])
        argv = (*words, "-c", MAKE_HOME, "deadzone", ours, " ".join(words), "-")
        made = subprocess.run(argv, check=False)
        is_own = ours.stat().st_dev == Path("/").stat().st_dev
        assert made.returncode == 0
        assert left.is_dir() != is_own and all(one.is_dir() for one in (ours, empty, strange))
        if is_own:  # it was told to end, which takes it a moment
            await_true(lambda: not alive(program))
        else:
            assert alive(program)
            act((*words, left / "launch", "stop", left, " ".join(words), "-"))


def test_a_trial_runs_once_however_often_it_is_asked_for(launcher, tmp_path):
    count = tmp_path / "count"
    argv = launcher(*trial("t", "sh", "-c", f"echo x >> {count}; sleep 0.3"))
    both = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = [process.communicate(timeout=60)[0] for process in both]
    assert count.read_text() == "x\n"
    assert all(text.endswith("told\n") for text in told)
    assert act(launcher("await", "t")).stdout.endswith("told\n")


def test_a_cut_stream_neither_ends_nor_repeats_the_program(launcher, tmp_path):
    done = tmp_path / "done"
    stream = subprocess.Popen(launcher(*trial("t", "sh", "-c", f"sleep 1.5; echo x >> {done}")))
    await_true((launcher.home / "trials" / "t" / "program").exists)
    stream.send_signal(signal.SIGKILL)
    stream.wait()
    said = act(launcher("await", "t"))
    assert said.returncode == 0
    assert parse(said.stdout).text("result") == "code 0 0"
    assert done.read_text() == "x\n"


def test_a_trial_that_is_awaited_before_its_start_never_starts(launcher, tmp_path):
    done = tmp_path / "done"
    act(launcher(*trial("first", "true")))
    assert act(launcher("await", "late")).returncode == 90
    late = act(launcher(*trial("late", "touch", done)))
    assert late.returncode != 0
    assert not done.exists()


def test_a_trial_that_takes_too_long_is_ended_with_all_it_started(launcher):
    said = act(launcher(*trial("t", "sh", "-c", "sleep 301 & sleep 302", timeout=60)))
    told = parse(said.stdout)
    assert "timed_out" in told.lines
    assert measurement(told, "asked", 0.6, {}).status == "timeout"
    assert not running("sleep 301")
    assert not running("sleep 302")


def test_what_a_trial_leaves_running_is_ended_and_counted(launcher):
    said = act(launcher(*trial("t", "sh", "-c", "sleep 303 >/dev/null 2>&1 &")))
    found = measurement(parse(said.stdout), "asked", 30, {})
    assert found.status == "ok"
    assert found.error == "1 processes were left running and were killed"
    assert not running("sleep 303")


def test_stop_ends_trials_and_nothing_else(launcher):
    other = subprocess.Popen(("sleep", "304"))
    stream = subprocess.Popen(launcher(*trial("t", "sleep", "305")), stdout=subprocess.DEVNULL)
    await_true(lambda: running("sleep 305"))
    act(launcher("stop"))
    assert stream.wait(timeout=30) == 92
    assert not running("sleep 305")
    assert other.poll() is None
    other.kill()
    other.wait()


def test_a_missing_program_or_folder_is_told(launcher):
    assert "there is no program nosuch" in act(launcher(*trial("a", "nosuch"))).stdout
    nowhere = act(launcher(*trial("b", "true", cwd="/no/such")))
    assert "there is no folder /no/such" in nowhere.stdout


def test_the_probe_tells_of_the_node(launcher):
    told = act(launcher("probe")).stdout.splitlines()
    assert f"cores {Path('/proc/cpuinfo').read_text().count('processor')}" in told
    assert "writable 1" in told


def test_its_accounting_grows_with_what_is_used(launcher):
    before = reading(act(launcher("count")).stdout.splitlines()).counters()
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    after = reading(act(launcher("count")).stdout.splitlines()).counters()
    if before.usage_s is None:
        pytest.skip("this machine's root group counts no CPU time")
    assert after.usage_s - before.usage_s > 0.09
    assert after.major_faults >= before.major_faults


def running(words: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().rstrip(b"\0").decode().split("\0") == words.split():
                return True
    return False


def test_all_who_wait_are_told_at_once(launcher):
    argv = launcher(*trial("t", "sleep", "1.5"))
    first = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    await_true((launcher.home / "trials" / "t" / "program").exists)
    others = [subprocess.Popen(launcher("await", "t"), stdout=subprocess.DEVNULL) for _ in range(3)]
    began = time.monotonic()
    assert [other.wait(timeout=30) for other in others] == [0, 0, 0]
    assert first.wait(timeout=30) == 0
    assert time.monotonic() - began < 15


OWN_CPU = re.compile(r"(before|after) (stat|usage_ns|user_ns|sys_ns)\b")
BUSY = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"


def test_a_trial_tells_where_the_time_of_its_threads_went(launcher):
    """The control group here is the machine's, so the CPU time is put in that a container's own
    would count."""
    said = act(launcher(*trial("t", "sh", "-c", f"sleep 3 & {BUSY}; wait")))
    looks = [line.split() for line in parse(said.stdout).lines["threads"]]
    last = {thread: look for look in looks if (thread := look[2])}
    assert len({look[0] for look in looks}) > 2 and len(last) == 2
    waited = {look[8] for look in looks if look[3] == "S"}
    assert any("nanosleep" in where for where in waited)
    used_s = sum(int(look[5]) for look in last.values()) / 1e9
    counted_lines = f"before stat usage_usec 0\nafter stat usage_usec {used_s * 1.1e6:.0f}\n"
    kept = [line for line in said.stdout.splitlines() if not OWN_CPU.match(line)]
    told = measurement(parse(counted_lines + "\n".join(kept)), "asked", 30, {}).counted
    assert told["running_s"] == pytest.approx(1.1 * used_s, rel=0.01)
    assert told["threads_s"] == pytest.approx(sum(told[name] for name in [*ACCOUNT][1:]), abs=1e-4)
    assert told["asleep_s"] > 0.4 and told["network_wait_s"] == 0


def test_threads_are_looked_at_less_often_under_a_limit(launcher):
    """A look costs a container the same under any limit, so that the share of it is the same where
    there are fewer."""
    text = (launcher.home / "launch").read_text()
    said = [parse(act(launcher(*trial("free", "sleep", "2"))).stdout)]
    limited = text.replace(
        "totals\n      time_now\n", "totals\n      dz_quota=5000 dz_span=100000\n      time_now\n"
    )
    assert limited != text
    (launcher.home / "launch").write_text(limited)
    said.append(parse(act(launcher(*trial("limited", "sleep", "2"))).stdout))
    free, limited = ({look.split()[0] for look in one.lines["threads"]} for one in said)
    assert len(free) > len(limited) == 1


ADOPTING = """
import ctypes, json, os, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
trials, stop = json.loads(sys.argv[1])
for argv in trials:
    trial = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    if stop:
        time.sleep(0.7)
        subprocess.run(stop, check=True)
    trial.wait()
adopted = []
try:
    while True:
        adopted.append(os.waitpid(-1, 0)[0])
except ChildProcessError:
    print(len(adopted))
"""
"""Runs commands as a pod's first process that reaps nobody, and counts what was left to it."""

PYTHON = (sys.executable, "-I", "-S", "-c")


def test_no_process_is_left_to_a_first_process_that_reaps_none(launcher):
    trials = [launcher(*trial(f"t{i}", "sleep", str(0.02 * i))) for i in range(12)]
    stopped = [launcher(*trial("s", "sleep", "60"))]
    for given in ((trials, None), (stopped, launcher("stop"))):
        assert act((*PYTHON, ADOPTING, json.dumps(given))).stdout == "0\n"
