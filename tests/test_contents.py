import os
import threading

from deadzone.contents import bytes_of, text_of


def test_a_file_and_a_pipe_are_read_whole(tmp_path):
    (tmp_path / "file").write_text("한글")
    assert text_of(tmp_path / "file") == "한글"
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"x" * 100_000,))
    writer.start()
    assert bytes_of(tmp_path / "pipe") == b"x" * 100_000
    writer.join()
