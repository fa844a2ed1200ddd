"""Attribute a slowdown: the recipe from trials, as a person names them, to the verdict on every
hypothesis.

What is attributed is a run, a table on disk, or a table at hand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from deadzone import places
from deadzone.analysis.compare.ratio import interval
from deadzone.analysis.compare.samples import analysed, values_of
from deadzone.analysis.compare.verdicts import check_confidence
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.analysis.page import Page, Paged
from deadzone.plugins import CompareError, Message, RunFolder, Study, _, check_known, is_number
from deadzone.store.tables import is_table, read_table
from deadzone_services.attribution import parts, wording
from deadzone_services.attribution.environments import limits_of, roles_of
from deadzone_services.attribution.equivalence import MARGIN, Margin, examine, floor_of
from deadzone_services.attribution.hypotheses import ABOUT, Known, cases_of, judge
from deadzone_services.attribution.measures import (
    EnvironmentSample,
    Measure,
    drawn,
    measure,
    midmean,
)
from deadzone_services.attribution.page import attribution_page, waterfall
from deadzone_services.attribution.result import AttributionResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SECONDS = ("fast_s", "slow_s", "difference_s", "low_s", "high_s")
SHARES = ("share", "share_low", "share_high")

ENVIRONMENT = "environment"
RESPONSES = ("total_s", "wall_s")
"""Columns of the elapsed time, the first found is taken: the client's own clock, else the
trial's."""


class Attribution(Paged, AttributionResult):
    """Why the slow environment is slow, hypothesis by hypothesis; its fields are those of
    `AttributionResult`."""

    def verdict(self) -> Message:
        """The whole verdict in a sentence or two."""
        return wording.verdict(self)

    def summary(self) -> str:
        """Everything as a page of text."""
        return str(self)

    def plot(self) -> Figure:
        """Waterfall from the fast response, part by part, to the slow one; a matplotlib figure."""
        return waterfall(self)

    def page(self) -> Page:
        """Everything as a page."""
        return attribution_page(self)


def attribute_table(
    trials: pd.DataFrame,
    *,
    by: str = ENVIRONMENT,
    response: str | None = None,
    slow: str | None = None,
    fast: str | None = None,
    restored: str | None = None,
    margin: float = MARGIN,
    confidence: float = CONFIDENCE,
    limits: Mapping[str, float] | None = None,
    name: str = "",
    notes: Sequence[str] = (),
) -> Attribution:
    """Attribute the slowdown of the slow environment against the fast one.

    trials: a tidy table, one row a trial. by: column of the environments. response: column of the
    elapsed time [s], by default total_s or wall_s. slow, fast, restored: environments by name; by
    default the slowest, the fastest, and another one without a CPU limit. margin: share of the
    slowdown below which a part explains next to nothing. confidence: of intervals and, over all
    tests together, of verdicts. limits: CPU limit of each environment [cores], inf for none; by
    default as the column cpu_limit says. name: of the table, for sentences. notes: further warnings
    to carry.

    Raises CompareError if a column or environment is missing, or a number is out of range.
    """
    if not 0 < margin < 1:
        raise CompareError(
            f"The margin is {margin!r}; give a fraction between 0 and 1, for example 0.1 for 10 %."
        )
    check_confidence(confidence)
    name = name or _("the table")
    response = response or next((column for column in RESPONSES if column in trials), RESPONSES[0])
    sentence = f"{name} has no column {by!r} that names the environments"
    check_known(CompareError, sentence, by, [*map(str, trials.columns)], "Its columns are")
    kept, doubts = analysed(trials, [by], name)
    if {"trial", "attempt"} <= set(
        kept
    ):  # attempts at one trial share its circumstances: the last one counts
        kept = kept.sort_values("attempt", kind="stable").drop_duplicates("trial", keep="last")
    kept = kept.loc[values_of(kept, response, name).index].reset_index(drop=True)
    kept = kept.assign(**{by: kept[by].astype(str)})
    limits = limits_of(kept, by) if limits is None else limits
    each = {str(n): rows for n, rows in kept.groupby(by, sort=False)}
    roles = roles_of(
        {n: rows[response].astype(float) for n, rows in each.items()}, limits, slow, fast, restored
    )
    cut = parts.parts_of(kept, response, kept[by], kept[by].map(roles.is_unlimited).astype(bool))
    names = tuple(map(str, cut.seconds))
    sides = {
        n: EnvironmentSample(cut.seconds.loc[kept[by] == n].to_numpy(float), names) for n in each
    }
    responses = {n: sample.response for n, sample in sides.items()}
    one, other = sides[roles.slow], sides[roles.fast]
    floor_s = floor_of(other.response)
    slow_s, fast_s = one.response, other.response
    whole = examine(slow_s, slow_s, fast_s, fast_s, Margin(0.0, floor_s))
    is_slower, is_same = (p <= 1 - confidence for p in (whole.more, whole.same))
    asked = Margin(margin if is_slower else 0.0, floor_s)
    measures = {
        part: measure(part, one, other, asked, confidence)
        for part in one.names
        if part != parts.REST
    }
    slowdown = measures[parts.TOTAL]
    certain = slowdown.low if math.isfinite(slowdown.low) else slowdown.difference
    cases = cases_of(Known(roles, measures, each, responses, asked.seconds(certain)))
    judged = judge(cases, (len(one), len(other)), confidence, is_slower)
    table = _adding_up(one, other, confidence)
    return Attribution(
        roles=roles,
        response=response,
        margin=asked,
        confidence=confidence,
        slowdown=slowdown,
        is_slower=is_slower,
        is_same=is_same,
        sizes={n: len(sample) for n, sample in sides.items()},
        medians={n: float(np.median(values)) for n, values in responses.items()},
        parallel=cut.parallel,
        measures=measures,
        cases=cases,
        hypotheses=_table(measures, judged, table),
        waterfall=table,
        warnings=(*notes, *doubts),
    )


def _adding_up(slow: EnvironmentSample, fast: EnvironmentSample, confidence: float) -> pd.DataFrame:
    """The parts that add up to the slowdown, each with its share; see Attribution.waterfall."""
    names = [*parts.ADDING_UP, parts.TOTAL]
    columns = [slow.names.index(name) for name in names]
    values = [np.nan_to_num(s.seconds[:, columns]) for s in (slow, fast)]
    means = [midmean(v, s.response) for v, s in zip(values, (slow, fast), strict=True)]
    draws = [
        drawn(v, s.response, i) if np.isnan(s.seconds).any() else s.draws(i)[:, columns]
        for i, (v, s) in enumerate(zip(values, (slow, fast), strict=True))
    ]
    difference, spread = means[0] - means[1], draws[0] - draws[1]
    total, totals = difference[-1], spread[:, -1]
    is_sure = not np.isnan(totals).any() and interval(totals, confidence)[0] > 0
    shares = difference / total if total > 0 else np.full(len(names), math.nan)
    rows = []
    for i, name in enumerate(names[:-1]):
        if np.isnan(slow.part(name)).all() and np.isnan(fast.part(name)).all():
            continue
        ends = interval(spread[:, i] / totals, confidence) if is_sure else (math.nan, math.nan)
        low, high = interval(spread[:, i], confidence)
        rows.append((name, means[1][i], means[0][i], difference[i], low, high, shares[i], *ends))
    return pd.DataFrame(rows, columns=["part", *SECONDS, *SHARES])


def _table(
    measures: Mapping[str, Measure],
    judged: Mapping[str, Mapping[str, Any]],
    waterfall: pd.DataFrame,
) -> pd.DataFrame:
    """One row a hypothesis; see Attribution.hypotheses."""
    shares = waterfall.set_index("part")[[*SHARES]]
    rows = []
    for name, verdict in judged.items():
        part = ABOUT[name].part
        measure = measures[part]
        known = part in shares.index and measure.is_known
        rows.append(
            {
                "hypothesis": name,
                **{
                    f"{n}_s": getattr(measure, n)
                    for n in ("slow", "fast", "difference", "low", "high")
                },
                **{n: float(shares[n][part]) if known else math.nan for n in SHARES},
                **verdict,
            }
        )
    return pd.DataFrame(rows)


def attribute(run: pd.DataFrame | RunFolder | str | Path, **settings: Any) -> Attribution:
    """Say which difference makes the slow environment slow: every hypothesis confirmed, excluded or
    undecided.

    run: a run (its id, folder, or STUDY/latest), a table on disk (CSV or Parquet), or a table of
    trials. settings: as for `deadzone_services.attribution.attributing.attribute_table`: by,
    response, slow, fast, restored, margin, confidence.

    Raises StoreError or TableError if it cannot be read, CompareError if it has no environments to
    compare.
    """
    if isinstance(run, pd.DataFrame):
        return attribute_table(run, **settings)
    if isinstance(run, str | Path) and is_table(run):
        return attribute_table(read_table(Path(run)), **{"name": Path(run).name, **settings})
    if not isinstance(run, RunFolder):
        run = RunFolder.find(places.runs_folder(), str(run))
    study, trials = run.study(), run.trials()
    if trials.empty:
        raise CompareError(
            f"Run {run.run_id} has no trials yet; measure some with --resume {run.run_id}."
        )
    by = settings.get("by") or environment_factor(study, trials)
    _check_one_level(study, trials, by)
    limits, notes = _limits(study, trials, by), _together(study, trials, by)
    known: dict[str, Any] = {"by": by, "limits": limits, "notes": notes}
    return attribute_table(trials, **{"name": f"{study.study}/{run.run_id}", **known, **settings})


def environment_factor(study: Study, trials: pd.DataFrame) -> str:
    """The factor of environments; where there is none, the one factor that the study varies."""
    varied = _varied(study, trials)
    return ENVIRONMENT if ENVIRONMENT in varied or len(varied) != 1 else varied[0]


def _varied(study: Study, trials: pd.DataFrame) -> list[str]:
    return [n for n in study.factor_names() if n in trials and trials[n].astype(str).nunique() > 1]


def _check_one_level(study: Study, trials: pd.DataFrame, by: str) -> None:
    """Unlike treatments are not thrown together."""
    for name in _varied(study, trials):
        if name not in (by, "cpu_limit"):
            raise CompareError(
                f"The run varies {name!r} beside {by!r}; keep the trials of one of its levels: "
                f"deadzone.attribute(trials[trials[{name!r}] == ...])."
            )


def _limits(study: Study, trials: pd.DataFrame, by: str) -> dict[str, float] | None:
    """CPU limit of each environment as the study set it; None where the table says it by itself."""
    if by != ENVIRONMENT or by not in trials or "cpu_limit" in study.factor_names():
        return None
    limits = {
        name: _setting(study, name, "cpu_limit") for name in dict.fromkeys(trials[by].astype(str))
    }
    return {name: limit or math.inf for name, limit in limits.items() if limit is not None}


def _setting(study: Study, name: str, limit: str) -> float | None:
    """A limit of an environment's target: a number, inf for none, None where Deadzone does not know
    it."""
    environment = study.environment_of(name)
    if environment is not None and environment.url:
        return None
    level = getattr(study.target_in(environment), limit, None)
    return None if level is None else float(level) if is_number(level) else math.inf


def _together(study: Study, trials: pd.DataFrame, by: str) -> Sequence[str]:
    """A warning where environments differ in their memory limit too, so that lifting both at once
    cannot tell them apart."""
    if by != ENVIRONMENT or by not in trials:
        return ()
    names = dict.fromkeys(trials[by].astype(str))
    memory = {_setting(study, name, "memory_limit") for name in names} - {None}
    return (
        (
            _(
                "The environments differ in their memory limit too: lifting both limits at once "
                "cannot tell the two apart."
            ),
        )
        if len(memory) > 1
        else ()
    )
