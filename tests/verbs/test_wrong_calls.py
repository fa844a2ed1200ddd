from decimal import Decimal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import deadzone as dz
from deadzone.analysis.phases.thresholds import Thresholds
from deadzone.errors import COMMAND_VARIABLE, DeadzoneError
from deadzone.places import CARRIED

LEVELS = [1, 2, 4, 8, 16] * 6
TRIALS = pd.DataFrame({"threads": LEVELS, "host": ["a", "b"] * 15})
NOISE = np.random.default_rng(1).normal(1, 0.01, len(TRIALS))
TRIALS["wall_s"] = 8 / TRIALS["threads"].clip(upper=4) * NOISE
OF = ("threads", "wall_s")
MODEL = dz.fit_phases(TRIALS, *OF)
AS = {"knob": "cpu_limit", "response": "wall_s"}
TABLE = str(CARRIED / "data" / "reference" / "ffmpeg-16-cores" / "trials.csv")
CELLS = {"threads": [1, 2], "host": ["a", "b"]}


@pytest.mark.parametrize(
    ("call", "said"),
    [(lambda: dz.fit_phases({"threads": [1]}, *OF), "DataFrame of pandas .* not dict"),
     (lambda: dz.fit_phases(TRIALS["wall_s"], *OF), "DataFrame of pandas .* not Series"),
     (lambda: dz.examine("ffmpeg-16-cores/trials", *OF), "dz.read_table.* not str"),
     (lambda: dz.compare({"wall_s": [1]}, TRIALS), "DataFrame of pandas .* not dict"),
     (lambda: dz.explain_phases(MODEL, TRIALS), "DataFrame of pandas .* not PhaseModel"),
     (lambda: dz.explain_phases(TRIALS, dz.fit_phases(TRIALS, *OF, by="host")),
      "one curve is needed, not PhaseModels"),
     (lambda: dz.Table(TRIALS["wall_s"], "A."), "DataFrame of pandas .* not Series"),
     (lambda: dz.Verdict(TRIALS), "model, a run or a text is needed, not DataFrame"),
     (lambda: dz.Figure(None, "A."), "matplotlib is needed, not NoneType"),
     (lambda: dz.publish(MODEL), "path of a notebook is needed, not PhaseModel"),
     (lambda: dz.load_run(TRIALS), "name of a run is needed, not DataFrame"),
     (lambda: dz.read_table(TRIALS), "The table is threads .*; give a file, a run"),
     (lambda: dz.fit_phases(pd.DataFrame(), *OF), "no column 'threads'. It has none"),
     (lambda: dz.fit_phases(TRIALS.set_axis([0, 1, 2], axis=1), 0, 2), "0 is named by no text"),
     (lambda: dz.fit_phases(TRIALS, *OF, failures="ers"), "no column 'ers'"),
     (lambda: dz.examine(TRIALS, *OF, failures=["ers"]), "no column 'ers'"),
     (lambda: dz.fit_phases(TRIALS, *OF, role="knob"), "Roles are `setting`, `work_size`"),
     (lambda: dz.fit_phases(TRIALS, *OF, scale="log"), "Scales are `ratio`, `interval`"),
     (lambda: dz.propose(TRIALS, "thread", "wall_s", [1, 2, 4]), "Did you mean `threads`"),
     (lambda: dz.propose(TRIALS, "threads", "wal_s", [1, 2, 4]), "Did you mean `wall_s`"),
     (lambda: dz.search(TRIALS, ["threads"], "wall_s"), "Give each knob its levels"),
     (lambda: dz.search(None, CELLS, "wall_s", where="thread < 2"), "Did you mean `threads`"),
     (lambda: dz.search(None, CELLS, "wall_s", where="abs(threads) < 2"), "nothing else"),
     (lambda: dz.search(None, CELLS, "wall_s", where="host == a"), "conditions of `when`"),
     (lambda: dz.fit_phases(TRIALS, *OF, thresholds={"lin": 1}), "Did you mean `linear`"),
     (lambda: dz.fit_phases(TRIALS, *OF, thresholds=0.3), "by name is needed, not float"),
     (lambda: dz.propose(None, *OF, levels=[1, 2, 4]), "DataFrame of pandas .* not NoneType"),
     (lambda: MODEL.plot(ax=plt.subplots(1, 2)[1]), "One of several axes"),
     (lambda: dz.load_run(TABLE, **AS).report().section("phase"), "Sections are"),
     (lambda: dz.check_parameters(tolerance=(0, 1)), "no parameter 'tolerance'"),
     (lambda: dz.fit_phases(TRIALS, *OF, certainty="0.9"), "it is a coverage"),
     (lambda: dz.fit_phases(TRIALS, *OF, thresholds={"linear": "0.3"}), "must keep the order"),
     (lambda: MODEL.recommend(slo=40), "targets by statistic is needed, not int"),
     (lambda: MODEL.recommend(cost="-" * 490 + "wall_s"), "cannot be read as arithmetic"),
     (lambda: MODEL.recommend(cost="1" * 400 + " * wall_s"), "cannot be read as arithmetic"),
     (lambda: dz.explain_phases(TRIALS[["wall_s"]], MODEL), "no column 'threads'"),
     (lambda: dz.sweep(len, {"n": []}), "n"),
     (lambda: dz.sweep(len, {"n": 5}), "list of levels of 'n' is needed, not int"),
     (lambda: dz.sweep(len, [1, 2]), "mapping such as .* is needed, not list"),
     (lambda: dz.sweep(["x", "{n}"], {"n": [1]}, prepare=["sync"]), "prepare, a line as text"),
     (lambda: dz.sweep(["x", "{n}"], {"n": [1]}, belongs="port=1"), "belongs, a list of texts"),
     (lambda: dz.sweep(dz.load_study("xz-threads"), replicates=20), "give replicates to"),
     (lambda: dz.sweep("mine.ipynb"), "is a notebook: `deadzone publish mine.ipynb`"),
     (lambda: dz.Verdict(MODEL.recommend(), within=0.1), "The setting is decided"),
     (lambda: dz.publish(dz.load_run(TABLE, **AS)), "is a table, not a run")],
)  # fmt: skip
def test_a_wrong_call_ends_in_a_sentence_that_says_what_is_needed(call, said):
    with pytest.raises(DeadzoneError, match=said):
        call()
    plt.close("all")


@pytest.mark.parametrize(
    ("call", "said"),
    [(lambda: MODEL.recommend(withing=0.1), r"recommend\(\) .* Did you mean `within`"),
     (lambda: dz.Verdict("Set 4.", anyways=True), r"Verdict\(\) .* Did you mean `anyway`"),
     (lambda: dz.fit_phase, "Did you mean `fit_phases`")],
)  # fmt: skip
def test_a_wrong_name_is_answered_with_the_nearest(call, said):
    with pytest.raises((TypeError, AttributeError), match=said):
        call()


@pytest.fixture(scope="module")
def by_host():
    return dz.fit_phases(TRIALS, *OF, by="host")


@pytest.mark.parametrize(
    "other",
    [lambda: pd.concat([TRIALS, TRIALS.assign(note=1)[["note", "note"]]], axis=1),
     lambda: TRIALS.convert_dtypes(), lambda: TRIALS.convert_dtypes(dtype_backend="pyarrow"),
     lambda: TRIALS.astype({"threads": "category", "host": "category"}),
     lambda: TRIALS.set_index(["threads", "host"]),
     lambda: TRIALS.assign(wall_s=[Decimal(repr(value)) for value in TRIALS["wall_s"]]),
     lambda: TRIALS.assign(wall_s=TRIALS["wall_s"].map("{:.12f} s".format))],
)  # fmt: skip
def test_a_table_in_other_types_gives_the_same_phases(by_host, other):
    models = dz.fit_phases(other(), *OF, by="host")
    pd.testing.assert_frame_equal(models["a"].phases, by_host["a"].phases, rtol=1e-6)
    assert not [found.key for found in models.findings if found.severity == "stops"]


def test_thresholds_are_given_by_name():
    by_name, asked = {"linear": 1.4}, Thresholds(linear=1.4)
    phases = [dz.fit_phases(TRIALS, *OF, thresholds=one).phases for one in (by_name, asked)]
    pd.testing.assert_frame_equal(*phases)
    assert not phases[0].equals(MODEL.phases)


def test_a_level_beyond_the_range_or_no_number_is_predicted_as_nan(recwarn):
    assert np.isnan(MODEL.predict([0, 32])).all() and np.isnan(MODEL.predict("x")).all()
    assert MODEL.predict([[1, 2], [4, 8]]).shape == (2, 2)
    assert not recwarn.list


def test_a_proposal_and_a_report_are_words():
    asked = dz.propose(TRIALS.iloc[:0], *OF, levels=[1, 2, 4, 8, 16])
    assert repr(asked).startswith("Measure ") and "Proposal(" not in repr(asked)
    assert repr(dz.load_run(TABLE, **AS).report()).startswith("The report of")


def test_a_message_names_the_argument_in_python_and_the_option_of_the_command(monkeypatch):
    for variable, named in (("", "`response='COLUMN'`"), ("1", "`--response COLUMN`")):
        if variable:
            monkeypatch.setenv(COMMAND_VARIABLE, variable)
        with pytest.raises(DeadzoneError, match=named):
            dz.compare(TRIALS, TRIALS, "wall")
