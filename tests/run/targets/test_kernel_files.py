import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from deadzone.run.targets.kernel_files import key_values, read_bytes, stall_s, whole_number


def test_counters_are_read_and_other_lines_left_out(tmp_path):
    file = tmp_path / "cpu.stat"
    text = "nr_periods 12\nnr_throttled 3\nwords here three\nsome text\nthrottled_time 45\n\n"
    file.write_text(text)
    assert key_values(file) == {"nr_periods": 12, "nr_throttled": 3, "throttled_time": 45}
    assert key_values(tmp_path / "absent") == {}


@given(st.text())
def test_any_text_is_read_as_counters_without_an_error(tmp_path_factory, text):
    file = tmp_path_factory.mktemp("cgroup") / "cpu.stat"
    file.write_text(text, encoding="utf-8")
    assert all(isinstance(value, int) for value in key_values(file).values())


def test_a_number_is_read_and_no_limit_is_none(tmp_path):
    file = tmp_path / "memory.max"
    file.write_text("4096")
    assert whole_number(file) == 4096
    file.write_text("max\n")
    assert whole_number(file) is None
    assert whole_number(tmp_path / "absent") is None


def test_stalls_are_the_total_of_the_first_line(tmp_path):
    file = tmp_path / "io.pressure"
    zero = "avg10=0.00 avg60=0.00 avg300=0.00"
    file.write_text(f"some {zero} total=1500000\nfull {zero} total=7\n")
    assert stall_s(file) == 1.5
    file.write_text("")
    assert stall_s(file) is None
    assert stall_s(tmp_path / "absent") is None


def test_reading_leaves_no_file_open():
    open_files = Path("/proc/self/fd")
    before = len([*open_files.iterdir()])
    for _ in range(20):
        assert read_bytes("/proc/self/stat").startswith(b"%d " % os.getpid())
        whole_number("/proc/self/stat")
    assert len([*open_files.iterdir()]) == before
