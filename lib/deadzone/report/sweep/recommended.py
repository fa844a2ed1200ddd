"""The setting that a run recommends: every factor's level, and the CPU that its trials used."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone.analysis.records import plain
from deadzone.errors import TableError
from deadzone.report.sweep.analysis import Analysis
from deadzone.store.run import RunFolder
from deadzone.store.table import rows_at
from deadzone.study.levels import Level

REQUEST_PERCENTILES = (50, 90)
"""A request at the median is exceeded half of the time, and one at the 90th percentile seldom: the
range to choose from."""

TRIAL = ["trial", "attempt"]
"""Columns that tell whose a reading is."""

STILL_USED_CORES = 1e-9
"""Guards against a division of a reading by no time at all."""


@dataclass(frozen=True)
class Usage:
    """CPU that the container used while it worked, as quantiles over time.

    cores: by percentile. n_trials: how many trials they rest on.
    sampled: True from readings during the trials, False from each trial's mean, which hides its
    peaks.
    """

    cores: dict[int, float]
    n_trials: int
    sampled: bool


def recommended_levels(analysis: Analysis) -> dict[str, Level]:
    """Every factor's level in the recommended treatment: the knob's, and what the trials at that
    setting ran with.

    Raises TableError if nothing is recommended, or the setting leaves another factor open.
    """
    source, advice = analysis.source, analysis.advice
    if advice is None or advice.setting is None or source.study is None:
        raise TableError(
            f"{source.name}: this run recommends no setting, so there is nothing to apply."
        )
    chosen = (
        advice.setting if isinstance(advice.setting, Mapping) else {source.knob: advice.setting}
    )
    trials = rows_at(source.analysed, chosen)
    return {
        name: chosen[name] if name in chosen else _only(source.name, name, trials)
        for name in source.study.factor_names()
    }


def usage(run: RunFolder, levels: Mapping[str, Level], trials: pd.DataFrame) -> Usage:
    """CPU used by the trials of a treatment.

    trials: the analysed rows of the run, with one column a factor.

    Raises TableError if the run holds no trial of the treatment.
    """
    trials = rows_at(trials, levels)
    if trials.empty:
        raise TableError(f"Run {run.run_id} holds no trusted trial of the recommended setting.")
    series = run.telemetry().set_index(TRIAL)
    wanted = series.index.isin(pd.MultiIndex.from_frame(trials[TRIAL])) & (
        series["metric"] == "cpu_usage_s"
    )
    cores, seconds = _rates(series[wanted])
    is_sampled = len(cores) > 0
    shares = [percentile / 100 for percentile in REQUEST_PERCENTILES]
    if is_sampled:
        quantiles = np.quantile(cores, shares, weights=seconds, method="inverted_cdf")
    else:
        quantiles = np.quantile(trials["cpu_efficiency"].to_numpy(float), shares)
    at = dict(zip(REQUEST_PERCENTILES, map(float, quantiles), strict=True))
    return Usage(at, len(trials), is_sampled)


def _only(study: str, factor: str, trials: pd.DataFrame) -> Level:
    values = list(dict.fromkeys(trials[factor]))
    if len(values) != 1:
        raise TableError(
            f"{study}: trials at the recommended setting ran with {len(values)} levels of "
            f"{factor}; analyse the run by that factor first: --by {factor}."
        )
    level: Level = plain(values[0], whole=True)
    return level


def _rates(readings: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Cores used between two readings of a trial, and the seconds between them; shape (readings,)
    each."""
    columns = ["t_s", "value"]
    before = readings.groupby(TRIAL)[columns].shift(fill_value=0.0)
    took, used = (readings[columns] - before).to_numpy(float).T
    kept = took > STILL_USED_CORES
    return used[kept] / took[kept], took[kept]
