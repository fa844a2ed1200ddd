import time

import numpy as np
import pandas as pd
import pytest

from deadzone.analysis.phases.fit import fit_phases
from deadzone.analysis.settings.answering import answer
from deadzone.analysis.trial_columns import FEWEST_OF_EACH, MOST_TRIALS, thinned

MOST_MEDIANS = 50
"""What more rows cost, in medians of the levels by pandas of the same table; it is 2 to 4."""


def trials(rows, noise=0.05):
    random = np.random.default_rng(1)
    threads = random.choice([1, 2, 4, 8, 16, 32], rows)
    wall_s = 8 / np.minimum(threads, 8) * np.exp(random.normal(0, noise, rows))
    return pd.DataFrame({"threads": threads, "wall_s": wall_s})


@pytest.mark.night
def test_a_million_trials_are_fitted_and_it_is_said_how_many():
    frame = trials(1_000_000)
    model = fit_phases(frame, "threads", "wall_s")
    assert model.phases["label"].tolist() == ["linear", "plateau"]
    assert model.phases["stop"].tolist() == [8, 32]
    assert 0.99 * MOST_TRIALS <= model.n_trials <= MOST_TRIALS
    said = f"The fit takes {model.n_trials:,} of 1,000,000 trials"
    assert any(str(words).startswith(said) for words in model.warnings)
    outliers = model.trials[model.trials["outlier"]]
    rows = outliers["trial"].to_numpy(int) - 1
    assert outliers["response"].tolist() == frame["wall_s"].to_numpy()[rows].tolist()


@pytest.mark.night
def test_what_more_rows_cost_is_some_medians_of_the_levels():
    def cpu_s(work, frame):
        start = time.process_time()
        work(frame)
        return time.process_time() - start

    few, many = trials(MOST_TRIALS), trials(5 * MOST_TRIALS)
    fit = lambda frame: answer(frame, "threads", "wall_s")  # noqa: E731
    fit(few)
    of_few = cpu_s(fit, few)
    more = min(cpu_s(fit, many) for _ in range(2)) - of_few
    medians = max(cpu_s(lambda frame: frame.groupby("threads")["wall_s"].median(), many), 0.01)
    assert more < MOST_MEDIANS * medians


def test_each_setting_keeps_its_share_from_the_whole_table():
    frame = trials(5 * MOST_TRIALS)
    frame["host"] = np.arange(len(frame)) % 3  # what returns in step is not met in step
    kept = thinned(frame, ["threads"])
    assert set(kept["threads"].value_counts()) == {MOST_TRIALS // 6}
    assert kept["host"].value_counts(normalize=True).between(0.32, 0.35).all()
    assert kept.index.to_series().diff().max() < 300  # rows; the mean is 5
    assert kept.equals(thinned(frame, ["threads"]))


def test_a_setting_of_few_trials_keeps_all():
    rare = trials(FEWEST_OF_EACH - 1).assign(threads=64)
    frame = pd.concat([trials(2 * MOST_TRIALS), rare], ignore_index=True)
    assert (thinned(frame, ["threads"])["threads"] == 64).sum() == len(rare)


@pytest.mark.parametrize("rows", [10, MOST_TRIALS])
def test_a_table_that_a_fit_takes_is_left_as_it_is(rows):
    frame = trials(rows)
    assert thinned(frame, ["threads"]) is frame
