import contextlib
import errno
import os
import re
import signal
import subprocess
import sys
import time
from typing import get_args

import pytest

from deadzone.errors import TargetError
from deadzone.measurement import Command
from deadzone.run.targets.launching import LAST_OUTPUT_BYTES
from deadzone.run.targets.limits.base import LEAST_MEMORY_LIMIT
from deadzone.run.targets.local import MECHANISMS, QUOTA_MECHANISMS, LocalTarget
from deadzone.study.design import Treatment
from deadzone.study.target_specs import LocalTargetSpec

PYTHON = (sys.executable, "-I", "-S", "-c")

BURN = "import time\nwhile time.process_time() < {0}: pass\n"

PRINT_OWN_QUOTA = """
import os
mounts = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
for line in open("/proc/self/cgroup"):
    _, controllers, path = line.strip().split(":", 2)
    if controllers == "" or "cpu" in controllers.split(","):
        for file in [mount + path + name for mount in mounts for name in ("/cpu.cfs_quota_us", "/cpu.max")]:
            if os.path.exists(file):
                print(open(file).read().split()[0], flush=True)
"""  # noqa: E501
"""Prints the quota the program runs under, in microseconds of a period of 100,000."""

DETACHED = """
import os, sys, time
def detached(work):
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(write, str(os.getpid()).encode() + b" ")
            work()
            os.write(write, b"done")
        os._exit(0)
    os.close(write)
    return read
"""
"""detached(work): the work is done by a grandchild in a session of its own; nobody waits for it."""

HUNDRED_MB = 100_000_000


@pytest.fixture(params=["quota", "emulated", "unlimited"])
def mechanism(request):
    """Every way of running a program, with the tightest limit it has to offer."""
    return request.getfixturevalue("quota") if request.param == "quota" else request.param


def tightest(mechanism):
    return "none" if mechanism == "unlimited" else 0.5


def pids_in(text):
    return [int(pid) for pid in re.findall(r"\d+", text)]


def test_the_limit_is_in_force_before_the_programs_first_instruction_and_counted_over_time(
    quota, execute
):
    program = PRINT_OWN_QUOTA + BURN.format(0.35)
    measured = execute(*PYTHON, program, limit=0.3, mechanism=quota)
    assert measured.stdout.split()[0] == "30000"
    # 0.35 s of CPU at 0.3 cores need 12 periods; the first may be entered late, so one period's
    # quota more.
    assert measured.cpu_efficiency <= 0.3 * 13 / 12 * 1.1
    assert measured.wall_s >= 1.0
    series = {sample.metric: [] for sample in measured.telemetry}
    for sample in measured.telemetry:
        series[sample.metric].append((sample.t_s, sample.value))
    assert {"cpu_usage_s", "nr_periods", "nr_throttled", "throttled_s"} <= set(series)
    for readings in series.values():
        times, values = zip(*readings, strict=True)
        assert list(times) == sorted(set(times))
        assert list(values) == sorted(values)
    times, usage = zip(*series["cpu_usage_s"], strict=True)
    assert times[-1] == pytest.approx(measured.wall_s)
    assert usage[-1] == pytest.approx(measured.user_s + measured.sys_s)
    assert 4 <= len(times) <= measured.wall_s * 10 + 2
    assert series["nr_throttled"][-1][1] == measured.nr_throttled


@pytest.mark.alone("it measures CPU time, wall time or throttling")
def test_well_below_what_the_program_can_use_nearly_every_period_is_throttled(quota, execute):
    # A neighbour that takes the core away leaves the program less than its quota: then nothing
    # throttles it.
    for _ in range(5):
        measured = execute(*PYTHON, BURN.format(0.3), limit=0.2, mechanism=quota)
        if measured.interference.foreign_cpu < 0.5:
            break
    assert measured.nr_periods >= 10
    assert measured.nr_throttled / measured.nr_periods > 0.85
    assert measured.throttled_s > 0.5


@pytest.mark.parametrize("limit", ["none", 1.5])
def test_without_a_limit_or_below_it_nothing_is_throttled(limit, quota, execute):
    measured = execute(*PYTHON, BURN.format(0.15), limit=limit, mechanism=quota)
    assert (measured.nr_throttled, measured.throttled_s) == (0, 0)


def test_the_next_treatment_gets_its_own_limit(quota):
    with LocalTarget(LocalTargetSpec(mechanism=quota), (0.25, "none", 1.5)) as target:
        quotas = []
        for limit in (0.25, "none", 1.5):
            target.prepare(Treatment({"cpu_limit": limit}))
            quotas.append(target.execute(Command((*PYTHON, PRINT_OWN_QUOTA)), 30).stdout.split()[0])
    assert quotas[0] == "25000"
    assert quotas[1] in ("-1", "max")
    assert quotas[2] == "150000"


@pytest.mark.parametrize(
    ("mechanism", "limit", "words"),
    [("emulated", 0.001, "too small"), ("unlimited", 1, "cannot be set"),
     ("auto", 0.001, "too small")],
)  # fmt: skip
def test_a_limit_that_cannot_be_had_is_refused_with_the_reason(mechanism, limit, words):
    with pytest.raises(TargetError, match=words) as refusal:
        LocalTarget(LocalTargetSpec(mechanism=mechanism), (limit,)).__enter__()
    assert "deadzone doctor" in str(refusal.value)


def test_why_better_mechanisms_were_not_taken_is_told():
    with LocalTarget(LocalTargetSpec(), (1,)) as target:
        facts = target.facts()
    better = list(facts["mechanisms_refused"])
    assert facts["limits_mechanism"] not in better
    assert all(facts["mechanisms_refused"][name] for name in better)


def test_a_target_that_was_not_opened_measures_nothing():
    with pytest.raises(TargetError, match="with statement"):
        LocalTarget(LocalTargetSpec()).prepare(Treatment({}))


def test_a_quarter_of_a_second_of_cpu_is_measured_as_such(mechanism, execute):
    measured = execute(*PYTHON, BURN.format(0.25), mechanism=mechanism, limit="none")
    assert measured.user_s + measured.sys_s == pytest.approx(0.3, abs=0.1)
    assert measured.wall_s >= 0.25


@pytest.mark.alone("it measures CPU time, wall time or throttling")
def test_time_in_the_kernel_is_told_apart(execute):
    program = "import os, time\nzero = open('/dev/zero', 'rb', 0)\nroom = bytearray(1 << 20)\n"
    measured = execute(*PYTHON, program + "while time.process_time() < 0.25: zero.readinto(room)")
    assert measured.sys_s > 2 * measured.user_s


@pytest.mark.alone("it measures CPU time, wall time or throttling")
def test_wall_time_is_the_programs_own(execute):
    assert 0.2 <= min(execute("sleep", "0.2").wall_s for _ in range(3)) < 0.25


def test_the_largest_resident_size_is_the_kernels(mechanism, execute):
    measured = execute(*PYTHON, f"room = bytearray(b'x') * {HUNDRED_MB}", mechanism=mechanism)
    assert HUNDRED_MB <= measured.max_rss_bytes < 1.3 * HUNDRED_MB
    assert execute("true", mechanism=mechanism).max_rss_bytes < 20_000_000


def test_a_descendant_that_nobody_waited_for_counts_too(mechanism, execute):
    work = (
        f"def work():\n    room = bytearray(b'x') * {HUNDRED_MB}\n    while time.process_time() "
        f"< 0.2: pass\n"
    )
    wait = "end = detached(work)\nwhile b'done' not in os.read(end, 100): pass\ntime.sleep(0.2)"
    measured = execute(*PYTHON, DETACHED + work + wait, mechanism=mechanism)
    assert measured.max_rss_bytes >= HUNDRED_MB
    assert measured.user_s + measured.sys_s >= 0.19
    assert measured.error is None


def test_exit_codes_and_signals(execute):
    assert execute("sh", "-c", "exit 7").exit_code == 7
    nameless = signal.SIGRTMIN + 3
    for number, name in ((signal.SIGTERM, "SIGTERM"), (nameless, f"signal {nameless}")):
        killed = execute("sh", "-c", f"kill -{number} $$")
        told = (killed.status, killed.exit_code, killed.error)
        assert told == ("failed", -number, f"killed by {name}")


@pytest.mark.parametrize(
    ("argv", "cwd", "words"),
    [(("no-such-program-anywhere",), None, "No such file"),
     (("/etc/passwd",), None, "Permission denied"), (("true",), "gone", "No such file"),
     (("true", "null\0byte"), None, "Invalid argument")],
)  # fmt: skip
def test_a_program_that_does_not_start_is_a_failed_trial_and_the_next_one_is_measured(
    argv, cwd, words, tmp_path
):
    with LocalTarget(LocalTargetSpec()) as target:
        target.prepare(Treatment({}))
        measured = target.execute(Command(argv, cwd=tmp_path / cwd if cwd else None), 30)
        assert measured.status == "failed"
        assert words in measured.error
        assert target.execute(Command(("sleep", "0.1")), 30).wall_s >= 0.1


def test_what_the_program_prints_is_kept_and_of_endless_output_the_end(execute):
    measured = execute("sh", "-c", "echo to stdout; echo to stderr >&2")
    assert (measured.stdout, measured.stderr) == ("to stdout\n", "to stderr\n")
    endless = execute(*PYTHON, "print('x' * 3_000_000); print('the end')").stdout
    assert endless.endswith("x\nthe end\n") and len(endless) <= LAST_OUTPUT_BYTES


def test_the_program_gets_its_environment_folder_and_no_input(execute, tmp_path):
    program = "echo $LEVEL; pwd; cat; ulimit -n >/dev/null && ls /proc/self/fd | wc -l"
    lines = execute("sh", "-c", program, env={"LEVEL": "3"}, cwd=tmp_path).stdout.split()
    assert lines[:2] == ["3", str(tmp_path)]
    assert int(lines[2]) <= 4, "descriptors of the harness reach the program"


def test_a_timeout_kills_the_whole_tree(mechanism, execute, alive):
    program = (
        DETACHED
        + "def work(): time.sleep(600)\nend = detached(work)\n"
        + "print(os.getpid(), os.read(end, 100).decode(), flush=True)\ntime.sleep(600)"
    )
    limits = {"mechanism": mechanism, "limit": tightest(mechanism)}
    measured = execute(*PYTHON, program, **limits, timeout_s=1)
    assert (measured.status, measured.error) == ("timeout", "killed after 1 s")
    assert 1 <= measured.wall_s < 10
    program, grandchild = pids_in(measured.stdout)
    assert not alive(program) and not alive(grandchild)


def test_what_a_program_leaves_running_is_killed_and_told(mechanism, execute, alive):
    program = DETACHED + "def work(): time.sleep(600)\nprint(os.read(detached(work), 100).decode())"
    measured = execute(*PYTHON, program, mechanism=mechanism, limit=tightest(mechanism))
    assert measured.status == "ok"
    assert measured.error == "1 processes were left running and were killed"
    assert not alive(*pids_in(measured.stdout))


@pytest.mark.parametrize("ending", [None, RuntimeError, KeyboardInterrupt])
def test_groups_and_scratch_are_gone_however_it_ends(ending, traces):
    with (
        contextlib.suppress(RuntimeError, KeyboardInterrupt),
        LocalTarget(LocalTargetSpec(), ("none",)) as target,
    ):
        target.prepare(Treatment({}))
        (target.scratch / "frame.jpg").write_bytes(b"x" * 1000)
        target.execute(Command(("true",)), 30)
        assert traces(os.getpid()), "the test looks in the wrong places"
        if ending:
            raise ending
    assert traces(os.getpid()) == []


def test_an_interrupt_in_the_middle_of_a_trial_ends_the_program(alive, traces, tmp_path):
    note = tmp_path / "pid"

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt), LocalTarget(LocalTargetSpec()) as target:
            target.prepare(Treatment({}))
            signal.setitimer(signal.ITIMER_REAL, 1)
            target.execute(Command(("sh", "-c", f"echo $$ > {note}; sleep 600")), 30)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not alive(int(note.read_text()))
    assert traces(os.getpid()) == []


def test_a_program_that_outgrows_the_least_memory_is_killed_and_not_the_launcher(execute):
    """Many small processes, each less than the launcher."""
    forks = (
        "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        room = b'x' * "
        "2_000_000; time.sleep(5); os._exit(0)\ntime.sleep(5)"
    )
    with LocalTarget(LocalTargetSpec(), (), (LEAST_MEMORY_LIMIT,)) as target:
        try:
            target.prepare(Treatment({"memory_limit": LEAST_MEMORY_LIMIT}))
        except TargetError as error:
            pytest.skip(f"memory cannot be limited here: {error}")
        for _ in range(3):
            measured = target.execute(Command((*PYTHON, forks)), 30)
            assert measured.status == "oom_killed", measured


@pytest.mark.alone("it measures CPU time, wall time or throttling")
def test_a_neighbours_load_is_seen_and_the_trials_own_is_not(quota, execute):
    with subprocess.Popen((*PYTHON, "while True: pass")) as neighbour:
        try:
            time.sleep(0.1)
            beside = execute("sleep", "0.5", mechanism=quota).interference
        finally:
            neighbour.kill()
    assert beside.foreign_cpu > 0.4
    assert beside.foreign_cpu_resolution < 0.1
    assert 0 <= beside.clock_drift < 0.5


@pytest.mark.alone("it measures CPU time, wall time or throttling")
def test_the_trials_own_cpu_is_not_foreign(quota, execute):
    """The trial keeps every core busy: it and others cannot have used more than there is."""
    cores = os.cpu_count() or 1
    burn_all = f"import os\nfor _ in range({cores - 1}): os.fork()\n" + BURN.format(0.4)
    program = f"{burn_all}try: os.wait()\nexcept ChildProcessError: pass"
    measured = execute(*PYTHON, program, mechanism=quota)
    own, foreign = measured.cpu_efficiency, measured.interference.foreign_cpu
    assert own > 0.5
    assert own + foreign <= cores + 3 * measured.interference.foreign_cpu_resolution + 0.1


def test_a_launcher_that_cannot_be_reached_is_a_sentence_and_leaves_nothing(monkeypatch, traces):
    """As where the folder for what trials write is taken away in that moment."""

    def refused(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(os, "mkfifo", refused)
    with pytest.raises(TargetError, match="The launcher cannot be reached"):
        LocalTarget(LocalTargetSpec(), (0.5,)).__enter__()
    assert not traces(os.getpid())


def test_a_study_can_name_every_mechanism_and_no_other():
    named = get_args(LocalTargetSpec.model_fields["mechanism"].annotation)
    assert set(named) - {"auto"} == set(MECHANISMS)
    assert all(MECHANISMS[name].name == name for name in MECHANISMS)


def test_a_quota_is_preferred_to_its_emulation_and_that_to_no_limit():
    order = list(MECHANISMS)
    last_quota = max(order.index(name) for name in QUOTA_MECHANISMS)
    assert last_quota < order.index("emulated") < order.index("unlimited")
