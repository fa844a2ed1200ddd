import os
import pty
import subprocess
import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from deadzone.cli.parameters import commands_in, overrides_of
from deadzone.errors import StudyError


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("1e6", 1_000_000), ("[1, none]", [1, "none"]),
     ("{from: 1, to: 2, step: 1}", {"from": 1, "to": 2, "step": 1}), ("", ""),
     ("two words", "two words"), ("null", None)],
)  # fmt: skip
def test_values_are_read_as_in_a_study(text, value):
    assert overrides_of((("name", text),), None, None, None) == {"name": value}


@given(st.text())
def test_any_text_is_a_value_or_refused_by_name(text):
    try:
        overrides_of((("title", text),), None, None, None)
    except StudyError as refused:
        assert str(refused).startswith("-p title: ")


STUDY = {
    "study": "strange",
    "workload": {"kind": "command", "argv": ["touch", "{threads}"], "setup": ["echo", "a b"]},
    "factors": {"threads": [1, 2]},
    "design": {"replicates": 1, "warmup": 0},
}


@pytest.fixture
def strange(tmp_path):
    folder = tmp_path / "downloads"
    folder.mkdir()
    path = folder / "strange.yaml"
    path.write_text(yaml.safe_dump(STUDY))
    return path


def test_every_command_of_a_study_is_named_with_its_key():
    document = {
        "workload": STUDY["workload"],
        "service": {"ready": {"argv": ["pg_isready"]}, "setup": None},
    }
    assert list(commands_in(document)) == [
        "workload.argv: touch '{threads}'",
        "workload.setup: echo 'a b'",
        "service.ready.argv: pg_isready",
    ]


def test_a_study_from_elsewhere_says_what_it_executes(strange, home, deadzone):
    said = deadzone("sweep", str(strange))
    assert said.code == 0
    executes = "It executes:\n  workload.argv: touch '{threads}'"
    assert f"{strange} is not part of Deadzone. {executes}" in said.err


def test_a_study_of_ones_own_or_a_dry_run_says_nothing(strange, home, deadzone, write_study):
    assert "executes" not in deadzone("sweep", str(write_study())).err
    assert "executes" not in deadzone("sweep", str(strange), "--dry-run").err


def on_a_terminal(answer, strange, home, tmp_path):
    """What a person sees who answers, and the exit code."""
    master, slave = pty.openpty()
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "TERM": "dumb"}
    command = [sys.executable, "-m", "deadzone.cli.main", "sweep", str(strange)]
    process = subprocess.Popen(
        command, cwd=home, env=environment, stdin=slave, stdout=slave, stderr=slave,
        start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    os.write(master, answer)
    shown = b""
    try:
        while piece := os.read(master, 4096):
            shown += piece
    except OSError:  # the other end is closed
        pass
    os.close(master)
    return shown.decode(), process.wait(60)


def test_on_a_terminal_somebody_is_asked_once(strange, home, tmp_path):
    shown, code = on_a_terminal(b"y\n", strange, home, tmp_path)
    assert code == 0 and "Execute that?" in shown
    shown, code = on_a_terminal(b"", strange, home, tmp_path)
    assert code == 0 and "Execute that?" not in shown
    workload = {**STUDY["workload"], "argv": ["rm", "{threads}"]}
    strange.write_text(yaml.safe_dump({**STUDY, "workload": workload}))
    shown, code = on_a_terminal(b"n\n", strange, home, tmp_path)
    assert code == 130 and "rm '{threads}'" in shown
    kept = list((home / "data").rglob("trials.jsonl"))
    assert len(kept) == 2, "nothing of the third was executed"
