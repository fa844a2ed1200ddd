"""From what the launcher tells to a measurement, on texts of both versions of control groups."""

import pytest

from deadzone.run.targets.limits.base import Counters
from deadzone.store.table import ACCOUNT
from deadzone_kubernetes.container.accounting import (
    ContainerReading,
    measurement,
    parse,
    reading,
    wall,
)

VERSION_1 = """result code 0 0
peak 50000
before cpu_max 50000 100000
before stat nr_periods 10
before stat nr_throttled 4
before stat throttled_time 1000000000
before usage_ns 2000000000
before user_ns 1000000000
before sys_ns 1000000000
before memory oom_kill 1
before machine cpu  1000 0 500 90000 0 0 0 10 0 0
before uptime 100.00
before fine 1700000000.500
after uptime 102.00
after fine 1700000002.495
after cpu_max 50000 100000
after stat nr_periods 30
after stat nr_throttled 19
after stat throttled_time 2500000000
after usage_ns 3000000000
after user_ns 1600000000
after sys_ns 1400000000
after memory oom_kill 1
after machine cpu  1150 0 550 90100 0 0 0 20 0 0
telemetry sample 101.00
telemetry stat nr_throttled 9
telemetry usage_ns 2500000000
stdout hello
stdout  world
stderr oops
told
"""

VERSION_2 = """result code 137 0
before cpu_max max 100000
before stat usage_usec 1000000
before stat user_usec 600000
before stat system_usec 400000
before stat nr_periods 0
before stat nr_throttled 0
before stat throttled_usec 0
before memory oom_kill 0
before uptime 50.10
before fine 0
after uptime 51.10
after fine 0
after stat usage_usec 1500000
after stat user_usec 900000
after stat system_usec 600000
after stat nr_periods 0
after stat nr_throttled 0
after stat throttled_usec 0
after memory oom_kill 1
told
"""


def test_a_trial_under_version_1():
    found = measurement(parse(VERSION_1), "asked", 60, {"node": "n"})
    assert found.status == "ok"
    assert found.wall_s == pytest.approx(1.995)
    assert (found.user_s, found.sys_s) == (pytest.approx(0.6), pytest.approx(0.4))
    assert (found.nr_periods, found.nr_throttled) == (20, 15)
    assert found.throttled_s == pytest.approx(1.5)
    assert found.max_rss_bytes == 50000 * 1024
    assert found.started_at == "2023-11-14T22:13:20.500+00:00"
    assert found.stdout == "hello\n world"
    assert found.stderr == "oops"
    assert found.interference.foreign_cpu == pytest.approx((2.0 - 1.0) / 2.0)
    assert found.interference.steal == pytest.approx(0.05)
    assert found.interference.clock_drift == 0
    series = {(sample.metric, sample.t_s): sample.value for sample in found.telemetry}
    assert series["nr_throttled", 1.0] == 5
    assert series["cpu_usage_s", 2.0] == 1.0
    assert found.placed == {"node": "n"}


def test_two_readings_in_one_tick_of_the_uptime_are_one_moment():
    text = VERSION_1.replace("telemetry sample 101.00", "telemetry sample 102.00")
    assert text != VERSION_1
    found = measurement(parse(text), "asked", 60, {})
    moments = [(sample.metric, sample.t_s) for sample in found.telemetry]
    assert len(moments) == len(set(moments))
    assert ("cpu_usage_s", 2.0) in moments


def test_a_kill_for_memory_under_version_2():
    found = measurement(parse(VERSION_2), "asked", 60, {})
    assert (found.status, found.exit_code) == ("oom_killed", -9)
    assert found.user_s + found.sys_s == pytest.approx(0.5)
    assert found.wall_s == pytest.approx(1.0)
    assert found.started_at == "asked"
    assert found.max_rss_bytes is None


def test_a_program_that_did_not_start():
    found = measurement(parse("result failed there is no program x\ntold\n"), "asked", 60, {})
    assert found.status == "failed"
    assert found.error == "the program did not start: there is no program x"


@pytest.mark.parametrize(
    ("uptimes", "fines", "expected"),
    [((10.00, 11.00), (5.000, 6.004), 1.004), ((10.00, 11.00), (5.000, 3606.0), 1.01),
     ((10.00, 11.00), (5.000, 4.0), 0.99), ((10.00, 11.00), (0, 0), 1.00),
     ((10.00, 10.00), (0, 0), 0.005)],
)  # fmt: skip
def test_the_fine_clock_counts_as_far_as_the_one_that_never_steps_allows(uptimes, fines, expected):
    assert wall(*map(ContainerReading, uptimes, fines)) == pytest.approx(expected)


THREADS = """threads 100.50 7 7 S 10000 1000000 0 0 do_wait
threads 100.50 7 8 R 10000 200000000 250000000 0 0
threads 101.90 7 7 S 10000 1000000 0 0 do_wait
threads 101.90 7 8 R 10000 900000000 950000000 0 0
threads 101.90 9 9 S 10050 50000000 0 0 ep_poll
threads 101.9"""


def account(threads=THREADS, text=VERSION_1):
    text = text.replace("stdout hello", f"{threads}\nstdout hello")
    found = measurement(parse(text), "asked", 60, {})
    return {name: found.counted[name] for name in ACCOUNT if name in found.counted}


def test_the_account_of_time_is_what_was_seen_brought_up_to_all_cpu_time_that_was_counted():
    told = account()
    more = 1.0 / 0.951
    assert told["running_s"] == pytest.approx(1.0)
    assert told["threads_s"] == pytest.approx((1.995 + 1.9 + 1.4) * more, rel=0.06)
    assert told["threads_s"] == pytest.approx(sum(told[name] for name in [*ACCOUNT][1:]), abs=1e-5)
    # Nine tenths of half a core for two seconds are used: all that waited for a core waited for the
    # limit.
    assert told["throttled_wait_s"] == pytest.approx(0.95 * more, abs=1e-4) and told["ready_s"] == 0
    assert told["network_wait_s"] == pytest.approx(told["asleep_s"] / 2)


def test_a_thread_that_sleeps_for_a_time_is_told_from_the_others():
    told = account(THREADS.replace("ep_poll", "hrtimer_nanosleep"))
    assert told["timer_wait_s"] == pytest.approx(told["asleep_s"] / 2)
    assert told["network_wait_s"] == 0


def test_waits_for_the_disk_are_those_that_the_kernel_counts_and_else_those_that_were_seen():
    seen = THREADS.replace("S 10050 50000000 0 0 ep_poll", "D 10050 50000000 0 0 17")
    assert account(seen)["disk_wait_s"] == pytest.approx(account(seen)["asleep_s"] / 2)
    counted = THREADS.replace("10050 50000000 0 0", "10050 50000000 0 40")
    assert account(counted)["disk_wait_s"] == pytest.approx(0.4)


def test_where_looks_met_too_little_of_a_trial_there_is_no_account():
    assert account("\n".join(THREADS.split("\n")[:2])) == {}
    assert account("") == {}
    assert account(text=VERSION_1.replace("usage_ns", "nothing_ns")) == {}


COUNTED_2 = """\
stat usage_usec 2500000
stat user_usec 2000000
stat system_usec 500000
stat nr_periods 40
stat nr_throttled 12
stat throttled_usec 900000
memory oom_kill 1
memory_bytes 52428800
memory_peak_bytes 104857600
memory_stat anon 1000
memory_stat pgmajfault 7
io_stat 8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0
io_stat 8:16 rbytes=1000 wbytes=0 rios=1 wios=0 dbytes=0 dios=0
memory_pressure some avg10=0.00 avg60=0.00 avg300=0.00 total=30000
memory_pressure full avg10=0.00 avg60=0.00 avg300=0.00 total=10000
io_pressure some avg10=0.00 avg60=0.00 avg300=0.00 total=250000
told
"""

COUNTED_1 = """\
stat nr_periods 40
stat nr_throttled 12
stat throttled_time 900000000
usage_ns 2500000000
user_ns 2000000000
sys_ns 500000000
memory oom_kill_disable 0
memory oom_kill 1
memory_bytes 52428800
memory_peak_bytes 104857600
memory_stat pgmajfault 2
memory_stat total_pgmajfault 7
io_stat 8:0 Read 5096
io_stat 8:0 Write 8192
io_stat 8:0 Total 13288
io_stat Total 13288
told
"""

FOUND = {
    "usage_s": 2.5, "user_s": 2.0, "sys_s": 0.5, "nr_periods": 40, "nr_throttled": 12,
    "throttled_s": 0.9, "oom_kills": 1, "memory_bytes": 50 << 20, "memory_peak_bytes": 100 << 20,
    "major_faults": 7, "read_bytes": 5096, "written_bytes": 8192,
}  # fmt: skip


@pytest.mark.parametrize(
    ("told", "found"),
    [(COUNTED_2, Counters(**FOUND, memory_stall_s=0.03, io_stall_s=0.25)),
     (COUNTED_1, Counters(**FOUND)), ("told\n", Counters())],
    ids=["version 2, with pressure", "version 1, with the groups below", "nothing told"],
)  # fmt: skip
def test_what_a_control_group_counted(told, found):
    assert reading(told.splitlines()).counters() == found
