import json
import re
import signal
import subprocess
import sys

import pytest
import yaml
from report.made_runs import brief_notebook
from waiting import wait_for

import deadzone as dz
from deadzone import places
from deadzone.errors import EXIT_FINDING
from deadzone.study.trying import in_words_of_line


@pytest.fixture
def tried(deadzone, tmp_path, monkeypatch):
    """What a line says in an empty folder outside any repository."""
    monkeypatch.delenv("DEADZONE_HOME")
    monkeypatch.chdir(tmp_path)

    def run(*arguments, codes=(0,)):
        said = deadzone("try", *arguments)
        assert said.code in codes, said.err
        return said

    return run


ANSWERED = (0, EXIT_FINDING)
"""Exit codes of a line that is not the only one on its machine."""

BUSY = ("--foreign-cpu", "64")
"""What is asked here is what is said, beside whatever else runs: a level that no trial can be
trusted at is left out."""

PRINTS = ("sh", "-c", "echo tps = {n}00.5; sleep 0.02")


def test_a_line_ends_with_the_setting_and_the_place_of_its_run(tried, tmp_path):
    said = tried(*BUSY, "-L", "n", "1,2,4", "-r", "2", "-w", "0", "--response", r"tps = ([\d.]+)", "--goal", "max",  # noqa: E501
                 "--", *PRINTS).out  # fmt: skip
    assert "sh-n: n 1, 2, 4" in said and "6 trials: 3 treatments, 2 times in random order" in said
    best = r"^Set n 4: 400.*, >99 % sure to be within 3 % of the best\.$"
    assert re.search(best, said, re.MULTILINE)
    [folder] = (tmp_path / "deadzone" / "runs" / "sh-n").iterdir()
    assert f"Run: {folder.relative_to(tmp_path)}" in said
    assert "─" not in said  # a pipe gets no picture


def test_what_a_result_says_to_change_is_an_option_of_the_line(tried):
    line = ("sh", "-c", "test {n} -lt 3 || sleep 60")
    said = tried(*BUSY, "-L", "n", "1,2,3", "-r", "2", "-w", "0", "--timeout", "3", "--details",
                 "--", *line, codes=ANSWERED).out  # fmt: skip
    assert "Raise --timeout, or leave" in said and "design.timeout_s" not in said
    told = "next to them: `--foreign-cpu 1.0`, or trust.max_foreign_cpu in the\n  study. If one"
    assert in_words_of_line(told) == "next to them: `--foreign-cpu 1.0`. If one"


def test_the_saved_study_is_commented_and_is_the_study_that_ran(tried, tmp_path):
    (tmp_path / "studies").mkdir()
    line = (
        "-L", "n", "1,2,4", "-r", "2", "--save", "studies/my.yaml", "--json", *BUSY, "--", "true",
        "{n}",
    )  # fmt: skip
    found = json.loads(tried(*line, codes=ANSWERED).out)
    assert found["models"][0]["n_trials"] in (5, 6)  # a trial may be disturbed
    text = (tmp_path / "studies" / "my.yaml").read_text()
    assert text.startswith("# Does the same as: deadzone try -L n 1,2,4")
    assert text.splitlines()[1].endswith("with: deadzone run studies/my.yaml")
    saved = yaml.safe_load(text)
    ran = yaml.safe_load((tmp_path / found["folder"] / "study.yaml").read_text())
    assert saved["workload"].pop("cwd") == ".."
    assert saved["workload"]["argv"] == ran["workload"]["argv"]
    assert saved["factors"]["n"] == ran["factors"]["n"]["levels"]


def test_an_interrupted_line_goes_on_without_being_typed_again(tried, tmp_path, monkeypatch):
    line = ("-L", "n", "1,2,3", "-r", "2", *BUSY, "--", "sleep", "0.1{n}")
    process = subprocess.Popen(
        (sys.executable, "-m", "deadzone.cli.main", "try", *line), cwd=tmp_path, text=True,
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    while "trial 1 of" not in process.stderr.readline():
        assert process.poll() is None
    wait_for(lambda: [*tmp_path.rglob("trials.jsonl")], "no trial was recorded")
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    run = re.search(r"go on with `deadzone try --resume (\S+)`", said)[1]
    brief = brief_notebook(tmp_path / "brief.ipynb", "# Pauses")
    monkeypatch.setattr(places, "notebook", lambda *_: brief)
    found = json.loads(tried("--resume", "latest", "--json", "--report", codes=ANSWERED).out)
    assert found["run_id"] == run and found["models"][0]["n_trials"] == 6
    assert (tmp_path / "deadzone" / "reports" / "sleep-n" / run / "index.html").is_file()
    report = dz.load_run("latest").report()
    reproduced = report.provenance()[-1].lines[0]
    assert reproduced.startswith("deadzone try -L n 1,2,3 -r 2 --foreign-cpu 64 -- sleep")
    assert "deadzone run" not in repr([report.verdict(), *report.provenance()])


def test_a_program_that_changed_is_gone_on_with_only_where_that_is_asked(tried, tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nsleep 0.0$1\n")
    program.chmod(0o755)
    tried("-L", "n", "1,2,3", "-r", "2", *BUSY, "--", "./program", "{n}", codes=ANSWERED)
    [journal] = tmp_path.rglob("trials.jsonl")
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-2]))
    program.write_text("#!/bin/sh\nsleep 0.00$1\n")
    said = tried("--resume", "latest", codes=(3,)).err
    asked = re.search(r"`--resume \S+ (--on-change continue)`", said)[1].split()
    tried("--resume", "latest", *asked, codes=ANSWERED)


def test_output_of_a_known_program_needs_no_expression(tried):
    script = "echo 'transaction type: x'; echo 'latency average = {n} ms'; echo 'tps = {n}1.5'"
    said = tried(*BUSY, "-L", "n", "1,2,3", "-r", "2", "-w", "0", "--output", "pgbench", "--response", "achieved_rate",  # noqa: E501
                 "--goal", "max", "--json", "--", "sh", "-c", script).out  # fmt: skip
    assert json.loads(said)["recommendation"]["setting"] == 3


@pytest.mark.parametrize(
    ("line", "said"),
    [(("-L", "threads", "1,2", "--", "xz", "-T{thread}"), "Did you mean `threads`?"),
     (("-L", "n", "1,2", "--", "slep", "{n}"), "the program 'slep' is not installed here"),
     (("-L", "n", "1,2", "--", "seq {n} | wc"),
      "means something to a shell only: add `--shell sh` before `--`."),
     (("-L", "n", "1,2", "--output", "pgbanch", "--", "true", "{n}"), "Did you mean `pgbench`?"),
     (("-L", "n", "1,2", "--response", "tqs = (.*)", "--", *PRINTS), "numbers stand in 'tps ="),
     (("-L", "n", "1,2", "--response", "lps", "--", "true", "{n}"),
      "--response is 'lps', which no trial measures"),
     (("-L", "n", "1,2", "--response", "tps = .*", "--", *PRINTS),
      "is none: put its number in parentheses"),
     (("-L", "n", "1,2", "-r", "0", "--", "true", "{n}"), "'-r' / '--runs': 0 is not"),
     (("--cpu-limit", "0,1", "--", "true"), "--cpu-limit is '0'"),
     (("-L", "n", "1,2", "--prepare", "slep", "--", "true", "{n}"), "--prepare: the program"),
     (("-L", "n", "1,2", "--timeout", "0", "--", "true", "{n}"), "--timeout is 0.0; it must be"),
     (("-L", "n", "1,2", "--claim", "n 3 is best", "--", "true", "{n}"), "--claim names n 3"),
     (("--belongs", "port=x", "-L", "n", "1,2", "--", "true", "{n}"), "--belongs.port is \"x\""),
     (("--resume", "nosuch"), "`deadzone runs`"),
     (("-r", "2", "--resume", "latest"), "Missing argument '-- COMMAND")],
)  # fmt: skip
def test_mistakes_are_said_in_a_sentence_with_exit_code_2(tried, line, said):
    ended = tried(*line, codes=(2,))
    assert said in ended.err and "Traceback" not in ended.err


def test_a_run_of_python_goes_on_in_python(tried):
    dz.sweep(["true", "{n}"], {"n": [1, 2]}, replicates=1, warmup=0)
    ended = tried("--resume", "true-n/latest", codes=(3,))
    assert "goes on in Python, with the arguments of its `dz.sweep` and `resume='" in ended.err


@pytest.mark.parametrize(
    ("line", "words"),
    [(("-L", "n", "1..8", "--budget", "1m", "--", "true", "{n}"),
      ["The sweep measures those of 8 treatments that add the most information per second."]),
     (("-L", "tool", "gzip,xz,zstd", "--", "echo", "{tool}"),
      ["tool has 0 levels that are numbers", "All levels are measured instead"])],
)  # fmt: skip
def test_an_adaptive_line_says_what_it_will_do_and_why_it_cannot_choose_among_words(
    tried, line, words
):
    said = tried("--adaptive", "--dry-run", *line).out
    assert all(one in said for one in words)


def test_a_cleanup_that_fails_is_said_and_a_dry_run_prints_its_plan_as_json(deadzone, home):
    fails = "sh -c 'echo no >&2; exit 3'"
    line = ("-L", "n", "1,2", "-r", "1", "-c", fails, "--", "sleep", "0.0{n}")
    plan = json.loads(deadzone("try", "--dry-run", "--json", *line, code=0).out)
    assert plan["n_trials"] == len(plan["order"]) and plan["treatments"] == [{"n": 1}, {"n": 2}]
    assert "cleanup failed with exit code 3" in deadzone("try", *line).err


def test_a_response_whose_words_name_a_column_says_what_to_write(deadzone):
    line = ("-L", "n", "1,2", "--response", r"error: ([\d.]+)", "--", "echo", "error: {n}")
    assert "`(?:words)`" in deadzone("try", *line, code=2).err
