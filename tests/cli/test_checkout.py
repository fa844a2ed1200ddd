import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from deadzone.errors import EXIT_USAGE, EXIT_WORSE

BUILD = "sh -c 'cat pause.txt > built.txt'"
COMMAND = ("sh", "-c", "sleep $(cat built.txt)")


@pytest.fixture
def repository(tmp_path, monkeypatch, home):
    """Three commits: quick, slow, and one that does not build."""
    folder = tmp_path / "program"
    (folder / "inner").mkdir(parents=True)
    monkeypatch.chdir(folder / "inner")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    git("init", "--quiet", "--initial-branch", "main", folder)
    (folder / "inner" / "README").touch()
    for tag, text in (("quick", "0.02"), ("slow", "0.08"), ("broken", "")):
        path = folder / "inner" / "pause.txt"
        path.write_text(text) if text else path.unlink()
        git("add", "--all")
        git("-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "--quiet", "-m", tag)
        git("tag", tag)
    return folder


def git(*words):
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def is_tidy(repository):
    left = [*repository.parent.glob("deadzone-*-checkout-*")]
    return not left and len(git("worktree", "list").splitlines()) == 1


@pytest.mark.alone("it measures, and a neighbour makes A differ from itself")
def test_two_commits_are_measured_in_the_same_blocks_and_one_against_itself(repository, deadzone):
    asked = ("compare", "--checkout", "quick", "slow", "--build", BUILD, "-r", "7")
    said = deadzone(*asked, "--fail-on", "worse", "--json", "--", *COMMAND, code=EXIT_WORSE)
    document = json.loads(said.out)
    assert document["paired"] and document["a"].startswith("quick (")
    assert document["overall"][0]["ratio"] > 2
    assert "against itself, in the same blocks: wall time" in document["warnings"][0]
    assert is_tidy(repository)


@pytest.mark.alone("it measures, and a neighbour makes A differ from itself")
def test_the_comment_names_the_report_of_the_run(repository, deadzone):
    asked = ("compare", "--checkout", "quick", "slow", "--build", BUILD, "-r", "2")
    said = deadzone(*asked, "--format", "markdown", "--", *COMMAND, code=0)
    assert said.out.splitlines()[-1].startswith("The whole report: `deadzone report sh-quick-slow/")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["quick", "nonesuch"], "There is no commit 'nonesuch' here: `git branch --all`"),
     (["quick", "broken", "--build", BUILD], "cat: pause.txt: No such file"),
     (["quick", "broken", "--build", BUILD], ") does not build:"),
     (["quick", "slow", "--build", "no-such-make all"], "`no-such-make all` cannot be started")],
)  # fmt: skip
def test_what_cannot_be_measured_is_refused_and_nothing_stays(
    repository, deadzone, arguments, words
):
    said = deadzone("compare", "--checkout", *arguments, "--", *COMMAND, code=EXIT_USAGE)
    assert words in said.err and is_tidy(repository)


def test_changes_that_no_commit_holds_and_a_folder_without_git_are_refused(
    repository, deadzone, monkeypatch, tmp_path
):
    (repository / "inner" / "pause.txt").write_text("1")
    git("add", "pause.txt")
    asked = ("compare", "--checkout", "quick", "slow", "--", *COMMAND)
    assert "`git commit` or `git stash` first" in deadzone(*asked, code=EXIT_USAGE).err
    monkeypatch.chdir(tmp_path)
    assert "git finds no repository here" in deadzone(*asked, code=EXIT_USAGE).err
    assert "--build need --checkout" in deadzone("compare", "a.csv", code=EXIT_USAGE).err


def test_an_interrupted_comparison_leaves_no_worktree(repository):
    program = [str(Path(sys.executable).with_name("deadzone")), "compare", "--checkout"]
    program += ["quick", "slow", "--build", BUILD, "-r", "500", "--", *COMMAND]
    process = subprocess.Popen(program, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while "trial 1 of" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == 130 and is_tidy(repository)
    assert "trials are kept in" in said and "resume" not in said
