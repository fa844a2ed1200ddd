"""Runs copied to and fetched from an archive: a folder, memory, and a real S3 server."""

from __future__ import annotations

import os
import socket
import time

import pytest

from deadzone.errors import UnknownRunError
from deadzone.store import archive as archives
from deadzone.store.archive import Archive, ArchivedRun, ArchiveError, name_of
from deadzone.store.run import RunFolder
from deadzone.study.loading import parse_study

from .object_store import BUCKET, object_store

STUDY = """
study: probe
workload: {kind: command, argv: [sleep, "{pause}"]}
factors: {pause: [0.1, 0.2]}
"""


@pytest.fixture(params=["file", "memory", "s3"])
def url(request, tmp_path, monkeypatch):
    """An archive's URL of each kind."""
    if request.param == "file":
        yield f"file://{tmp_path}/some volume"
    elif request.param == "memory":
        yield f"memory://{tmp_path.name}"
    else:
        with object_store(tmp_path / "store") as environment:
            for name, value in environment.items():
                monkeypatch.setenv(name, value)
            yield f"s3://{BUCKET}/some/prefix"


@pytest.fixture
def run(tmp_path):
    """A run with one line in its journal."""
    made = RunFolder.create(tmp_path / "runs", parse_study(STUDY, "study.yaml"), "run-1")
    made.journal_file.write_text("first\n")
    return made


def test_a_run_comes_back_as_it_was(url, run, tmp_path):
    archive = Archive(url)
    archive.push(run.folder, name_of(run))
    assert archive.runs("probe") == ["run-1"]
    elsewhere = tmp_path / "elsewhere"
    Archive(url).pull_run(elsewhere, "probe", "latest")
    copied = RunFolder.find(elsewhere, "probe/latest")
    assert copied.study() == run.study()
    assert copied.journal_file.read_text() == "first\n"
    assert {path.name for path in copied.folder.iterdir()} == {
        path.name for path in run.folder.iterdir()
    }


def test_a_file_that_goes_while_the_run_is_copied_is_left_out(run, tmp_path, monkeypatch):
    archive = Archive(f"file://{tmp_path}/volume")
    first, second = (run.folder / "logs" / f"0000{i}.log" for i in (1, 2))
    first.parent.mkdir()
    first.write_text("ready")
    second.touch()
    put = archive.push_file

    def put_and_remove(path, name):
        second.unlink(missing_ok=True)  # as a service does with an empty log when it stops
        put(path, name)

    monkeypatch.setattr(archive, "push_file", put_and_remove)
    archive.push(run.folder, name_of(run))
    assert (tmp_path / "volume" / name_of(run) / "logs" / first.name).read_text() == "ready"


def test_what_is_here_already_is_not_overwritten(url, run):
    archive = Archive(url)
    archive.push(run.folder, name_of(run))
    run.journal_file.write_text("first\nsecond\n")
    archive.pull_run(run.folder.parent.parent, "probe", "run-1")
    assert run.journal_file.read_text() == "first\nsecond\n"


def test_a_growing_run_is_copied_as_it_grows(url, run, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "SYNC_PERIOD_S", 0.0)
    archived = ArchivedRun(Archive(url), run)
    archived.sync()
    run.journal_file.write_text("first\nsecond\n")
    future = time.time() + 1
    os.utime(run.journal_file, (future, future))
    archived.sync()
    assert archived.problem is None
    Archive(url).pull_run(tmp_path / "elsewhere", "probe", "run-1")
    assert (
        RunFolder.find(tmp_path / "elsewhere", "run-1").journal_file.read_text()
        == "first\nsecond\n"
    )


def test_what_a_program_logs_leaves_the_machine_without_its_secrets(url, run, tmp_path):
    (run.folder / "logs").mkdir()
    (run.folder / "logs" / "00001.log").write_text("opening http://name:hunter2@db.example/\n")
    archive = Archive(url)
    archive.push(run.folder, name_of(run))
    archive.pull(name_of(run), tmp_path / "copy")
    assert (
        tmp_path / "copy" / "logs" / "00001.log"
    ).read_text() == "opening http://***@db.example/\n"


def test_neither_locks_nor_drafts_are_copied(url, run):
    (run.folder / "lock").write_text("1")
    (run.folder / ".trials.parquet.part").write_text("half")
    archive = Archive(url)
    archive.push(run.folder, name_of(run))
    assert archive.pull(name_of(run), run.folder.parent / "copy") == 2


def test_a_run_that_is_not_there_is_an_unknown_run(url):
    with pytest.raises(UnknownRunError, match="no run 'latest' of the study probe"):
        Archive(url).pull_run(None, "probe", "latest")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("s3://key:secret@bucket/prefix", "has credentials in its URL"),
        ("https://host/prefix?sig=secret", "has credentials in its URL"),
        ("nosuchstore://bucket", "no URL of an archive"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_with_a_sentence(url, words):
    with pytest.raises(ArchiveError, match=words) as caught:
        Archive(url)
    assert "secret@" not in str(caught.value)


def test_an_archive_that_cannot_be_written_is_told_with_its_url(run, tmp_path):
    (tmp_path / "file").write_text("no folder")
    archive = Archive(f"file://{tmp_path}/file/below")
    with pytest.raises(ArchiveError, match="file/below: the archive cannot be written"):
        archive.push(run.folder, name_of(run))
    archived = ArchivedRun(archive, run)
    archived._copied_at = 0
    archived.sync()
    assert "cannot be written" in archived.problem


def test_an_object_store_that_is_not_there_is_told_with_its_url(run, monkeypatch):
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr("s3fs.core.S3FileSystem.retries", 1)
    with pytest.raises(ArchiveError, match="s3://nowhere/x: the archive cannot be written"):
        Archive("s3://nowhere/x").push(run.folder, name_of(run))


def test_a_name_that_leads_out_of_the_folder_is_not_copied(tmp_path):
    archive = Archive("memory://hostile")
    archive._files.store["/hostile/runs/probe/one/../../../stolen.txt"] = archive._files.open(
        "/hostile/x", "wb"
    )
    with pytest.raises(ArchiveError, match="leads out of"):
        archive.pull("runs/probe/one", tmp_path / "runs" / "probe" / "one")
    assert not list(tmp_path.rglob("stolen.txt"))


def test_a_store_that_never_answers_holds_up_nobody_for_long(run, monkeypatch):
    pytest.importorskip("s3fs")
    monkeypatch.setattr(archives, "PATIENCE_S", 1.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = f"http://127.0.0.1:{server.getsockname()[1]}"
        for name, value in {
            "ENDPOINT_URL": here,
            "ACCESS_KEY_ID": "a",
            "SECRET_ACCESS_KEY": "b",
        }.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        archive, began = Archive(f"s3://{BUCKET}/prefix"), time.monotonic()
        with pytest.raises(ArchiveError, match="the archive cannot be written: it does not answer"):
            archive.push(run.folder, name_of(run))
    assert time.monotonic() - began < 10
