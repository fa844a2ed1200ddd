"""Trials that were stopped by the time-out: how long they would have taken is not known, only that
it is longer.

Such a bound is no missing value: without it the fast trials alone would speak for their level
(Tobin 1958, Econometrica 26, 24-36). It is completed as Schmee and Hahn do (1979, Technometrics 21,
417-432): by what the level's own trials let expect of one that lies beyond the bound, found by
iteration. Of a level of which no trial ended only the bound is known: the fit leaves it out.
"""

import numpy as np
import pandas as pd

from deadzone.study.response_cells import level_names
from deadzone.study.scales import FEWEST_LEVELS

RESPONSE = "wall_s"
"""The response that a time-out bounds; what a program would have printed is not known of one that
was stopped."""

ITERATIONS = 100
LEAST_SCATTER = 0.02
"""Where too few trials ended to tell how they scatter, or they agree by luck [standard deviation of
ln(response)]."""


def is_bound(trials: pd.DataFrame, response: str) -> pd.Series:
    """Which rows of a table of trials hold a bound of the response in its place."""
    if response != RESPONSE or "status" not in trials:
        return pd.Series(False, index=trials.index)
    values = pd.to_numeric(trials[response], errors="coerce")
    return trials["status"].eq("timeout").fillna(False).astype(bool) & values.gt(0)


def without_end(trials: pd.DataFrame, factors: list[str], response: str) -> pd.Series:
    """Which rows are of a level at which every trial was stopped, where other levels of its curve
    are enough to fit. factors: the knob last."""
    bound = is_bound(trials, response)
    if not bound.any():
        return bound
    at = [level_names(trials[factor]) for factor in factors]
    alone = bound.groupby(at).transform("all")
    others = at[-1].where(~alone)
    ended = others.groupby(at[:-1]).transform("nunique") if at[:-1] else others.nunique()
    return alone & (ended >= FEWEST_LEVELS)


def completed(trials: pd.DataFrame, factors: list[str], response: str) -> pd.DataFrame:
    """The trials, each bound with the response that it lets expect in its place, as one that ended.

    The completed responses of a level spread as those beyond a bound would, over the quantiles of
    the normal distribution of ln(response) cut off there; its scatter is that of all trials that
    ended, within levels. A level of which no trial ended keeps one row, its largest bound: more
    would look as if replicates agreed; see `without_end`.
    """
    from scipy.special import log_ndtr, ndtri_exp

    bound = is_bound(trials, response).to_numpy()
    if not bound.any() or (trials[response] <= 0).any():
        return trials
    log = np.log(trials[response].to_numpy(float))
    cell = trials.groupby(factors, sort=False, dropna=False).ngroup().to_numpy()
    ended = pd.Series(log[~bound]).groupby(cell[~bound])
    freedom = max(int((~bound).sum()) - ended.ngroups, 1)
    squares = float(((log[~bound] - ended.transform("mean")) ** 2).sum())
    scatter = max(np.sqrt(squares / freedom), LEAST_SCATTER)
    keep = np.ones(len(trials), dtype=bool)
    for level in np.unique(cell[bound]):
        here = np.flatnonzero((cell == level) & bound)
        own = np.flatnonzero((cell == level) & ~bound)
        here = here[np.argsort(log[here], kind="stable")]
        if not len(own):
            keep[here[:-1]] = False
            continue
        least, share = log[here], (np.arange(len(here))[::-1] + 0.5) / len(here)
        for _ in range(ITERATIONS):
            mean = float(np.mean([*log[own], *log[here]]))
            beyond = log_ndtr((mean - least) / scatter)
            log[here] = np.maximum(mean - scatter * ndtri_exp(np.log(share) + beyond), least)
    status = trials["status"].mask(bound, "ok")
    return trials.assign(**{response: np.exp(log)}, status=status)[keep]
