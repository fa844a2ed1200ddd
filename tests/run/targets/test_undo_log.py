import json

import pytest

from deadzone.run.targets import undo_log
from deadzone.run.targets.limits.base import group_name, pid_namespace
from deadzone.run.targets.undo_log import (
    STATE_VARIABLE,
    UndoEntry,
    give_back_left_over,
    record_change,
    undo,
    undo_left_over,
)

pytestmark = pytest.mark.kept


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    return tmp_path / "state" / "deadzone" / "promised"


def test_a_kept_promise_gives_back_files_and_runs_its_command(tmp_path, state):
    setting, said = tmp_path / "setting", tmp_path / "said"
    setting.write_text("changed")
    entry = UndoEntry("the setting", files={str(setting): "before"}, argv=("touch", str(said)))
    note = record_change(entry)
    assert undo(note) is None
    assert setting.read_text() == "before" and said.exists()
    assert not list(state.iterdir())


def test_groups_end_with_the_machine_and_are_not_written_after_a_restart(tmp_path, monkeypatch):
    setting, boot = tmp_path / "setting", tmp_path / "boot_id"
    setting.write_text("of the administrator")
    boot.write_text("one")
    monkeypatch.setattr(undo_log, "BOOT", boot)
    note = record_change(UndoEntry("the setting", files={str(setting): "before"}))
    boot.write_text("another")
    assert undo(note) is None
    assert setting.read_text() == "of the administrator" and not note.exists()


def test_what_cannot_be_given_back_is_said_and_stays_noted(tmp_path, state):
    note = record_change(UndoEntry("the setting", argv=("sh", "-c", "echo no right >&2; exit 3")))
    assert "no right" in str(undo(note))
    assert note.exists()


def test_what_is_gone_needs_nothing_back(tmp_path):
    gone = UndoEntry("the setting", files={str(tmp_path / "no" / "file"): "1"})
    assert undo(record_change(gone)) is None


def test_a_folder_that_was_made_is_removed_and_never_what_is_not_ours(tmp_path):
    precious, name = tmp_path / "precious", group_name()
    (precious / "data").mkdir(parents=True)
    made, link = tmp_path / f"{name}-disk", tmp_path / f"{name}-link"
    (made / "deep").mkdir(parents=True)
    link.symlink_to(precious)
    noted = UndoEntry("folders", folders=(str(made), str(link), str(precious)))
    assert undo(record_change(noted)) is None
    assert not made.exists() and (precious / "data").is_dir()


def test_only_promises_of_those_that_ended_are_kept_by_others(tmp_path, state, monkeypatch):
    setting = tmp_path / "setting"
    setting.write_text("changed")
    dead = "deadzone-4194304-1-" + _namespace()
    monkeypatch.setattr(undo_log, "group_name", lambda counted: dead)
    record_change(UndoEntry("the setting of the dead", files={str(setting): "before"}))
    monkeypatch.undo()
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    living = record_change(UndoEntry("mine", files={str(setting): "mine"}))
    assert undo_left_over() == (["the setting of the dead"], [])
    assert setting.read_text() == "before" and living.exists()


def test_a_note_that_was_cut_off_changed_nothing(state):
    state.mkdir(parents=True)
    (state / f"deadzone-4194304-1-{_namespace()}-1.json").write_text(json.dumps({"what": "x"})[:5])
    assert undo_left_over() == ([], [])
    assert not list(state.iterdir())


def _namespace():
    return str(pid_namespace())


def test_what_a_dead_run_left_and_nobody_can_give_back_is_said(state):
    state.mkdir(parents=True)
    promise = {"what": "the limit of db", "argv": ["sh", "-c", "echo no right >&2; exit 3"]}
    (state / f"deadzone-4194304-1-{_namespace()}-1.json").write_text(json.dumps(promise))
    said: list[str] = []
    give_back_left_over(said.append)
    assert len(said) == 1 and "no right" in said[0] and "`deadzone restore` tries again." in said[0]
