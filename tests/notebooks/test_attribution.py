from packs.services.attribution.made_trials import FAST, LIMITED, trials
from report.made_runs import PROVENANCE, record

from deadzone.store.run import RunFolder
from deadzone.study.loading import parse_study
from notebooks.executed import Executed

STUDY = """
study: upload
title: Where an upload is slow
question: Why is the upload slow in the pod?
workload: {kind: http}
service: {argv: [serve, "{port}"]}
environments: {pod: {target: {kind: local, cpu_limit: 0.25}}, container: {}}
design: {replicates: 8, warmup: 0}
response: {name: total_s, unit: s, goal: min}
"""

COUNTED = ("user_s", "sys_s", "nr_periods", "nr_throttled", "throttled_s")


def made_run(tmp_path, **marks):
    """A run of a pod that is held back by its CPU limit, and of a container without one."""
    run = RunFolder.create(tmp_path, parse_study(STUDY, "study.yaml"), "run-1")
    made = trials({"pod": LIMITED, "container": FAST}, n=8)
    for number, row in enumerate(made.to_dict("records"), start=1):
        values = {key: value for key, value in row.items() if value == value and value is not None}
        place = {"environment": values.pop("environment"), "cpu_limit": values.pop("cpu_limit")}
        block, _ = values.pop("block") + 1, values.pop("status")
        wall_s = values.pop("wall_s")
        counted = {name: values.pop(name, None) for name in COUNTED}
        counted |= {
            name: round(counted[name]) for name in ("nr_periods", "nr_throttled") if counted[name]
        }
        told = {"levels": place, "responses": values, **counted, **marks}
        run.append(record(number, None, wall_s, block, **told))
    run.write_provenance(PROVENANCE)
    run.write_tables()
    return run.folder


def test_the_cause_that_was_planted_is_confirmed_and_heads_the_page(tmp_path):
    with Executed("attribution", source=str(made_run(tmp_path))) as executed:
        assert "pod takes" in executed.verdict and "Confirmed: CPU limit" in executed.verdict
        shown = executed.value("why.hypotheses.set_index('hypothesis')['verdict'].to_dict()")
        assert shown["cpu_limit"] == "confirmed" and shown["client"] == "excluded"
        assert "2 environments, at least 8 requests each" in executed.sentences


def test_where_no_trial_is_trusted_all_are_analysed(tmp_path):
    marks = {"trusted": False, "distrust_reason": "other processes used 1.90 cores"}
    with Executed("attribution", source=str(made_run(tmp_path, **marks))) as executed:
        assert "Confirmed: CPU limit" in executed.verdict
        assert "2 environments, at least 8 requests each" in executed.sentences


def test_it_opens_on_a_run_whose_cause_is_known():
    with Executed("attribution") as executed:
        assert "Confirmed: CPU limit. Excluded: network, disk" in executed.verdict
        assert "2 environments, at least 10 requests each" in executed.sentences
