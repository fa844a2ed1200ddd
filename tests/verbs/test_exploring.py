import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from shell import own_shell

from deadzone.analysis.findings.fitting import fit_phases
from deadzone.analysis.phases.thresholds import Thresholds
from deadzone.store.reference import load_reference
from deadzone.verbs.exploring import explore

pytest.importorskip("ipywidgets")


def table():
    rng = np.random.default_rng(0)
    threads = np.repeat(np.arange(1, 9), 3)
    wall = np.where(threads < 5, 40 / threads, 8) * np.exp(rng.normal(0, 0.02, len(threads)))
    return pd.DataFrame({"threads": threads, "wall_s": wall, "user_s": wall * 2})


def changed(explorer, **values):
    for name, value in values.items():
        explorer.controls[name].value = value
    return explorer


def labels(explorer):
    return [*explorer.model.phases["label"]]


@pytest.fixture
def explorer():
    return explore(table(), "threads", "wall_s")


@pytest.fixture
def shown():
    """What Jupyter is told to show, a bundle a message."""
    with own_shell() as shell:
        shell.display_pub = CapturingDisplayPublisher()
        yield shell.display_pub.outputs


def test_a_threshold_is_that_of_a_fit_under_it(explorer):
    assert labels(explorer) == ["linear", "plateau"]
    before = explorer.model.phases
    changed(explorer, reversal=-0.05, linear=1.5)
    thresholds = Thresholds(linear=1.5, reversal=-0.05)
    under = fit_phases(table(), "threads", "wall_s", thresholds=thresholds)
    assert explorer.model.phases.equals(under.phases) and not under.phases.equals(before)
    assert changed(explorer, breakthrough=1.05).model is None
    assert "keep the order" in explorer.said


def test_another_response_is_fitted_and_the_time_of_a_trial_is_none(explorer):
    assert explorer.controls["response"].options == ("wall_s", "user_s")
    assert changed(explorer, response="user_s").model.response == "user_s"


def test_levels_are_left_out_of_the_fit_and_come_back(explorer):
    assert changed(explorer, left_out=(1, 8)).model.n_levels == 6
    assert set(explorer.trials["threads"]) == set(range(2, 8))
    assert changed(explorer, left_out=()).model.n_levels == 8


def test_the_picture_is_kept_in_place_and_says_what_it_shows(explorer, shown):
    explorer._ipython_display_()
    changed(explorer, tolerance=0.3)
    changed(explorer, left_out=tuple(range(3, 9)))
    box, picture, wider, none = shown
    assert "application/vnd.jupyter.widget-view+json" in box["data"]
    assert "linear 1-5, plateau 5-8. Set 5 threads" in picture["metadata"]["image/png"]["alt"]
    assert "Set 4 threads" in wider["metadata"]["image/png"]["alt"]
    assert "image/png" not in none["data"] and "level" in none["data"]["text/plain"]
    ids = {output["transient"]["display_id"] for output in (picture, wider, none)}
    assert len(ids) == 1 and wider["update"] and plt.get_fignums() == []


def test_a_file_is_explored_as_its_table_is(tmp_path, explorer):
    table().to_csv(tmp_path / "wide.csv", index=False)
    of_file = explore(str(tmp_path / "wide.csv"), "threads", "wall_s")
    assert of_file.model.phases.equals(explorer.model.phases)


def test_another_factor_has_a_menu():
    outbound = load_reference("thread-pools", "outbound")
    explorer = changed(explore(outbound, "pool_size", "latency_max_ms", by="rate"), rate=4200)
    assert labels(explorer) == ["linear", "reversal"] and set(explorer.trials["rate"]) == {4200}


def test_a_run_has_the_scale_of_its_study_and_what_it_accepts_stops_nothing(write_study, sweep):
    line = "echo took: $((100 - 20 * ($0 > 2 ? 2 : $0))).$0; echo items: $((9 - $0))"
    study = write_study(
        argv=["sh", "-c", line, "{n}"],
        workload={
            "responses": {name: {"regex": name + r": ([\d.]+)"} for name in ("took", "items")}
        },
        factors={"n": {"levels": [0, 1, 2, 3, 4], "scale": "interval"}},
        design={"replicates": 2},
        response={"name": "took"},
        accept={"less_work": "fewer items are what is asked"},
    )
    of_run = explore(str(sweep(study).folder))
    assert of_run.model.axis.kind == "interval" and of_run.model.n_levels == 5
    of_table = explore(of_run.trials, "n", "took")
    for one, severity in ((of_run, "notes"), (of_table, "stops")):
        found = {(finding.key, finding.severity) for finding in one.model.findings}
        assert ("less_work", severity) in found
