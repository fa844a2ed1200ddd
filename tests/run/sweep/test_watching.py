"""What is known so far is shown in its place, and what else was written stays."""

from __future__ import annotations

import pytest

from deadzone.run.sweep import watching
from deadzone.run.sweep.progress import LineProgress, Progress
from deadzone.run.sweep.watching import watched


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(watching, "EVERY_S", 0.0)
    monkeypatch.setattr(watching, "LEAST_APART", 0.0)


class Silent(Progress):
    """A progress that only counts, as no caller that reads the journal itself is."""


def test_a_picture_takes_the_place_of_the_last(often, capsys):
    pictures = iter(["one\ntwo", "three\nfour", ""])
    progress = watched(Silent(), lambda: next(pictures))
    for done in range(3):
        progress.show(done, 3, "n=1", None)
    assert capsys.readouterr().err == "one\ntwo\n\x1b[2F\x1b[0Jthree\nfour\n"
    progress.close("done")
    assert capsys.readouterr().err == "\x1b[2F\x1b[0J"


def test_what_was_told_below_a_picture_stays(often, capsys):
    progress = watched(Silent(), lambda: "curve")
    progress.show(0, 3, "n=1", None)
    progress.note("a neighbour")
    progress.show(1, 3, "n=1", None)
    assert capsys.readouterr().err == "curve\ncurve\n"
    progress.clear()
    progress.close("done")
    assert capsys.readouterr().err == ""


def test_nobody_watches_a_silent_sweep(often):
    silent = Progress()
    assert watched(silent, lambda: "curve") is silent
    assert isinstance(watched(LineProgress(None), None), LineProgress)


def test_looking_takes_a_small_share_of_the_time(monkeypatch):
    monkeypatch.setattr(watching, "EVERY_S", 0.0)
    looks = []

    def look():
        watching.time.sleep(0.05)
        looks.append(1)
        return ""

    progress = watched(Silent(), look)
    for done in range(20):
        progress.show(done, 20, "n=1", None)
    assert len(looks) == 1, "after 50 ms of looking a second passes"
