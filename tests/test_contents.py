import os
import threading

import pytest

from deadzone.contents import bytes_of, text_of


def test_a_file_and_a_pipe_are_read_whole(tmp_path):
    (tmp_path / "file").write_text("한글")
    assert text_of(tmp_path / "file") == "한글"
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"x" * 100_000,))
    writer.start()
    assert bytes_of(tmp_path / "pipe") == b"x" * 100_000
    writer.join()


def test_a_device_and_what_is_larger_than_asked_for_are_refused(tmp_path):
    (tmp_path / "zero").symlink_to("/dev/zero")
    with pytest.raises(OSError, match="it is a device"):
        bytes_of(tmp_path / "zero")
    (tmp_path / "large").write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(OSError, match="it is larger than 1 MB"):
        text_of(tmp_path / "large")
    assert len(bytes_of(tmp_path / "large")) == (1 << 20) + 1
