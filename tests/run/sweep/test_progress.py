import io
import os
import pty
import re
import termios

import pytest

from deadzone.run.sweep.progress import BarProgress, LineProgress, progress_on, shown_on


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of 100 columns, and what was drawn on it."""
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 100))
    with os.fdopen(theirs, "w") as stream:
        yield stream, lambda end: read_until(ours, end)
    os.close(ours)


def read_until(descriptor, end):
    """What was drawn, up to a text; a terminal hands it over in pieces."""
    drawn = ""
    while not drawn.endswith(end):
        drawn += os.read(descriptor, 65536).decode()
    return drawn


def shown(stream):
    progress = progress_on(stream)
    progress.show(3, 12, "cpu_limit=0.5", 75.0)
    progress.note("trial 4 is repeated: a neighbour")
    progress.show(4, 12, "cpu_limit=1", 70.0)
    progress.close("Run x: 12 trials")
    stream.flush()


def test_a_total_that_changes_leaves_the_bar_as_full_as_it_is(terminal):
    stream, drawn = terminal
    progress = progress_on(stream)
    progress.show(18, 24, "n=1", None)
    progress.show(19, 22, "n=2", None)
    progress.close("the end")
    stream.flush()
    bars = re.findall(r"trial \d+ of 2\d \|(.*?)\|", drawn("the end\r\n"))
    assert len(bars) >= 2 and all("\u2588" in bar for bar in bars[-2:])


@pytest.mark.parametrize("no_color", ["", "1"])
def test_on_a_terminal_one_line_moves_and_one_stays(terminal, monkeypatch, no_color):
    monkeypatch.setenv("NO_COLOR", no_color)
    stream, drawn = terminal
    assert isinstance(progress_on(stream), BarProgress)
    shown(stream)
    text = drawn("Run x: 12 trials\r\n")
    assert "trial 4 of 12" in text
    assert "cpu_limit=0.5, about 1 min 15 s left" in text
    assert "trial 4 is repeated: a neighbour\r\n" in text
    assert not re.search(r"\x1b\[\d+(;\d+)*m", text), "no colours, whatever NO_COLOR says"


def test_elsewhere_plain_lines_come_now_and_then():
    stream = io.StringIO()
    assert isinstance(progress_on(stream), LineProgress)
    shown(stream)
    assert stream.getvalue().splitlines() == [
        "trial 4 of 12: cpu_limit=0.5, about 1 min 15 s left",
        "trial 4 is repeated: a neighbour",
        "Run x: 12 trials",
    ]


def test_a_dumb_terminal_gets_plain_lines(terminal, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(progress_on(terminal[0]), LineProgress)


def test_a_kernel_draws_on_the_terminal_of_its_caller(terminal, monkeypatch):
    monkeypatch.setenv("DEADZONE_PROGRESS", shown_on(terminal[0]))
    assert isinstance(progress_on(io.StringIO()), BarProgress)
    shown(io.StringIO())
    assert "trial 4 of 12" in terminal[1]("Run x: 12 trials\r\n")
    monkeypatch.setenv("DEADZONE_PROGRESS", shown_on(io.StringIO()))
    assert isinstance(progress_on(terminal[0]), LineProgress)


def test_the_last_trial_is_not_counted_beyond_the_total():
    stream = io.StringIO()
    LineProgress(stream).show(12, 12, "fitting", None)
    assert stream.getvalue() == "trial 12 of 12: fitting\n"
