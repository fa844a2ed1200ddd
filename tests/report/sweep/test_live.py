"""A sweep is drawn while it runs, where somebody watches."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import termios

from analysis.findings.made import sound_trials
from PIL import Image

from deadzone.analysis.phases.fit import fit_phases
from deadzone.report.sweep.live import drawn

TAKEN_AWAY = b"\x1b[0J"


def test_the_figure_shows_the_curve_the_doubt_and_what_comes():
    model = fit_phases(sound_trials(3), "n", "wall_s")
    plain, coming = (Image.open(io.BytesIO(drawn(model, text))) for text in ("", "Next: 3, 4"))
    assert plain.size == coming.size == (720, 580)
    assert plain.tobytes() != coming.tobytes()


def test_a_sweep_in_a_terminal_redraws_its_curve(tmp_path):
    """Its trials last until that was seen: where looking takes long, the next look comes late, and
    a picture above a sentence that was noted meanwhile (trials are repeated where the hypervisor
    withholds time) stays where it is."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 100))
    seen = tmp_path / "seen"
    program = ("sh", "-c", f"test -e {seen} || sleep 0.{{n}}")
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "DEADZONE_HOME": str(tmp_path),
        "LANG": "C.UTF-8",
    }
    started = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "deadzone.cli.main",
            "try",
            "-L",
            "n",
            "1,2,3,4",
            "-r",
            "100",
            "-w",
            "0",
            "-y",
            "--foreign-cpu",
            "64",
            "--",
            *program,
        ],
        stderr=theirs,
        stdout=subprocess.DEVNULL,
        env=environment,
        cwd=tmp_path,
    )
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
        if TAKEN_AWAY in text:
            seen.touch()
    os.close(ours)
    assert started.wait() in (0, 7)
    assert 0 < text.find(b"over n") < text.find(TAKEN_AWAY), (
        "a picture was drawn, and taken away for the next"
    )
