import json

import numpy as np
import pytest

from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.prose import to_do
from deadzone.report.sweep.report import SweepReport
from deadzone.report.sweep.source import load_source
from report.made_runs import PROVENANCE


def test_the_time_to_decide_is_that_of_the_trials_and_pauses(make_run):
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
    assert needed is not None and needed.replicates
    tied = len(report.analysis.advice.tied)
    sentence = str(to_do(report.analysis)[0])
    # A trial at or above two cores takes 2 s, and the study pauses for 0.5 s after it.
    about = needed.replicates * tied * 2.5
    number = int(sentence.split("about ")[1].split(" ")[0].replace(",", ""))
    unit = 60 if " min" in sentence else 1
    assert number * unit == pytest.approx(about, rel=0.05, abs=unit)
    assert f"{needed.replicates * tied:,} in all" in sentence


def test_nothing_is_said_where_the_data_decide(analysed):
    def steeper(line):
        level = line["levels"]["cpu_limit"]
        return {
            **line,
            "wall_s": line["wall_s"] / (1 if level == "none" else 1 + 0.3 * float(level)),
        }

    report = analysed(steeper)
    if report.analysis.advice.replicates is None:
        assert not [claim for claim in to_do(report.analysis) if "tied" in str(claim)]
