import os
import re
from pathlib import Path

import pytest

WIDTHS = (60, pytest.param(140, marks=pytest.mark.night))
BELOW_PICTURE = 12
"""Lines of the answer at 80 columns."""

SWEEP = ("try", "-y", "-L", "n", "1,2,4", "-r", "3", "-w", "0", "--foreign-cpu", "99")
PROGRAM = ("--", "sh", "-c", "sleep 0.{n}9")
OBEYED = re.compile(r"\\x[01][0-9a-f]|\\r|\\u20|\^\[")
"""Control characters that stand as text."""

LEGEND = re.compile(r"^\s+[●o] trial")


def seen(screen):
    """What must hold of every screen; gives its lines."""
    lines = screen.lines()
    assert not OBEYED.search(screen.text()), screen.text()
    assert not [line for line in lines if len(line) > screen.columns]
    assert "Traceback" not in screen.text()
    assert not re.search(r"trial \d+ of", screen.text()), "a bar is left behind"
    return lines


def answer(lines):
    """The lines below the legend of the picture."""
    last = max(number for number, line in enumerate(lines) if LEGEND.match(line))
    return [line for line in lines[last + 1 :] if line]


def write_table(folder: Path, rows: int = 6) -> Path:
    path = folder / "sweep.csv"
    lines = [f"{n},{8 / min(n, 4) * (1 + i / 99)}" for n in (1, 2, 4, 8) for i in range(rows)]
    path.write_text("threads,wall_s\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_sweep_leaves_one_picture_and_an_answer_that_fits(in_terminal, columns):
    screen = in_terminal(*SWEEP, *PROGRAM, columns=columns)
    assert screen.end() == 0, screen.text()
    lines = seen(screen)
    assert sum("wall time (s) over n" in line for line in lines) == 1
    below = answer(lines)
    assert below[0].startswith("Set n "), below
    assert "sure to be within 3 % of the best" in " ".join(map(str.strip, below))
    assert any(line.startswith("Report: ") for line in below)
    if columns >= 80:
        assert len(below) <= BELOW_PICTURE
    assert b"\x1b[38;5;" in screen.raw


@pytest.mark.night
def test_details_tell_every_sentence_and_quiet_the_setting_and_doubts_alone(in_terminal, tmp_path):
    study = ("--resume", "latest", *PROGRAM)
    assert in_terminal(*SWEEP, *PROGRAM).end() == 0
    whole = in_terminal(*SWEEP, "--details", *study)
    assert whole.end() == 0
    assert "elasticity" in whole.text() and "Set n " in whole.text()
    short = in_terminal(*SWEEP, "-q", *study)
    assert short.end() == 0
    lines = seen(short)
    assert lines[0].startswith("Set n ")
    others = [line for line in lines[1:] if not line.startswith(("Doubt", "  "))]
    # beside neighbours there may be more doubts than are shown
    assert all("more doubt" in line for line in others), others


@pytest.mark.night
def test_on_a_dumb_terminal_and_without_colour_the_same_is_told(in_terminal):
    dumb = in_terminal(*SWEEP, *PROGRAM, TERM="dumb")
    assert dumb.end() == 0
    assert b"\x1b" not in dumb.raw.replace(b"\x1b[?2004", b"")
    assert "trial 1 of 9" in dumb.text(), "plain lines in place of a bar"
    pale = in_terminal(*SWEEP, "--resume", "latest", *PROGRAM, NO_COLOR="1")
    assert pale.end() == 0 and b"\x1b[38;5;" not in pale.raw
    seen(pale)
    for screen in (dumb, pale):
        assert any(line.startswith("Set n ") for line in screen.lines())


@pytest.mark.night
def test_a_window_that_is_made_narrower_meanwhile_keeps_one_bar(in_terminal):
    screen = in_terminal(*SWEEP, "-r", "8", *PROGRAM, columns=100)
    screen.wait_for("of 24")
    screen.resize(70)
    assert screen.end() == 0
    assert sum(line.startswith("Set n ") for line in screen.lines()) == 1
    assert not OBEYED.search(screen.text())


def test_an_interrupt_in_mid_sweep_leaves_a_sentence_on_a_clear_screen(in_terminal):
    screen = in_terminal(*SWEEP, "-r", "50", "--", "sleep", "0.{n}")
    screen.wait_for("trial 4 of 150")
    screen.interrupt()
    assert screen.end() in (3, 130)
    lines = seen(screen)
    assert re.search(r"--resume \d{8}T", " ".join(lines))


@pytest.mark.night
def test_an_interrupted_run_waits_for_the_kernel_that_measures_and_takes_its_bar_away(
    in_terminal, tmp_path
):
    study = tmp_path / "pause.yaml"
    study.write_text(
        "study: pause\nworkload: {kind: command, argv: [sleep, '0.{n}']}\n"
        "factors: {n: [1, 2, 3]}\ndesign: {replicates: 60, warmup: 0}\n"
    )
    screen = in_terminal("run", study)
    screen.wait_for("[y/N]")
    os.write(screen.keyboard, b"y\n")
    screen.wait_for("trial 4 of 180")
    screen.interrupt()
    assert screen.end() == 130
    told = " ".join(seen(screen))
    assert 0 < told.index("trials are kept") < told.index("deadzone: interrupted"), told
    (run,) = (tmp_path / "deadzone" / "runs" / "pause").iterdir()
    assert (run / "sweep.ipynb").exists()


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_summary_of_a_table_is_as_wide_as_the_terminal(in_terminal, tmp_path, columns):
    asked = ("fit", write_table(tmp_path), "--knob", "threads", "--response", "wall_s")
    screen = in_terminal(*asked, "--details", columns=columns)
    assert screen.end() == 0
    lines = seen(screen)
    rule = max((line for line in lines if set(line) == {"="}), key=len)
    assert len(rule) == min(columns, 120)
    assert "Phases" in lines


def test_a_quiet_answer_is_the_setting_and_doubts_alone(deadzone, tmp_path):
    asked = ("fit", write_table(tmp_path), "--knob", "threads", "--response", "wall_s")
    first, *rest = deadzone(*asked, "-q", code=0).out.splitlines()
    assert first.startswith("Set 4 threads: ")
    assert all(line.startswith(("Doubt", "More trials", "  ")) for line in rest)


@pytest.mark.night
def test_a_long_table_is_cut_and_its_rest_counted(in_terminal, deadzone, tmp_path):
    path = tmp_path / "many.csv"
    rows = [
        f"{n},{100 / n * (1 + i / 99) * (40 if i == 7 else 1)}"
        for n in range(1, 31)
        for i in range(8)
    ]
    path.write_text("n,wall_s\n" + "\n".join(rows) + "\n")
    command = ("fit", path, "--knob", "n", "--response", "wall_s", "--anyway")
    whole = in_terminal(*command, "--details", columns=140)
    assert whole.end() == 0 and "more (--details)" not in whole.text()
    assert re.search(r"\.\.\. and \d+ rows more \(--details\)", deadzone(*command).out)


STRANGE = "\x1b]0;owned\x07\u202e"


def obeys_nothing(shown: str):
    assert "owned" in shown
    rest = re.sub(r"\x1b\[[\d;?]*[mFJAKhl]", "", shown)
    assert not re.search("[\x1b\x07\u202e]", rest), rest


def test_a_terminal_obeys_nothing_that_others_wrote(in_terminal, deadzone, tmp_path):
    """Levels, names of columns and files, what a program prints, and a study from elsewhere."""
    table = tmp_path / "strange.csv"
    rows = [
        f"{word}{STRANGE},{tier},{value}"
        for tier in (f"a{STRANGE}", "b")
        for word, value in (("x", 1), ("y", 2), ("z", 3))
        for _ in range(3)
    ]
    table.write_text(f"codec,tier{STRANGE},wall\n" + "\n".join(rows) + "\n")
    study = tmp_path / "strange.yaml"
    study.write_text(
        'study: strange\nworkload: {kind: command, argv: [sh, -c, \'echo "\\x1b]0;owned\\a" >&2; '
        "exit {n}']}\n"
        "factors: {n: [3, 4]}\ndesign: {replicates: 1, warmup: 0}\n"
    )
    fit = ("fit", table, "--knob", "codec", "--response", "wall", "--by", f"tier{STRANGE}")
    for command in (fit, ("sweep", study)):
        screen = in_terminal(*command, columns=140)
        while screen.read(0.5):
            if b"[Y/n]" in screen.raw or b"[y/N]" in screen.raw:
                screen.interrupt()
                break
        screen.end()
        obeys_nothing(screen.raw.decode())
    nowhere = ("fit", tmp_path / f"no{STRANGE}.csv", "--knob", "a", "--response", "b")
    for command in (nowhere, (f"no{STRANGE}",)):
        obeys_nothing(deadzone(*command, code=2).err)


def test_where_there_is_no_terminal_the_answer_has_no_picture_or_bar(deadzone):
    said = deadzone(*SWEEP, *PROGRAM)
    assert said.code in {0, 7}  # 7: its trials ask for more, on a busy machine
    assert re.search(r"^Set n \d: .* of the best\.", said.out, re.MULTILINE)
    told = said.out + said.err
    assert "\x1b" not in told and "\r" not in told and "─" not in said.out


STUDY = """study: naps
question: How long is a nap?
workload: {kind: command, argv: [sleep, "0.{n}"]}
factors: {n: [1, 2, 4]}
design: {replicates: 3, warmup: 0}
trust: {max_foreign_cpu: 99, max_steal: 99, max_pressure: 1, max_clock_drift: 99}
"""


@pytest.mark.night
def test_run_sweep_recommend_and_compare_leave_a_clear_screen(in_terminal, tmp_path):
    """One folder, one study: its report, a second run, what it recommends, both compared."""
    (tmp_path / "naps.yaml").write_text(STUDY)
    run = in_terminal("run", "naps.yaml", columns=60)
    run.wait_for("execute", 30)
    os.write(run.keyboard, b"y\n")
    assert run.end() == 0, run.text()
    below = answer(seen(run))
    assert below[0].startswith("Set n ") and "index.html" in "".join(below[-3:])
    sweep = in_terminal("sweep", "naps.yaml")
    assert sweep.end() == 0
    assert any("9 trials" in line for line in seen(sweep))
    for command in (("recommend", "naps/latest"), ("report", "naps/latest")):
        screen = in_terminal(*command, columns=60)
        assert screen.end() == 0, screen.text()
        seen(screen)
