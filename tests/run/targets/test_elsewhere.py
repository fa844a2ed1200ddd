"""Folders made outside the scratch are found again by whoever comes after a kill."""

import os

import pytest

from deadzone.run.targets.limits.base import group_name
from deadzone.run.targets.undo_log import (
    find_leftovers,
    left_elsewhere,
    note,
    remove_elsewhere,
    remove_left_in,
    remove_leftovers,
)


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_a_folder_of_a_process_that_lives_is_left_alone(tmp_path):
    folder = tmp_path / f"{group_name()}-disk"
    note(folder)
    folder.mkdir()
    assert left_elsewhere() == []
    assert remove_left_in(tmp_path) == []
    assert folder.is_dir()


def test_a_folder_of_a_killed_process_is_found_by_its_note_and_removed(tmp_path, dead_name):
    folder = tmp_path / "disk" / f"{dead_name}-disk"
    note(folder)
    folder.mkdir(parents=True)
    (folder / "job-0").write_bytes(bytes(1000))
    assert left_elsewhere() == [folder]
    assert folder in find_leftovers()
    assert folder in remove_leftovers()
    assert not folder.exists() and left_elsewhere() == []


def test_one_without_a_note_is_found_by_the_next_run_in_the_same_folder(tmp_path, dead_name):
    folder = tmp_path / f"{dead_name}-disk"
    folder.mkdir()
    mine = tmp_path / "deadzone-notes"
    mine.mkdir()
    assert remove_left_in(tmp_path) == [folder]
    assert mine.is_dir()


def test_a_note_that_names_something_else_removes_nothing(tmp_path, dead_name):
    precious = tmp_path / "precious"
    precious.mkdir()
    notes = tmp_path / "state" / "deadzone" / "made"
    notes.mkdir(parents=True)
    (notes / f"{dead_name}-disk").write_text(str(precious))
    (notes / f"{dead_name}-other").write_bytes(b"\xff\xfe")
    link = tmp_path / f"{dead_name}-link"
    link.symlink_to(precious)
    (notes / link.name).write_text(str(link))
    assert left_elsewhere() == []
    remove_leftovers()
    assert precious.is_dir()


def test_a_note_is_forgotten_with_its_folder(tmp_path):
    folder = tmp_path / f"{group_name()}-disk"
    note(folder)
    folder.mkdir()
    assert remove_elsewhere(folder)
    assert list((tmp_path / "state" / "deadzone" / "made").iterdir()) == []
    assert remove_elsewhere(folder), "which is gone already"
    assert os.environ["XDG_STATE_HOME"].startswith(str(tmp_path))
