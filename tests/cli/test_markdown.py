import re

import numpy as np
import pandas as pd
import pytest
from report.made_runs import brief_notebook, write_run
from report.sweep.test_regression_check import scales_further

from deadzone.errors import EXIT_MOVED, EXIT_WORSE
from deadzone.study.claim_sentences import parse_claim

CLAIM = "nothing to gain beyond cpu_limit 2"

OF_OTHERS = (
    "@somebody", "#12", "!34", "group/project#5", "GH-6", "~bug", "$7", "<b>bold</b>", "a|b", "`x`",
    "![image](http://example.org/a.png)", "[link](https://example.org)", "www.example.org", "__a__",
)  # fmt: skip
"""Levels that mean something to GitHub or GitLab."""


def write(path, factor=1.0, levels=OF_OTHERS):
    rng = np.random.default_rng(int(100 * factor))
    times = [(level, factor * rng.lognormal(0, 0.005)) for level in levels for _ in range(12)]
    pd.DataFrame(times, columns=["level", "wall_s"]).to_csv(path, index=False)
    return path


def test_text_of_others_is_text(tmp_path, deadzone):
    a, b = write(tmp_path / "a.csv"), write(tmp_path / "b.csv", 1.2)
    said = deadzone("compare", a, b, "--by", "level", "--format", "markdown")
    head, *rows = [line for line in said.out.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(OF_OTHERS)  # the rule and the overall row
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in (head, *rows)} == {9}
    told = said.out.replace(f"`deadzone compare {a} {b} --by level`", "")
    assert not re.search(r"(?<!\\)[`<>\[\]_!#~$]|[@#!~$]\w|http://|https://|www\.|GH-\d", told)
    assert not any(line.startswith("/") for line in said.out.splitlines())
    assert "worse at 14 of 14" in said.out.splitlines()[0]


def test_a_comment_has_at_most_60_lines(tmp_path, deadzone):
    levels = [f"level-{number}" for number in range(200)]
    a, b = write(tmp_path / "a.csv", 1.0, levels), write(tmp_path / "b.csv", 1.2, levels)
    said = deadzone("compare", a, b, "--by", "level", "--format", "markdown")
    assert len(said.out.splitlines()) <= 60 and "| ... | ... |" in said.out


def test_only_if_moved_prints_nothing_where_nothing_is_shown(tmp_path, deadzone):
    a, b = write(tmp_path / "a.csv"), write(tmp_path / "b.csv", 1.2)
    told = ("--by", "level", "--only-if", "moved", "--fail-on", "worse")
    same = deadzone("compare", a, a, *told)
    assert (same.code, same.out) == (0, "")
    worse = deadzone("compare", a, b, *told)
    assert worse.code == EXIT_WORSE and "worse" in worse.out


@pytest.fixture
def two_runs(home):
    """Two runs of one study, the second by a program that can use a third core."""
    brief_notebook(home / "notebooks" / "phases.ipynb", "# A program under a CPU limit")
    write_run(home, run_id="run-1").add_claims([parse_claim(CLAIM)])
    write_run(home, scales_further, run_id="run-2").add_claims([parse_claim(CLAIM)])


def test_a_report_says_what_moved_since_the_previous_run(two_runs, deadzone):
    first = deadzone("report", "probe/run-1", "--format", "markdown", "--only-if", "moved")
    assert (first.code, first.out) == (0, "")
    second = deadzone("report", "probe/run-2", "--format", "markdown", "--only-if", "moved")
    assert second.code == EXIT_MOVED
    head, *more = second.out.splitlines()
    assert head.startswith("**A program under a CPU limit: ")
    assert "\n- Phases moved since run run-1 of 5 March 2026" in second.out
    assert "\n- contradicted: nothing to gain beyond cpu\\_limit 2" in second.out
    assert more[-1].startswith("The whole report: `") and "probe/run-2/index.html" in more[-1]
    assert len(more) < 60 and sum(line.startswith("|") for line in more) == 2 + 8


def test_claims_are_told_where_a_verdict_moved(two_runs, deadzone):
    asked = ("--format", "markdown", "--only-if", "moved")
    assert deadzone("claims", "probe/run-1", *asked).out == ""
    told = deadzone("claims", "probe/run-2", *asked, "--fail-on", "contradicted")
    assert told.code == 8 and "| contradicted |" in told.out
    assert told.out.splitlines()[-1] == "The whole report: `deadzone report probe/run-2`"
