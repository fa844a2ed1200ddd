"""A sweep is drawn while it runs, where somebody watches."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

from explaining.findings.made import sound_trials
from PIL import Image

from deadzone.explaining.phases.fit import fit_phases
from deadzone.reports.sweep.live import drawn


def test_the_figure_shows_the_curve_the_doubt_and_what_comes():
    model = fit_phases(sound_trials(3), "n", "wall_s")
    plain, coming = (Image.open(io.BytesIO(drawn(model, text))) for text in ("", "Next: 3, 4"))
    assert plain.size == coming.size == (720, 580)
    assert plain.tobytes() != coming.tobytes()


def test_a_sweep_in_a_terminal_redraws_its_curve(tmp_path):
    """Two levels more than a curve needs, in trials long enough to be watched."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 100))
    line = [
        "try",
        "-L",
        "n",
        "1,2,3,4",
        "-r",
        "6",
        "-w",
        "0",
        "-y",
        "--foreign-cpu",
        "64",
        "--",
        "sleep",
        "0.{n}",
    ]
    environment = {**os.environ, "TERM": "xterm-256color", "DEADZONE_HOME": str(tmp_path), "LANG": "C.UTF-8"}
    started = subprocess.Popen(
        [sys.executable, "-m", "deadzone.cli.main", *line], stderr=theirs, stdout=subprocess.DEVNULL, env=environment,
        cwd=Path(tmp_path),
    )  # fmt: skip
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    assert started.wait() in (0, 7)
    shown = text.decode()
    assert "over n" in shown and "\x1b[0J" in shown, "the picture was drawn, and taken away at the end"
