import json

import numpy as np

from deadzone.report.sweep.analysis import analyse
from deadzone.report.sweep.prose import to_do
from deadzone.report.sweep.report import SweepReport
from deadzone.report.sweep.source import load_source
from report.made_runs import PROVENANCE


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
    if report.analysis.advice.replicates is None:
        assert not [claim for claim in to_do(report.analysis) if "tied" in str(claim)]
