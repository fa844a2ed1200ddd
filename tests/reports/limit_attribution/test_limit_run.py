"""The report of a run of a service: every section has its blocks, in both languages, and a failed run says so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from explaining.attribution.made_trials import FAST, LIMITED, RELAY, trials

import deadzone
from deadzone.language.catalogue import speaking
from deadzone.reports.document.display import Figure, Table, Title
from deadzone.reports.limit_attribution.run import LimitRun, phases_table
from deadzone.reports.sweep.source import Source

SECTIONS = (
    "title", "response", "hypotheses", "claims", "first_byte", "work", "missing", "guideline", "limits", "origin",
)  # fmt: skip


def report(environments):
    table = trials(environments, n=6).assign(warmup=False, trusted=True, trial=range(12), attempt=1)
    source = Source("study", "A study", "Why?", table, "environment", "total_s", "min")
    return LimitRun(source, "environment", table, deadzone.attribute(table))


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_section_is_shown_in_both_languages(language):
    with speaking(language):
        made = report({"pod": LIMITED, "container": FAST})
        shown = {name: getattr(made, name)() for name in SECTIONS}
    (title,) = shown["title"]
    assert isinstance(title, Title) and "CPU" in title.verdict
    kinds = [type(block) for block in shown["hypotheses"]]
    assert kinds.count(Figure) == 1 and kinds.count(Table) == 2
    assert shown["work"] and shown["guideline"]
    assert shown["claims"] == []


def test_what_to_change_follows_from_the_confirmed_cause():
    with speaking("en"):
        assert "proxies" in repr(report({"far": RELAY, "near": FAST}).guideline()[1])
        assert "nothing to change" in repr(report({"one": FAST, "other": FAST}).guideline()[1])


def test_phases_that_were_not_timed_are_no_table():
    made = report({"pod": LIMITED, "container": FAST})
    assert phases_table(made.result, made.trials[["environment", "total_s"]], "environment") is None


def test_a_run_without_two_environments_says_why():
    made = report({"pod": LIMITED, "container": FAST})
    failed = replace(made, result=None, problem="only one environment ended well.")
    assert "only one environment" in repr(failed.title()[0])
    assert failed.hypotheses() == [] and failed.first_byte() == []
