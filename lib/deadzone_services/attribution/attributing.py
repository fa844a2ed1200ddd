"""Attribute a slowdown: the recipe from trials, as a person names them, to the verdict on every
hypothesis.

What is attributed is a run, a table on disk, or a table at hand.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from deadzone import places
from deadzone.analysis.compare.ratio import check_confidence
from deadzone.analysis.compare.samples import analysed, values_of
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE
from deadzone.plugins import (
    CompareError,
    RunFolder,
    Study,
    _,
    check_known,
    is_number,
    resume_option,
)
from deadzone.signatures import with_options_of
from deadzone.store.tables import is_table, read_table
from deadzone.study.service_specs import ENVIRONMENT
from deadzone.verbs.run import Run
from deadzone_services.attribution import parts
from deadzone_services.attribution.hypotheses import (
    CLIENT,
    FLOOR,
    LEAST_S,
    MARGIN,
    Known,
    Margin,
    limits_of,
    p_values,
    roles_of,
    side_by_side,
    verdicts,
)
from deadzone_services.attribution.result import Attribution

RESPONSES = ("total_s", "wall_s")
"""Columns of the elapsed time, the first found is taken: the client's own clock, else the
trial's."""


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
    if {"trial", "attempt"} <= set(kept):
        # attempts at one trial share its circumstances: the last one counts
        kept = kept.sort_values("attempt", kind="stable").drop_duplicates("trial", keep="last")
    kept = kept.loc[values_of(kept, response, name).index].reset_index(drop=True)
    kept = kept.assign(**{by: kept[by].astype(str)})
    limits = limits_of(kept, by) if limits is None else limits
    responses = kept[response].astype(float).groupby(kept[by], sort=False)
    medians = {str(side): median for side, median in responses.median().items()}
    roles = roles_of(medians, limits, slow, fast, restored)
    seconds = parts.parts_of(
        kept, response, kept[by], kept[by].map(roles.is_unlimited).astype(bool)
    )
    sides = {str(side): rows for side, rows in seconds.groupby(kept[by], sort=False)}
    pair = sides[roles.slow], sides[roles.fast]
    floor_s = max(FLOOR * float(pair[1][parts.TOTAL].median()), LEAST_S)
    whole = p_values(*pair, parts.TOTAL, Margin(0.0, floor_s))
    is_slower, is_same = (whole[p] <= 1 - confidence for p in ("p_more", "p_same"))
    asked = Margin(margin if is_slower else 0.0, floor_s)
    measures = side_by_side(*pair, confidence).drop(parts.REST)
    tests = [p_values(*pair, part, asked) for part in measures.index]
    measures = measures.join(pd.DataFrame(tests, index=measures.index))
    low, difference = (float(measures[end][parts.TOTAL]) for end in ("low_s", "difference_s"))
    margin_s = asked.seconds(low if math.isfinite(low) else difference)
    known = Known(roles, measures, sides, kept[kept[by] == roles.slow], margin_s, is_slower)
    one, other = (side[[*parts.ADDING_UP, parts.TOTAL]].fillna(0.0) for side in pair)
    waterfall = side_by_side(one, other, confidence)
    counted = pd.concat(pair)[[*parts.ADDING_UP]].notna().any()
    return Attribution(
        roles=roles,
        response=response,
        margin=asked,
        confidence=confidence,
        is_slower=is_slower,
        is_same=is_same,
        sizes={side: len(rows) for side, rows in sides.items()},
        medians=medians,
        removal=known.removal(),
        dose=known.dose(),
        is_bounded=known.is_bounded(CLIENT),
        measures=measures,
        hypotheses=verdicts(known, confidence),
        waterfall=waterfall.loc[[*counted.index[counted]]].reset_index(),
        warnings=(*notes, *doubts),
    )


@with_options_of(attribute_table, "limits", "name", "notes")
def attribute(run: pd.DataFrame | Run | RunFolder | str | Path, **settings: Any) -> Attribution:
    """Say which difference makes the slow environment slow: every hypothesis confirmed, excluded or
    undecided.

    run: a run (or its id, folder, or STUDY/latest), a table on disk (CSV or Parquet), or a table of
    trials.

    Raises StoreError or TableError if it cannot be read, CompareError if it has no environments to
    compare.
    """
    if isinstance(run, pd.DataFrame):
        return attribute_table(run, **settings)
    if isinstance(run, str | Path) and is_table(run):
        return attribute_table(read_table(Path(run)), **{"name": Path(run).name, **settings})
    if isinstance(run, Run):
        run = run.stored
    if not isinstance(run, RunFolder):
        run = RunFolder.find(places.runs_folder(), str(run))
    study, trials = run.study(), run.trials()
    if trials.empty:
        raise CompareError(
            f"Run {run.run_id} has no trials yet; measure some with {resume_option(run.run_id)}."
        )
    factors = [name for name in study.factor_names() if name in trials]
    varied = [name for name in factors if trials[name].astype(str).nunique() > 1]
    by = settings.get("by") or (varied[0] if len(varied) == 1 else ENVIRONMENT)
    for name in varied:
        if name not in (by, "cpu_limit"):
            # unlike treatments are not thrown together
            raise CompareError(
                f"The run varies {name!r} as well as {by!r}; keep the trials of one of its levels: "
                f"deadzone.attribute(trials[trials[{name!r}] == ...])."
            )
    names = trials[by].astype(str).unique() if by == ENVIRONMENT and by in trials else ()
    asked: dict[str, Any] = {"name": f"{study.study}/{run.run_id}", "by": by}
    if len(names) and "cpu_limit" not in factors:
        limits = {name: _setting(study, name, "cpu_limit") for name in names}
        asked["limits"] = {name: limit for name, limit in limits.items() if limit is not None}
    if len({_setting(study, name, "memory_limit") for name in names} - {None}) > 1:
        warning = _(
            "The environments differ in their memory limit too: lifting both limits at once "
            "cannot tell the two apart."
        )
        asked["notes"] = (warning,)
    return attribute_table(trials, **asked | settings)


def _setting(study: Study, name: str, limit: str) -> float | None:
    """A limit of an environment's target: a number, inf for none, None where Deadzone does not know
    it."""
    environment = study.environment_of(name)
    if environment is not None and environment.url:
        return None
    level = getattr(study.target_in(environment), limit, None)
    return None if level is None else float(level) if is_number(level) else math.inf
