"""What a container's control group counted, from the lines of both versions of cgroups."""

from deadzone.run.targets.limits.base import Counters
from deadzone_kubernetes.container.accounting import counted

VERSION_2 = """\
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

VERSION_1 = """\
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


def test_version_2_tells_of_pressure_too():
    assert counted(VERSION_2) == Counters(**FOUND, memory_stall_s=0.03, io_stall_s=0.25)


def test_version_1_counts_with_the_groups_below():
    assert counted(VERSION_1) == Counters(**FOUND)


def test_what_is_not_told_is_unknown():
    assert counted("told\n") == Counters()
