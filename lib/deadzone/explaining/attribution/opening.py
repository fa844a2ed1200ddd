"""What is attributed, as a person names it: a run, a table on disk, or a table at hand."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from deadzone import places
from deadzone.errors import CompareError
from deadzone.explaining.attribution.attributing import ENVIRONMENT, attribute_table
from deadzone.explaining.attribution.attribution import Attribution
from deadzone.language.catalogue import say
from deadzone.store.run import Run
from deadzone.store.tables import READABLE, read_table
from deadzone.study.levels import is_number
from deadzone.study.spec import Study


def attribute(run: pd.DataFrame | Run | str | Path, **settings: Any) -> Attribution:
    """Say which difference makes the slow environment slow: every hypothesis confirmed, excluded or undecided.

    run: a run (its id, folder, or STUDY/latest), a table on disk (CSV or Parquet), or a table of trials. settings: as for
    `deadzone.explaining.attribution.attributing.attribute_table`: by, response, slow, fast, restored, margin, floor, confidence.

    Raises StoreError or TableError if it cannot be read, CompareError if it has no environments to compare.
    """
    if isinstance(run, pd.DataFrame):
        return attribute_table(run, **settings)
    if isinstance(run, str | Path) and Path(run).suffix in READABLE:
        return attribute_table(read_table(Path(run)), **{"name": Path(run).name, **settings})
    if not isinstance(run, Run):
        run = Run.find(places.runs_folder(), str(run))
    study, trials = run.study(), run.trials()
    if trials.empty:
        raise CompareError(f"Run {run.run_id} has no trials yet; measure some with --resume {run.run_id}.")
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
    found = {name: _setting(study, name, "cpu_limit") for name in dict.fromkeys(trials[by].astype(str))}
    return {name: limit or math.inf for name, limit in found.items() if limit is not None}


def _setting(study: Study, name: str, limit: str) -> float | None:
    """A limit of an environment's target: a number, inf for none, None where Deadzone does not know it."""
    environment = study.environment_of(name)
    if environment is not None and environment.url:
        return None
    level = getattr(study.target_in(environment), limit, None)
    return None if level is None else float(level) if is_number(level) else math.inf


def _together(study: Study, trials: pd.DataFrame, by: str) -> Sequence[str]:
    """A warning where environments differ in their memory limit too, so that lifting both at once cannot tell them apart."""
    if by != ENVIRONMENT or by not in trials:
        return ()
    names = dict.fromkeys(trials[by].astype(str))
    memory = {_setting(study, name, "memory_limit") for name in names} - {None}
    return (say("attribution.together"),) if len(memory) > 1 else ()
