from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deadzone as dz
from deadzone.errors import PhaseError
from deadzone_search.space import space_of

FACTORS = {
    "workers": [1, 2, 4, 8], "codec": ["gzip", "zstd", "none"], "sync": ["on", "off"],
    "buffer_kb": [16, 64, 256, 1024], "log": ["on", "off"],
}  # fmt: skip
BASELINE = {"workers": 1, "codec": "gzip", "sync": "on", "buffer_kb": 64, "log": "on"}


def wall_s(cell):
    """The truth: buffers and logs do nothing, and a codec pays with workers alone."""
    codec = {"gzip": 1.0, "zstd": 0.6 if cell["workers"] >= 4 else 1.0, "none": 1.3}
    return 10 / cell["workers"] ** 0.5 * codec[cell["codec"]] * (1.2 if cell["sync"] == "on" else 1)


def searched(truth=wall_s, noise=0.02, **how):
    """The trials of a search and what it says at its end."""
    rng, frame = np.random.default_rng(7), None
    how = {"factors": FACTORS, "response": "wall_s", "baseline": BASELINE} | how
    while True:
        said = dz.search(frame, **how)
        if said.stage == "done":
            return frame, said
        times = [truth(cell) * np.exp(rng.normal(0, noise)) for cell in said.ask.to_dict("records")]
        asked = said.ask.assign(wall_s=times)
        frame = asked if frame is None else pd.concat([frame, asked], ignore_index=True)


@pytest.fixture(scope="module")
def whole():
    """A search to its confirmation, without the sweeps along its knobs."""
    return searched(along=0)


@pytest.fixture(scope="module")
def screened(whole):
    trials, _ = whole
    return trials[trials["stage"].eq("screen")]


@pytest.fixture(scope="module")
def equal():
    """A search whose cells are equal."""
    return searched(truth=lambda cell: 5.0, noise=0.05, along=0)


def test_the_best_cell_is_found_confirmed_and_told_with_what_it_gains(whole):
    trials, said = whole
    assert wall_s(said.setting) == pytest.approx(10 / 8**0.5 * 0.6)
    assert said.gain_low < wall_s(BASELINE) / wall_s(said.setting) < said.gain_high
    assert said.verdict.startswith("Set ") and "better than the baseline" in said.verdict
    assert len(trials) <= 60
    assert trials["stage"].value_counts()["confirm"] == 12
    assert said.ask.empty and said.recommendation.probability > 0.9


def test_what_each_knob_does_is_told(whole):
    effects = whole[1].effects.set_index("knob")
    live = {*effects.index[effects["verdict"] == "live"]}
    assert {"workers", "codec", "sync"} >= live >= {"workers"}
    assert not effects.loc[["buffer_kb", "log"], "verdict"].eq("live").any()
    assert effects.loc["workers", ["from", "to"]].tolist() == [1, 8]
    assert effects.loc["sync", "low"] < 1.2 < effects.loc["sync", "high"]


def test_the_baseline_is_in_every_block_and_the_history_has_its_interval(whole):
    trials, said = whole
    at = (trials[[*BASELINE]] == pd.Series(BASELINE)).all(axis=1)
    assert at[trials["stage"].eq("search")].sum() == np.ceil(trials["stage"].eq("search").sum() / 8)
    assert at[trials["stage"].eq("confirm")].sum() == 3
    assert (said.trials["best_low"] <= said.trials["best"]).all()
    assert said.trials["best"].iloc[-1] == said.trials["best"].min()


def test_the_same_trials_give_the_same_answer_and_a_block_that_was_cut_is_ended(whole):
    trials, said = whole
    again = dz.search(trials, FACTORS, "wall_s", baseline=BASELINE, along=0)
    assert again.verdict == said.verdict
    for stage in ("screen", "confirm"):
        of_stage = trials[trials["stage"].eq(stage)]
        cut = trials.loc[: of_stage.index[2]]
        rest = dz.search(cut, FACTORS, "wall_s", baseline=BASELINE)
        assert rest.stage == stage
        assert rest.ask.to_dict("records") == of_stage[3:][[*FACTORS, "stage"]].to_dict("records")


def test_each_live_knob_is_swept_through_the_setting_within_a_budget_of_its_own():
    """More than eight workers do nothing."""
    factors = {**FACTORS, "workers": [1, 2, 4, 8, 16, 32]}
    trials, said = searched(
        lambda cell: wall_s({**cell, "workers": min(cell["workers"], 8)}), factors=factors
    )
    along = trials[trials["stage"].eq("along")]
    assert 0 < len(along) <= 24 and [*said.curves] == ["workers"]
    others = along.drop(columns=["workers", "stage", "wall_s"])
    assert (others == pd.Series(said.setting)[others.columns]).all(axis=None)
    assert said.curves["workers"].joints["level"].tolist() == [8]
    assert "Along workers, the others as set: " in said.verdict
    before = trials[trials["stage"].ne("along")]
    how = {"factors": factors, "baseline": BASELINE}
    assert dz.search(before, response="wall_s", along=0, **how).stage == "done"
    asked = dz.search(before, response="wall_s", along=1, **how).ask
    assert asked["stage"].tolist() == ["along"]


def test_a_curve_rests_on_the_confirmation_too():
    """Both ends of the knob are confirmed, so that one level between them is enough."""
    factors = {"a": [1, 2, 4, 8], "b": [1, 2, 3, 4], "c": ["x", "y"]}
    baseline = {"a": 1, "b": 1, "c": "x"}
    how = {"factors": factors, "baseline": baseline, "trials": 40}
    _, said = searched(lambda cell: 1000 / cell["a"] + cell["b"], noise=0.0, **how)
    assert [*said.curves] == ["a"] and "Along a, the others as set: linear" in said.verdict


def test_where_nothing_is_better_the_baseline_stays_or_nothing_is_claimed(equal):
    _, said = equal
    assert said.gain_low < 1 or np.isnan(said.gain)
    assert "is not shown" in said.verdict or "It is the baseline" in said.verdict


def test_more_is_better_of_a_rate(whole):
    """What is asked for and found of rates is what it is of the times."""
    trials, of_times = whole
    rates = trials.assign(wall_s=1 / trials["wall_s"])
    how = {"factors": FACTORS, "response": "wall_s", "goal": "max", "baseline": BASELINE}
    of_rates = dz.search(rates, **how)
    assert of_rates.setting == of_times.setting
    assert of_rates.gain == pytest.approx(of_times.gain) and of_rates.gain > 2
    assert of_rates.trials["best"].iloc[-1] == of_rates.trials["best"].max()
    block = dz.search(rates[rates["stage"].eq("screen")], **how).ask
    measured = trials.loc[trials["stage"].eq("search"), [*FACTORS, "stage"]]
    assert block.to_dict("records") == measured[: len(block)].to_dict("records")


@given(
    st.lists(st.integers(2, 4), min_size=2, max_size=4),
    st.sampled_from([None, "k0 + k1 <= 3", "k0 <= k1", "k0 * 2 < 5 and k1 >= 0"]),
    st.integers(0, 9),
)
def test_only_cells_that_are_allowed_are_asked_for(sizes, where, seed):
    factors = {f"k{i}": [*range(size)] for i, size in enumerate(sizes)}
    try:
        said = dz.search(None, factors, "wall_s", where=where, trials=60, seed=seed)
    except PhaseError as error:
        assert "too few" in str(error)
        return
    for cell in said.ask.to_dict("records"):
        assert where is None or eval(where, {}, cell)
        assert all(cell[name] in levels for name, levels in factors.items())


def test_a_knob_without_effect_stays_at_its_baseline():
    factors = {"table": ["plain", "cached"], "cache_mb": [16, 64, 256], "threads": [1, 2, 4]}
    when = {"cache_mb": {"table": "cached"}}
    said = dz.search(None, factors, "wall_s", when=when)
    assert set(said.ask.loc[said.ask["table"].eq("plain"), "cache_mb"]) == {16}
    factors, whens = {"engine": ["old", "new"], **factors}, {**when, "table": {"engine": "new"}}
    old = space_of(factors, None, None, whens, 0)[0].cells.query("engine == 'old'")
    assert set(old["table"]) == {"plain"} and set(old["cache_mb"]) == {16}


def test_trials_that_failed_or_are_not_trusted_do_not_count_and_their_cells_are_left_alone(
    screened,
):
    best = screened["wall_s"].idxmin()
    status = ["failed" if i == best else "ok" for i in screened.index]
    said = dz.search(screened.assign(status=status), FACTORS, "wall_s", baseline=BASELINE)
    asked = said.ask[[*FACTORS]].to_dict("records")
    assert screened.loc[best, [*FACTORS]].to_dict() not in asked
    assert len(said.trials) == len(screened) - 1


@pytest.mark.parametrize(
    ("how", "words"),
    [({"factors": {"a": [1], "b": [1, 2]}}, "factors.a has one level"),
     ({"factors": {"a": [1, 2]}}, "two knobs or more"),
     ({"baseline": {"workers": 3}}, "baseline.workers is 3, which is no level of it"),
     ({"baseline": {"worker": 1}}, "Did you mean `workers`"),
     ({"where": "workers < 0"}, "baseline does not meet `where: workers < 0`"),
     ({"where": "workers < 2"}, "leave workers one level"),
     ({"factors": {name: [1, 2] for name in "abc"}, "where": "a + b + c < 5"}, "too few"),
     ({"where": "workers"}, "is no comparison"),
     ({"where": "__import__('os').system('id') > 0"}, "nothing else"),
     ({"where": "threads < 2"}, "'threads'"),
     ({"when": {"log": {"codec": "xz"}}}, "which is no level of codec"),
     ({"when": {"log": {"log": "on"}}}, "when.log names 'log'"),
     ({"trials": 20}, "takes 35 or more")],
)  # fmt: skip
def test_what_leaves_nothing_to_search_is_refused_with_its_key(how, words):
    how = {"factors": FACTORS, "response": "wall_s", **how}
    with pytest.raises(PhaseError) as refused:
        dz.search(None, **how)
    assert words in str(refused.value)


def test_a_baseline_that_fails_and_a_response_that_fails_stop_the_search(screened):
    at = (screened[[*BASELINE]] == pd.Series(BASELINE)).all(axis=1)
    failing = r"The baseline, workers = 1, .*fails or is not trusted in all of its 3"
    for table, said in (
        (screened.assign(wall_s=screened["wall_s"].where(~at)), failing),
        (screened.assign(trusted=at), "trials failed or are not trusted"),
    ):
        with pytest.raises(PhaseError, match=said):
            dz.search(table, FACTORS, "wall_s", baseline=BASELINE)


def test_a_table_of_other_cells_is_refused():
    with pytest.raises(PhaseError, match=r"Row 0 has workers = 3, .* not one of the cells"):
        dz.search(pd.DataFrame([{**BASELINE, "workers": 3, "wall_s": 1.0}]), FACTORS, "wall_s")
    with pytest.raises(PhaseError, match="no column 'codec'"):
        dz.search(pd.DataFrame([{"workers": 1}]), FACTORS, "wall_s")


def test_the_finalists_stay_while_they_are_confirmed(equal):
    """Whatever the confirmation shows, the cells that are left of it are asked for; of equal cells
    hardly anything tells which are the best."""
    trials, _ = equal
    of_stage = trials[trials["stage"].eq("confirm")]
    cut = trials.loc[: of_stage.index[10]].copy()
    for times in (0.01, 100):
        cut.loc[of_stage.index[:11], "wall_s"] = times
        rest = dz.search(cut, FACTORS, "wall_s", baseline=BASELINE)
        assert rest.ask.to_dict("records") == of_stage[11:][[*FACTORS, "stage"]].to_dict("records")


def test_of_a_space_too_large_to_list_some_cells_are_chosen_among_and_lines_are_whole(monkeypatch):
    monkeypatch.setattr("deadzone_search.space.MOST_CELLS", 100)
    factors = {f"k{i}": [1, 2, 4, 8] for i in range(10)}
    space, baseline = space_of(factors, None, "k0 * k1 <= 8", None, seed=1)
    assert len(space.cells) == 100 and (space.cells.iloc[baseline] == 1).all()
    assert (space.cells["k0"] * space.cells["k1"] <= 8).all()
    assert space.line("k9", baseline)["k9"].tolist() == [1, 2, 4, 8]


PLANTED = {"a": [1, 2, 4, 8], "b": [1, 2], "c": [16, 32, 64], "d": [1, 2], "e": [1, 2, 3]}


@pytest.mark.night
def test_intervals_of_effects_hold_what_was_planted():
    """Half of the knobs do something, and each changes a little what the others do."""
    cells, held = pd.DataFrame([*product(*PLANTED.values())], columns=[*PLANTED]), []
    x = np.log(cells / cells.min())
    x = (x / x.max() - 0.5).to_numpy()
    for seed in range(100, 112):
        rng = np.random.default_rng(seed)
        effect = rng.normal(0, 0.2, 5) * rng.integers(0, 2, 5)
        truth = x @ effect + ((x @ np.triu(rng.normal(0, 0.05, (5, 5)), 1)) * x).sum(axis=1)
        times = dict(zip(cells.itertuples(index=False, name=None), np.exp(truth), strict=True))
        _, said = searched(
            lambda cell, times=times: times[tuple(cell[knob] for knob in PLANTED)], 0.03,
            factors=PLANTED, baseline=None, gain=0.0, seed=seed,
        )  # fmt: skip
        for row in said.effects.itertuples():
            means = pd.Series(truth).groupby(cells[row.knob]).mean()
            apart = np.exp(means[row[2]] - means[row.to])  # its columns are from and to
            held.append(row.low <= apart <= row.high)
    assert np.mean(held) >= 0.9
