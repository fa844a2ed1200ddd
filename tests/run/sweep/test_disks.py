import os
import subprocess

import pytest

from deadzone.store.run import list_runs

TMPFS = ("-t", "tmpfs", "deadzone-test", "-o")


@pytest.fixture
def study(write_study):
    return write_study(replicates=30)


def one_paragraph(text):
    """The error itself, without the lines of progress before it."""
    error = text[text.index("deadzone: ") :]
    assert "Traceback" not in text
    assert "\n\n" not in error
    return error


def test_a_disk_that_fills_up_stops_the_sweep_and_it_goes_on_once_there_is_room(
    study, home, mount, deadzone, traces
):
    runs = mount(home / "data" / "runs", *TMPFS, "size=48k")
    error = one_paragraph(deadzone("sweep", study, code=3).err)
    assert "cannot write the journal: No space left on device" in error
    remedy = "make room or repair the folder, then go on with `--resume`"
    assert f"The trials before it are safe; {remedy}" in error
    (run,) = list_runs(runs)
    kept = run.records()
    assert 3 <= len(kept) < 60
    assert [record["trial"] for record in kept] == list(range(1, len(kept) + 1))
    assert not list(run.folder.glob(".*.part"))
    assert traces(os.getpid()) == []
    subprocess.run(("mount", "-o", "remount,size=10m", runs), check=True)
    assert deadzone("sweep", study, "--resume", "latest").code == 0
    assert [record["trial"] for record in run.records()] == list(range(1, 61))
    assert run.records()[: len(kept)] == kept


@pytest.mark.parametrize(
    ("options", "said"),
    [("size=4k", "No space left on device"), ("size=1m,ro", "folder: Read-only file system")],
)
def test_a_disk_that_takes_nothing_is_told_before_anything_is_measured(
    options, said, study, home, mount, deadzone, traces
):
    runs = mount(home / "data" / "runs", *TMPFS, options)
    if not options.endswith("ro"):
        (runs / "ballast").write_bytes(b"x" * 4096)
    assert said in one_paragraph(deadzone("sweep", study, code=3).err)
    assert list_runs(runs) == [] and traces(os.getpid()) == []
