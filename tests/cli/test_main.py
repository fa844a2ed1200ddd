import re
import subprocess
import sys
from pathlib import Path

import pytest

from deadzone import __version__
from deadzone.cli.main import commands
from deadzone.errors import EXIT_FINDING


def test_help_lists_every_command_with_what_it_does(deadzone):
    said = deadzone("--help")
    assert said.code == 0
    for name, (_, summary) in commands().items():
        assert re.search(rf"^  {name} +{re.escape(summary[:40])}", said.out, re.MULTILINE), name
    assert "Exit codes: 0 done;" in said.out


@pytest.mark.parametrize("name", commands())
def test_every_command_explains_itself_and_can_answer_in_json(deadzone, name):
    """The schema is JSON by itself."""
    said = deadzone(name, "--help", code=0)
    assert said.out.startswith("Usage: ")
    assert len(said.out.splitlines()) > 4
    assert deadzone(name, "-h") == said
    assert name == "schema" or "--json" in said.out
    assert name not in ("sweep", "run") or "--dry-run" in said.out


def test_the_version_is_told(deadzone):
    assert deadzone("--version").out == f"deadzone, version {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["swep"], "There is no command 'swep'. Did you mean `sweep`?"),
     (["quux"], "There is no command 'quux'."), (["sweep"], "Missing argument 'STUDY'"),
     (["sweep", "x", "--fast"], "--fast"),
     (["sweep", "x", "-r", "many"], "'many' is not a valid integer"),
     (["fit", "t.csv", "--knob", "a", "--response", "b", "--goal", "most"],
      "'most' is not one of 'min', 'max'")],
)  # fmt: skip
def test_wrong_usage_is_told_with_exit_code_2(deadzone, arguments, words):
    said = deadzone(*arguments, code=2)
    assert words in said.err and said.out == ""


def test_what_others_wrote_is_shown_and_not_obeyed_by_the_terminal(deadzone):
    said = deadzone("fit", "\x1b]0;owned\x07\u202e.csv", "--knob", "a", "--response", "b", code=2)
    assert "\\x1b]0;owned\\x07\\u202e.csv" in said.err
    assert not set(said.err) & {"\x1b", "\x07", "\u202e"}


def test_a_reader_that_leaves_early_is_no_error(home):
    command = f"{sys.executable} -m deadzone.cli.main schema | READER; echo ${{PIPESTATUS[0]}}"
    for reader, shown in (("head -1", ["{", "0"]), ("sh -c 'exec <&-; exec sleep 2'", ["0"])):
        argv = ("bash", "-c", command.replace("READER", reader))
        said = subprocess.run(argv, capture_output=True, text=True, check=True)
        assert said.stdout.splitlines() == shown and not said.stderr
    assert "Traceback" not in said.stderr


MEETING = """
import os, signal, time
import click

class Ends:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

@click.command()
def command():
    Ends()
    time.sleep(60)
"""


def test_an_interrupt_that_meets_the_end_of_an_object_is_heeded(tmp_path):
    (tmp_path / "meeting.py").write_text(MEETING)
    call = (
        "from deadzone.cli import main; "
        "main.COMMANDS['meet'] = ('meeting:command', ''); main.main()"
    )
    said = subprocess.run(
        (sys.executable, "-c", call, "meet"), cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (said.returncode, said.stderr.strip()) == (130, "deadzone: interrupted")


def loaded(names, *words):
    """Which of some modules a command has loaded at its end; and what it said."""
    program = (
        f"import sys; sys.argv = ['deadzone', *{[*map(str, words)]!r}]\n"
        "try:\n import deadzone.cli.main as m; m.main()\n"
        f"finally: print({set(names)!r} & {{*sys.modules}}, file=sys.stderr)"
    )
    argv = (sys.executable, "-c", program)
    said = subprocess.run(argv, capture_output=True, text=True, check=False)
    # a busy machine leaves no trial to trust
    assert said.returncode in (0, EXIT_FINDING), said.stderr
    return said.stderr.splitlines()[-1], said.stdout


JUDGING, BLOCKS = "deadzone.analysis.claims.judging", "deadzone.report.document.display"


@pytest.mark.parametrize(
    ("names", "line"),
    [
        # A command that is typed often must answer at once.
        (["pandas"], "--help"),
        # Loading scipy.stats alone takes longer than all of a fit of sixteen levels.
        (
            ["scipy.stats", "scipy.linalg", "scipy.sparse", "pydantic", "matplotlib"],
            "fit TABLE --knob threads --response wall_s",
        ),
        # What explains is loaded when something is explained.
        (["scipy.stats", "matplotlib", "jinja2", JUDGING, BLOCKS], "sweep probe"),
        (["jinja2", JUDGING, BLOCKS], "try -L n 1,2 -r 2 -- true {n}"),
    ],
    ids=["help", "fit", "sweep", "try"],
)
def test_a_command_loads_only_what_it_needs(names, line, tmp_path, write_study):
    write_study(design={"replicates": 1})
    table = tmp_path / "table.csv"
    rows = (f"{n},{10 / min(n, 6) + 0.01 * (n * i % 7)}\n" for n in range(1, 17) for i in range(3))
    table.write_text("threads,wall_s\n" + "".join(rows))
    found, out = loaded(names, *line.replace("TABLE", str(table)).split())
    assert found == "set()" and out


MEASURING = """
import sys
from deadzone.run.sweep.opening import open_run
from deadzone.run.sweep.progress import Progress
from deadzone.run.sweep.running import run_sweep

class Watching(Progress):
    def show(self, done, total, current, left_s):
        print(done, {"pandas", "scipy", "matplotlib"} & {*sys.modules})

opened = open_run(sys.argv[1])
run_sweep(opened.plan, opened.run, Watching())
"""


def test_trials_are_measured_without_pandas(home, write_study):
    """The rehearsal and the tables at the end, which need it, are no part of measuring."""
    design = {"replicates": 2, "warmup": 0, "rehearsal": False}
    study = write_study(argv=["echo", "{n}"], factors={"n": [1, 2]}, design=design)
    argv = (sys.executable, "-c", MEASURING, str(study))
    said = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert said.stdout.splitlines() == [f"{n} set()" for n in range(4)], said.stderr


@pytest.mark.parametrize(
    ("refused", "words"),
    [(lambda: bytearray(10**15), "Cannot allocate memory."),
     (lambda: Path("/nowhere/at all").read_text(), "/nowhere/at all: No such file or directory."),
     (lambda: Path("/proc/version").unlink(), "/proc/version: ")],
)  # fmt: skip
def test_what_the_machine_refuses_anywhere_is_told_and_no_traceback(
    deadzone, monkeypatch, refused, words
):
    monkeypatch.setattr("deadzone.cli.publish.command.callback", lambda *given, **named: refused())
    said = deadzone("publish", code=3).err
    assert said.startswith(f"deadzone: The machine refuses: {words}")
