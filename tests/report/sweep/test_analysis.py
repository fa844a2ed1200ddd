import itertools
import json
from dataclasses import replace
from math import exp
from random import Random

import numpy as np
import pandas as pd
import pytest

from deadzone.analysis.phases.decision import doubt_of
from deadzone.report.document.display import Claim, Figure, Prose, Table, Verdict
from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.prose import doubts, to_do
from deadzone.report.sweep.report import SweepReport
from deadzone.report.sweep.source import load_source
from report.made_runs import PROVENANCE


def said(blocks):
    """All sentences of some blocks."""
    prose = (block for block in blocks if isinstance(block, Prose))
    return " ".join(str(part) for one in prose for part in (one.heading, *one.paragraphs))


def failing(level, error="boom"):
    said = {"status": "failed", "exit_code": 1, "error": error}
    return lambda line: line | said if line["levels"]["cpu_limit"] == level else line


def untrusted(but=None):
    why = {"distrust_reason": "other processes used 1.00 cores"}
    return lambda line: {**line, "trusted": line["levels"]["cpu_limit"] == but, **why}


def everything(report):
    return [
        report.title(), report.verdict(), *report.face(), *report.phases(), *report.treatments(),
        *report.exceptions(), *report.account(), *report.adaptive(), *report.provenance(),
    ]  # fmt: skip


def test_a_sound_run_gives_every_section(sound):
    assert sound.analysis.advice.setting == 2
    assert "Set 2 cores: " in sound.title().verdict
    assert sound.title().date == "2026-03-05T10:20:30+00:00"
    assert not sound.title().doubts and sound.verdict().style == "verdict"
    kinds = {type(block) for block in everything(sound)}
    assert {Figure, Table, Prose, Verdict} <= kinds


def test_what_noise_hides_is_named_to_those_who_ask_for_it_anyway(make_run):
    """No finding makes it doubtful: the study accepts what was found of its noise."""
    noise = Random(4)
    run = make_run(lambda line: {**line, "wall_s": 0.5 * exp(noise.gauss(0, 0.6))})
    source = load_source(str(run.folder))
    accept = {finding.key: "It is noisy." for finding in analyse(source).findings}
    source = replace(source, study=source.study.model_copy(update={"accept": accept}))
    analysis = analyse(source)
    assert not doubt_of(analysis.findings)
    assert not any(finding.withholds for finding in analysis.findings)
    assert analysis.advice.reason.startswith("No setting yet: noise hides")
    assert analyse(source, anyway=True).advice.setting is not None


def test_a_level_on_which_every_trial_failed_is_named_once(analysed):
    report = analysed(failing(1.5))
    told = [*report.title().doubts, said([report.verdict()]), *map(str, doubts(report.analysis))]
    assert "doubtful" not in said([report.verdict()])
    noted = [one for one in report.analysis.findings if one.severity == "notes"]
    assert noted[0].seen == "No trial at cpu_limit 1.5 ended well (4 failed)."
    assert told[0] == str(noted[0]) and " ".join(told).count("1.5") == 1
    assert "1.5" not in report.treatments()[0].frame.iloc[:, 0].tolist()
    (failures,) = [block for block in report.exceptions() if getattr(block, "id", "") == "failures"]
    assert "4 of 32 trials failed" in failures.caption


@pytest.mark.parametrize("level", [1.5, "none"])
def test_a_level_that_an_interrupted_run_did_not_reach_is_no_failure(analysed, level):
    report = analysed(lambda line: line if line["levels"]["cpu_limit"] != level else None)
    (doubt,) = report.title().doubts
    assert doubt.startswith(f"CPU limit {level} is not measured yet")
    assert "`resume='run-1'`" in doubt


def test_some_failed_trials_are_counted_and_the_rest_is_analysed(analysed):
    report = analysed(lambda line: failing(1)(line) if line["block"] == 2 else line)
    assert not report.title().doubts
    assert "31 analysed of 32" in dict(report.title().facts).values()
    assert any(isinstance(block, Table) and block.id == "failures" for block in report.exceptions())


def test_a_run_without_any_sound_trial_says_so_instead_of_a_verdict(analysed):
    report = analysed(lambda line: {**line, "status": "failed", "exit_code": 1, "error": "boom"})
    assert report.analysis.advice is None
    assert "No phases could be fitted" in report.title().verdict
    assert report.phases() == report.figures() == []
    (failures,) = [block for block in report.exceptions() if getattr(block, "id", "") == "failures"]
    assert failures.frame.shape[0] == 8
    assert "None of the 32 trials ended well" in said([report.verdict()])
    assert "No trial ended well at any of the 8 levels" in report.title().doubts[0]


def test_an_untrusted_run_stops_and_says_what_its_trials_would_show(analysed):
    report = analysed(untrusted())
    told = [*report.title().doubts, said([report.verdict()]), said(report.phases())]
    assert " ".join(told).count("0 of 8 levels have a trial that can be trusted") == 1
    assert report.analysis.is_spoilt and "Without trust: " in said([report.verdict()])
    assert analyse(report.analysis.source, anyway=True).advice.setting is not None
    [figure] = report.figures()
    assert "without a fit; 32 of 32 cannot be trusted and are hollow" in figure.caption
    assert dict(report.title().facts)["Trials"] == "0 of 32 trusted"
    [disturbed] = [block for block in report.exceptions() if isinstance(block, Table)]
    assert "32 attempts were disturbed" in disturbed.caption
    but_one = analysed(untrusted(but=1), run_id="run-2")
    assert "1 of 8 levels have a trial that can be trusted" in said([but_one.verdict()])
    assert dict(but_one.title().facts)["Trials"] == "4 of 32 trusted"
    assert "28 of 32 cannot be trusted" in but_one.figures()[0].caption


def test_a_verdict_that_is_doubtful_is_not_shown_as_a_good_one(analysed):
    report = analysed(lambda line: {**line, "wall_s": line["wall_s"] / 500})
    assert "that is doubtful" in said([report.verdict()])
    assert report.verdict().style == "warnings"


def test_a_trial_that_is_not_trusted_is_drawn_wherever_it_lies(analysed, monkeypatch):
    def far(line):
        is_far = line["trial"] == 3
        return {**line, "trusted": not is_far, "wall_s": line["wall_s"] * (9 if is_far else 1)}

    limits, scatter = [], Figure.of
    monkeypatch.setattr(
        Figure, "of", lambda drawing, *given, **how: (
            limits.append(drawing.axes[0].get_ylim()), scatter(drawing, *given, **how))[1],
    )  # fmt: skip
    report = analysed(far)
    report.figures()
    source = report.analysis.source
    assert limits[0][1] > source.untrusted[source.response].max()


def test_a_limit_above_the_machines_cores_is_never_recommended(analysed):
    """Where disturbance leaves one trial a level, the luckiest level may lie where the machine has
    nothing to give."""

    def lucky(line):
        wall = line["wall_s"] * {2.5: 0.8, 3: 0.85}.get(line["levels"]["cpu_limit"], 1)
        line = line if line["block"] == 1 else untrusted()(line)
        return {**line, "wall_s": wall}

    advice = analysed(lucky).analysis.advice
    assert max(advice.tied) <= 2 and advice.setting <= 2
    assert advice.table["setting"].max() == 2


def test_of_a_limit_above_the_cores_that_stands_for_all_of_them_it_is_said(analysed):
    """A sweep that proposes its levels may have left out the number of cores itself."""

    def without_the_cores(line):
        level = line["levels"]["cpu_limit"]
        slower = 1.3 if level in (1, 1.5) else 1
        return None if level == 2 else {**line, "wall_s": line["wall_s"] * slower}

    advice = analysed(without_the_cores).analysis.advice
    assert advice.setting == 2.5
    assert "2.5 cores is more than there is to have: 2 cores would do as well." in advice.caveats


def test_the_command_to_reproduce_names_the_study_as_it_is_called(analysed):
    report = analysed()
    folder = report.analysis.source.folder
    assert report.provenance()[-1].lines == (f"deadzone report probe/{folder.name}",)
    (folder / "study-name.txt").write_text("elsewhere/my study.yaml")
    report = SweepReport(analyse(load_source(str(folder))))
    assert report.provenance()[-1].lines[0].startswith("deadzone run 'elsewhere/my study.yaml'")


def test_every_verdict_points_to_figure_row_table_and_command(sound):
    claim = sound.verdict().paragraphs[0]
    assert isinstance(claim, Claim)
    targets = [item.target for item in claim.evidence]
    assert targets == ["response", "settings-5", "trials.parquet", "reproduce"]
    limits = next(block for block in sound.face() if isinstance(block, Prose))
    assert [item.target for item in limits.paragraphs[0].evidence] == ["phases-1"]


def test_a_plain_table_needs_no_provenance(tmp_path):
    table = tmp_path / "table.csv"
    rows = [(x, 4 / min(x, 2)) for x in (1, 1, 2, 2, 3, 3, 4, 4)]
    pd.DataFrame(rows, columns=["cpu_limit", "wall_s"]).to_csv(table, index=False)
    source = load_source(table=str(table), knob="cpu_limit", response="wall_s")
    report = SweepReport(analyse(source))
    assert "deadzone fit" in report.provenance()[0].lines[0]


def test_a_second_factor_gives_a_section_a_slice_with_ids_of_their_own(tmp_path, repository):
    from deadzone.report.document.document import Names

    cells = itertools.product((2, 4), (1, 2, 3, 4, 6, 8), range(3))
    rows = [(b, x, 1000 / min(x, b) * (1 + 0.001 * r)) for b, x, r in cells]
    table = tmp_path / "grid.csv"
    pd.DataFrame(rows, columns=["cores", "threads", "latency_ms"]).to_csv(table, index=False)
    asked = {"knob": "threads", "response": "latency_ms", "by": "cores"}
    report = SweepReport(analyse(load_source(table=str(table), **asked)))
    blocks = everything(report)
    Names(blocks)
    assert [block.id for block in report.figures()] == ["response", "slice-2-response"]
    assert len(report.treatments()) == 1
    assert not report.verdict().verdict.endswith("..")
    assert "By slice: 2 cores / 2 threads" in report.analysis.verdict
    targets = [item.target for item in report.verdict().paragraphs[0].evidence]
    assert targets[0] == "slice-2-response" and targets[1].startswith("settings-")


def test_the_trials_that_would_decide_are_counted(make_run):
    def noisy(line):
        """At 3 cores and without a limit it takes 12 % longer, which noise of 10 % hides."""
        slower = 1.12 if line["levels"]["cpu_limit"] in (3, "none") else 1.0
        noise = np.exp(0.1 * np.random.default_rng(100 + line["trial"]).standard_normal())
        return {**line, "wall_s": line["wall_s"] * slower * float(noise)}

    run = make_run(noisy, replicates=3)
    # A machine with cores to spare: limits above the program's own two are there to have, and
    # alike.
    (run.folder / "provenance.json").write_text(json.dumps({**PROVENANCE, "cores_usable": 8}))
    report = SweepReport(analyse(load_source(str(run.folder))))
    needed = report.analysis.advice.replicates
    assert needed
    tied = len(report.analysis.advice.tied)
    sentence = str(to_do(report.analysis)[0])
    assert f"{needed * tied:,} in all" in sentence


def test_nothing_is_said_where_the_data_decide(analysed):
    def steeper(line):
        level = line["levels"]["cpu_limit"]
        faster = 1 if level == "none" else 1 + 0.3 * float(level)
        return {**line, "wall_s": line["wall_s"] / faster}

    report = analysed(steeper)
    assert report.analysis.advice.replicates is None
    assert not [claim for claim in to_do(report.analysis) if "tied" in str(claim)]
