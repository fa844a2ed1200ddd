import contextlib
import ctypes
import errno
import os
import resource
import shutil
import signal
import struct
import subprocess
from types import SimpleNamespace

import pytest

from deadzone.errors import WorkloadError
from deadzone_disk.device import disk_of, facts, in_memory
from deadzone_disk.engine import EngineFailure, in_words
from deadzone_disk.files import DiskFiles
from deadzone_disk.programs import BuiltinEngine, FioEngine

MIB = 2**20


def empty(folder):
    return [path for path in folder.iterdir() if path.name != "lost+found"] == []


def test_memory_is_no_disk_unless_that_is_asked_for(trial, mount):
    folder = mount("-t", "tmpfs", "-o", "size=64m", "deadzone-test")
    assert in_memory(folder) == "tmpfs"
    with pytest.raises(WorkloadError, match="is in this machine's memory"):
        trial(folder)
    _, outcome, known = trial(folder, allow_memory=True)
    assert outcome.failure is None
    assert known["disk_in_memory"] == "tmpfs" and known["disk_kind"] == "memory"
    assert empty(folder)


def test_a_file_system_without_o_direct_is_measured_through_the_page_cache_and_says_so(
    trial, mount
):
    folder = mount("-t", "ramfs", "deadzone-test")
    _, outcome, known = trial(folder, allow_memory=True, operation="read")
    assert known["disk_direct"] is False
    assert outcome.responses["direct_io"] == 0
    assert empty(folder)


def test_too_little_room_is_found_before_anything_is_written(trial, ext4):
    folder = ext4("24M")
    with pytest.raises(WorkloadError, match=r"has .* free, and this study needs 40 MiB"):
        trial(folder, file_size=40 * MIB)
    assert empty(folder)


def test_a_disk_that_fills_up_meanwhile_is_a_sentence_and_leaves_no_file(ext4):
    folder = ext4("24M")
    files = DiskFiles(folder)
    files.make()
    with pytest.raises(WorkloadError, match="No space left on device; name another folder"):
        files.filled(0, 40 * MIB, "random")
    assert empty(files.folder)
    files.remove()
    assert empty(folder)


def test_a_read_only_folder_is_named(trial, mount, tmp_path):
    folder = mount("-t", "tmpfs", "-o", "ro", "deadzone-test")
    with pytest.raises(WorkloadError, match="Read-only file system; name another folder"):
        trial(folder, allow_memory=True)


def test_a_used_up_quota_is_told_as_such(ext4):
    folder = ext4("24M", "usrquota", features=("-O", "quota", "-E", "quotatype=usrquota"))
    folder.chmod(0o777)
    user, limit_kib = 65534, 4096
    if not set_quota(folder, user, limit_kib):
        pytest.skip("no quota can be set on a file system here")

    def as_user():
        os.setgid(user)
        os.setuid(user)
        os.environ["XDG_STATE_HOME"] = str(folder)

    assert refused_in_a_child(folder, as_user, "Disk quota exceeded")


def test_an_error_is_said_by_the_engine_else_by_the_system():
    assert in_words(errno.ELOOP, "as the engine says") == "as the engine says"
    assert in_words(errno.EIO) == "Input/output error" and "O_DIRECT" in in_words(errno.EINVAL)


def set_quota(folder, user, limit_kib):
    """quotactl(2): Q_SETQUOTA with a hard limit on blocks."""
    device = subprocess.run(
        ("findmnt", "-no", "SOURCE", str(folder)), capture_output=True, text=True, check=True
    ).stdout.strip()
    q_setquota, hard_and_soft = 0x800008, 1
    quota = struct.pack("=8QI", limit_kib, limit_kib, 0, 0, 0, 0, 0, 0, hard_and_soft) + bytes(4)
    libc = ctypes.CDLL(None, use_errno=True)
    command = ctypes.c_int((q_setquota << 8) & 0xFFFFFFFF)
    return libc.quotactl(command, device.encode(), user, quota) == 0


def refused_in_a_child(folder, prepare, words):
    """Whether a process that is prepared so is told these words where it fills 8 MiB."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            prepare()
            files = DiskFiles(folder)
            files.make()
            try:
                files.filled(0, 8 * MIB, "random")
            except WorkloadError as error:
                code = 0 if words in str(error) else 2
            files.remove()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_file_larger_than_a_process_may_write_is_told_as_such(disk):
    def bounded():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, MIB))

    assert refused_in_a_child(disk, bounded, "File too large")
    assert empty(disk)


def test_a_device_is_never_written(tmp_path):
    node = tmp_path / "node"
    try:
        os.mknod(node, 0o060600, os.makedev(259, 250))
    except OSError as error:
        pytest.skip(f"no device node can be made here ({error})")
    with pytest.raises(WorkloadError, match=r"is a device\. A disk study writes files in a folder"):
        DiskFiles(node).make()


def test_a_file_in_place_of_the_folder_is_left_alone(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(WorkloadError, match="is no folder"):
        DiskFiles(file).make()
    assert file.read_text() == "mine"


def test_a_missing_folder_is_made_and_removed_and_one_without_a_parent_is_refused(disk):
    files = DiskFiles(disk / "new")
    files.make()
    assert (disk / "new").is_dir()
    files.remove()
    assert not (disk / "new").exists()
    with pytest.raises(WorkloadError, match="the folder above it is missing"):
        DiskFiles(disk / "no" / "such").make()


def test_a_block_that_is_no_multiple_of_the_logical_block_is_refused_before_the_first_trial(
    trial, disk
):
    block = disk_of(disk).get("disk_logical_block_bytes")
    if not block:
        pytest.skip("no block device is seen below the tests' folder")
    said = f"block_size 1000: .* multiple of the device's logical block .{block}"
    with pytest.raises(WorkloadError, match=said):
        trial(block_size=1000)
    cached = trial(block_size=1000, direct=False, operation="read", engine="builtin")
    assert cached[1].failure is None


@pytest.mark.parametrize("engine", ["fio", "builtin"])
def test_a_file_that_vanishes_during_the_run_is_a_failed_trial_with_a_reason(engine, trials):
    asked = {"engine": engine, "file_size": MIB, "trial_bytes": MIB, "operation": "read"}
    vanishing = trials(beforehand=lambda workload: shutil.rmtree(workload._files.folder), **asked)
    with contextlib.closing(vanishing) as made:
        _, outcome, _ = next(made)
    assert outcome.failure and "Traceback" not in outcome.failure
    assert outcome.responses == {}


@pytest.mark.parametrize("engine", [BuiltinEngine, FioEngine])
def test_an_engine_that_says_nothing_is_an_engine_failure(engine):
    nothing = SimpleNamespace(stdout="", stderr="Killed", exit_code=137)
    with pytest.raises(EngineFailure, match="without a result"):
        engine().account(None, nothing)


def test_the_disk_is_called_what_it_is(disk):
    known = facts(disk)
    assert known["file_system"] and known["disk_free_bytes"] > 0 and known["mount_options"]
    if str(known.get("disk_device")).startswith(("vd", "xvd")):
        assert known["disk_kind"] == "virtual"
