import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

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


class Shown:
    """What is explored, its controls by name."""

    def __init__(self, *source, **asked):
        self.widget = explore(*source, **asked)
        self.controls = {control.description: control for control in self.widget.children[:-1]}

    def set(self, **values):
        for name, value in values.items():
            self.controls[name].value = value
        return self

    trials = property(lambda self: self.widget.result[0])
    model = property(lambda self: self.widget.result[1])
    labels = property(lambda self: [*self.model.phases["label"]])


@pytest.fixture
def shown():
    return Shown(table(), "threads", "wall_s")


def test_a_threshold_is_that_of_a_fit_under_it(shown, capsys):
    assert shown.labels == ["linear", "plateau"]
    before = shown.model.phases
    shown.set(reversal=-0.05, linear=1.5)
    under = fit_phases(
        table(), "threads", "wall_s", thresholds=Thresholds(linear=1.5, reversal=-0.05)
    )
    assert shown.model.phases.equals(under.phases) and not under.phases.equals(before)
    assert shown.set(breakthrough=1.05).model is None
    assert "keep the order" in capsys.readouterr().out and plt.get_fignums() == []


def test_another_response_is_fitted_and_the_time_of_a_trial_is_none(shown):
    assert shown.controls["response"].options == ("wall_s", "user_s")
    assert shown.set(response="user_s").model.response == "user_s"


def test_levels_are_left_out_of_the_fit_and_come_back(shown, capsys):
    assert shown.set(left_out=(1, 8)).model.n_levels == 6
    assert set(shown.trials["threads"]) == set(range(2, 8))
    assert shown.set(left_out=()).model.n_levels == 8
    assert "Set 5 threads" in capsys.readouterr().out
    shown.set(tolerance=0.3)
    assert "Set 4 threads" in capsys.readouterr().out
    assert shown.set(left_out=tuple(range(3, 9))).model is None
    assert "level" in capsys.readouterr().out


def test_another_factor_has_a_menu():
    outbound = load_reference("thread-pools", "outbound")
    shown = Shown(outbound, "pool_size", "latency_max_ms", by="rate").set(rate=4200)
    assert shown.labels == ["linear", "reversal"] and set(shown.trials["rate"]) == {4200}


@pytest.mark.parametrize(
    ("source", "error", "said"),
    [("nosuch", TableError, "no such file, run or published table"),
     ("thread-pools/outbound", PhaseError, "Say which column is the knob"),
     (table(), PhaseError, "Say which column is the knob")],
)  # fmt: skip
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
    shown = Shown(str(sweep(study).folder))
    assert shown.model.axis.kind == "interval" and shown.model.n_levels == 5
    of_table = Shown(shown.trials, "n", "took")
    severity = {one: {found.key: found.severity for found in one.model.findings}["less_work"]
                for one in (shown, of_table)}  # fmt: skip
    assert severity == {shown: "notes", of_table: "stops"}
