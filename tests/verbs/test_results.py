import pickle
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from report.made_runs import write_run

import deadzone as dz
from deadzone.errors import StudyError
from deadzone.store.tables import with_numpy_types


@pytest.fixture(scope="module")
def trials():
    cells = [(cpu, threads) for cpu in (1, 2, 4) for threads in (1, 2, 4, 8)] * 2
    frame = pd.DataFrame(cells, columns=["cpu", "threads"])
    noise = np.exp(0.02 * np.random.default_rng(1).standard_normal(len(frame)))
    faster = frame["threads"].clip(upper=4) * frame["cpu"].clip(upper=2)
    return frame.assign(wall_s=8 / faster * noise)


@pytest.fixture(scope="module")
def results(trials):
    of_trials = (trials, "threads", "wall_s")
    faster = trials.assign(wall_s=0.9 * trials["wall_s"])
    model = dz.fit_phases(*of_trials)
    return {
        "model": model,
        "models": dz.fit_phases(*of_trials, by="cpu"),
        "comparison": dz.compare(trials, faster, "wall_s", "min"),
        "claims": dz.judge("threads 2 at least 1.5x faster than threads 1", *of_trials),
        "findings": dz.examine(*of_trials),
        "recommendation": model.recommend(),
    }


def test_a_claim_names_a_level_with_a_remark_by_its_number_or_as_it_is_written():
    names = [1, 2, "4 (cores)", "8 (HT)"] * 3
    wall_s = [8.0, 4.0, 2.0, 1.2, 8.1, 4.1, 2.1, 1.3, 8, 4, 2, 1.2]
    trials = pd.DataFrame({"threads": names, "wall_s": wall_s})
    for claim in ("threads 8 is best", {"best": {"threads": "8 (HT)"}}, "threads 1 to 8 is linear"):
        (judged,) = dz.judge(claim, trials, "threads", "wall_s")
        assert judged.verdict == "supported", claim


def test_a_level_with_a_remark_is_judged_whatever_the_kind_of_its_column():
    names = ["1", "2", "4 (HT)", "8", "16"] * 3
    times = [8.0, 4.1, 2.2, 1.3, 1.3, 8.1, 4.1, 2.2, 1.3, 1.3, 7.9, 4.0, 2.2, 1.3, 1.3]
    trials = pd.DataFrame({"t": names, "wall_s": times})
    for kind in ("category", "string", object):
        claim = "t 4 at least 2x faster than t 1"
        (judged,) = dz.judge(claim, trials.astype({"t": kind}), "t", "wall_s")
        assert judged.verdict == "supported", kind


def test_levels_of_a_claim_are_written_as_those_of_the_table_or_as_numbers():
    trials = pd.DataFrame({"t": ["1,024 (def)", "2,048", "4,096"] * 2, "wall_s": [8, 4, 2] * 2})
    claim = {"better": {"at": {"t": "2,048"}, "than": {"t": "1,024"}, "by_at_least": 1.5}}
    (judged,) = dz.judge(claim, trials, "t", "wall_s")
    assert judged.verdict == "supported"
    (judged,) = dz.judge("t 2048 at least 1.5x faster than t 1024", trials, "t", "wall_s")
    assert judged.verdict == "supported"
    with pytest.raises(StudyError, match="levels are 1024, 2048, 4096"):
        dz.judge("t 2048 at least 1.5x faster than t 512", trials, "t", "wall_s")


DRAWN = ("model", "models", "comparison")


@pytest.mark.parametrize("name", [*DRAWN, "claims", "findings", "recommendation"])
def test_a_result_has_a_short_repr_shows_as_html_and_pickles(results, name):
    result = results[name]
    assert 0 < len(repr(result).splitlines()) <= 6
    assert "<" in result._repr_html_()
    assert repr(pickle.loads(pickle.dumps(result))) == repr(result)


@pytest.mark.parametrize("name", DRAWN)
def test_a_result_is_drawn_into_the_axes_of_the_user(results, name):
    figure, ax = plt.subplots()
    assert results[name].plot(ax=ax) is ax and (ax.lines or ax.collections or ax.images)
    assert len(str(results[name].summary())) > 100
    plt.close(figure)


def test_slices_are_laid_over_each_other_with_their_names(results):
    figure, ax = plt.subplots()
    results["models"].plot(ax=ax)
    named = {text.get_text() for text in ax.get_legend().get_texts()}
    assert {"cpu = 1", "cpu = 2", "cpu = 4"} <= named
    plt.close(figure)


def test_a_model_predicts_its_curve_within_what_was_measured(results):
    model = results["model"]
    fitted = model.levels.set_index("level")["fitted"]
    assert model.predict(fitted.index) == pytest.approx(fitted.to_numpy())
    assert fitted[4] < model.predict(3)[0] < fitted[2] and np.isnan(model.predict([0.5, 16])).all()
    assert results["models"].predict([2, 4]).columns.tolist() == [1, 2, 4]


def test_claims_and_findings_are_tables(results):
    assert results["claims"].summary()["verdict"].tolist() == ["undecided"]
    assert {"key", "severity", "seen", "mend"} <= set(results["findings"].summary())


def test_the_trials_of_a_run_are_drawn_by_seaborn_whatever_their_columns(tmp_path):
    """Seaborn's short legend of more than six whole numbers asks for NumPy's types."""
    trials = dz.load_run(write_run(tmp_path, replicates=8).folder).trials
    assert trials["block"].dtype == np.int64 and trials["trusted"].dtype == bool
    figure, ax = plt.subplots()
    sns.stripplot(trials, x="wall_s", y="cpu_limit", hue="block", ax=ax)
    sns.scatterplot(trials, x="wall_s", y="nr_throttled", hue="exit_code", ax=ax)
    plt.close(figure)


def test_a_file_of_a_table_is_a_run_without_circumstances(tmp_path, trials):
    trials.to_csv(tmp_path / "mine.csv", index=False)
    opened = dz.load_run(tmp_path / "mine.csv", knob="threads", response="wall_s")
    assert opened.is_table and opened.name == "mine" and opened.provenance == {}
    assert len(opened.trials) == len(trials)


def test_a_wide_table_takes_a_column_more_without_a_warning():
    """A load test has more than a hundred columns."""
    wide = pd.DataFrame({f"n{i}": pd.array([1, 2], dtype="Int64") for i in range(120)})
    table = with_numpy_types(wide)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert table.assign(off_percent=1)["off_percent"].eq(1).all()
