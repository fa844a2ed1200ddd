import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

from deadzone.analysis.findings.fitting import fit_phases
from deadzone.analysis.phases.thresholds import Thresholds
from deadzone.errors import PhaseError, TableError
from deadzone.store.reference import load_reference
from deadzone.verbs.exploring import explore

pytest.importorskip("ipywidgets")


def table(replicates=3, **columns):
    rng = np.random.default_rng(0)
    threads = np.repeat(np.arange(1, 9), replicates)
    wall = np.where(threads < 5, 40 / threads, 8) * np.exp(rng.normal(0, 0.02, len(threads)))
    return pd.DataFrame({"threads": threads, "wall_s": wall, "user_s": wall * 2, **columns})


@pytest.fixture
def explorer():
    return explore(table(), "threads", "wall_s")


@pytest.fixture
def shown():
    """What Jupyter is told to show, a bundle a message."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.display_pub = CapturingDisplayPublisher()
    yield shell.display_pub.outputs
    InteractiveShell.clear_instance()


def labels(explorer):
    return [*explorer.model.phases["label"]]


def test_a_threshold_is_that_of_a_fit_under_it(explorer):
    assert labels(explorer) == ["linear", "plateau"]
    before = explorer.model.phases
    explorer.controls["reversal"].value = -0.05
    explorer.controls["linear"].value = 1.5
    under = fit_phases(
        table(), "threads", "wall_s", thresholds=Thresholds(linear=1.5, reversal=-0.05)
    )
    assert explorer.model.phases.equals(under.phases) and not under.phases.equals(before)
    explorer.controls["breakthrough"].value = 1.05
    assert "keep the order" in explorer.problem


def test_another_response_is_fitted_and_the_time_of_a_trial_is_none(explorer):
    assert explorer.controls["response"].options == ("wall_s", "user_s")
    explorer.controls["response"].value = "user_s"
    assert explorer.model.response == "user_s"


def test_levels_are_left_out_of_the_fit_and_come_back(explorer):
    explorer.controls["left_out"].value = (1, 8)
    assert explorer.model.n_levels == 6 and set(explorer.trials["threads"]) == set(range(2, 8))
    explorer.controls["left_out"].value = ()
    assert explorer.model.n_levels == 8


def test_the_picture_is_kept_in_place_and_says_what_it_shows(explorer, shown):
    explorer._ipython_display_()
    explorer.controls["tolerance"].value = 0.3
    explorer.controls["left_out"].value = tuple(range(3, 9))
    box, picture, wider, none = shown
    assert "application/vnd.jupyter.widget-view+json" in box["data"]
    assert "linear 1-5, plateau 5-8. Set 5 threads" in picture["metadata"]["image/png"]["alt"]
    assert "Set 4 threads" in wider["metadata"]["image/png"]["alt"]
    assert "image/png" not in none["data"] and explorer.problem in none["data"]["text/plain"]
    ids = {output["transient"]["display_id"] for output in (picture, wider, none)}
    assert len(ids) == 1 and wider["update"]
    with pytest.raises(PhaseError, match="level"):
        _ = explorer.model
    assert plt.get_fignums() == []


def test_another_factor_has_a_menu_and_can_be_the_knob():
    outbound = load_reference("thread-pools", "outbound")
    explorer = explore(outbound, "pool_size", "latency_max_ms", by="rate")
    assert explorer.at["rate"].layout.display == "" != explorer.at["pool_size"].layout.display
    explorer.at["rate"].value = 4200
    assert labels(explorer) == ["linear", "reversal"]
    explorer.controls["knob"].value = "rate"
    assert explorer.model.knob == "rate" and set(explorer.trials["pool_size"]) == {4}
    assert [name for name, _ in explorer.controls["left_out"].options] == [
        "290",
        "700",
        "1400",
        "2800",
        "4200",
    ]


@pytest.mark.parametrize(
    ("source", "error", "said"),
    [
        ("nosuch", TableError, "no such file, run or published table"),
        ("thread-pools/outbound", PhaseError, "Say which column is the knob"),
        (table(), PhaseError, "Say which column is the knob"),
    ],
)
def test_what_cannot_be_explored_says_why(source, error, said, home):
    with pytest.raises(error, match=said):
        explore(source)


def test_a_run_has_the_scale_of_its_study_and_what_it_accepts_stops_nothing(write_study, sweep):
    line = "echo took: $((100 - 20 * ($0 > 2 ? 2 : $0))).$0; echo items: $((9 - $0))"
    study = write_study(
        workload={
            "kind": "command",
            "argv": ["sh", "-c", line, "{n}"],
            "responses": {name: {"regex": name + r": ([\d.]+)"} for name in ("took", "items")},
        },
        factors={"n": {"levels": [0, 1, 2, 3, 4], "scale": "interval"}},
        design={"replicates": 2},
        response={"name": "took"},
        accept={"less_work": "fewer items are what is asked"},
    )
    explorer = explore(str(sweep(study).folder))
    assert explorer.model.axis.kind == "interval" and explorer.model.n_levels == 5
    assert "less_work" not in {found.key for found in explorer.model.findings}
    assert explore(explorer.trials, "n", "took").model.findings[0].key == "less_work"
