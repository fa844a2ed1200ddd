"""Figures that the kernel tells in files."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadzone.run.targets.kernel_files import (
    flat_keyed,
    keep_open,
    key_values,
    let_go,
    read_bytes,
    stall_s,
    tell,
    whole_number,
)
from deadzone.run.targets.limits.cgroup_v1 import v1_homes


def test_counters_are_read_and_other_lines_left_out(tmp_path):
    file = tmp_path / "cpu.stat"
    file.write_text(
        "nr_periods 12\nnr_throttled 3\nwords here three\nsome text\nthrottled_time 45\n\n"
    )
    assert key_values(file) == {"nr_periods": 12, "nr_throttled": 3, "throttled_time": 45}
    assert key_values(tmp_path / "absent") == flat_keyed(tmp_path / "absent") == {}


def test_what_a_control_group_counts_is_read_as_any_file_of_keys_is(tmp_path):
    file = tmp_path / "memory.stat"
    file.write_text("anon 4096\nhierarchical_memory_limit 9223372036854771712\npgmajfault 0\n")
    assert flat_keyed(file) == key_values(file)
    assert flat_keyed(file)["hierarchical_memory_limit"] == 9223372036854771712


@given(st.text())
def test_any_text_is_read_as_counters_without_an_error(tmp_path_factory, text):
    file = tmp_path_factory.mktemp("cgroup") / "cpu.stat"
    file.write_text(text, encoding="utf-8")
    for read in (key_values, flat_keyed):
        assert all(isinstance(value, int) for value in read(file).values())


def test_a_number_is_read_and_no_limit_is_none(tmp_path):
    file = tmp_path / "memory.max"
    file.write_text("")
    tell(file, 4096)
    assert read_bytes(file) == b"4096"
    assert whole_number(file) == 4096
    file.write_text("max\n")
    assert whole_number(file) is None
    assert whole_number(tmp_path / "absent") is None
    with pytest.raises(FileNotFoundError):
        tell(tmp_path / "absent", 1)


def test_stalls_are_the_total_of_the_first_line(tmp_path):
    file = tmp_path / "io.pressure"
    file.write_text(
        "some avg10=0.00 avg60=0.12 avg300=0.03 total=1500000\nfull avg10=0.00 avg60=0.00 "
        "avg300=0.00 total=7\n"
    )
    assert stall_s(file) == 1.5
    file.write_text("")
    assert stall_s(file) is None
    assert stall_s(tmp_path / "absent") is None


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_reading_leaves_no_file_open():
    before = open_files()
    for _ in range(20):
        assert read_bytes("/proc/self/stat").startswith(b"%d " % os.getpid())
        whole_number("/proc/self/stat")
    assert open_files() == before


def test_files_of_a_folder_that_is_kept_are_opened_once_until_it_is_let_go_of(tmp_path):
    file, before = tmp_path / "cpuacct.usage", open_files()
    keep_open(tmp_path)
    assert read_bytes(file) == b"", "there is none yet"
    for value in range(20):
        file.write_text(f"{value}\n")
        assert whole_number(file) == value
    assert open_files() == before + 1
    let_go(tmp_path)
    assert open_files() == before
    file.unlink()
    assert read_bytes(file) == b""


def test_a_group_that_was_removed_behind_our_back_says_nothing():
    home = v1_homes().get("cpuacct")
    if home is None or not os.access(home, os.W_OK):
        pytest.skip("a group of cgroup v1 is made, which takes root")
    group = home / f"deadzone-test-{os.getpid()}"
    group.mkdir()
    keep_open(group)
    assert whole_number(group / "cpuacct.usage") == 0
    group.rmdir()
    assert whole_number(group / "cpuacct.usage") is None
    let_go(group)
