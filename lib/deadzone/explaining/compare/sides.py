"""A and B as a person names them: a run of the store, or a table on disk."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from deadzone.errors import CompareError
from deadzone.language.catalogue import say
from deadzone.store.run import Run
from deadzone.store.tables import READABLE, read_table

CIRCUMSTANCES = (
    "host", "cpu_model", "cores_usable", "memory_bytes", "kernel", "frequency_governor", "limits_mechanism",
)  # fmt: skip
"""Entries of a run's provenance that move its numbers without being what was changed on purpose."""


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two tables, with what its study says of it.

    factors, response, goal: of a run's study; empty for a plain table. circumstances: of a run's provenance.
    """

    name: str
    trials: pd.DataFrame
    factors: tuple[str, ...] = ()
    response: str = ""
    goal: str = ""
    circumstances: Mapping[str, Any] = field(default_factory=dict)


def load_side(name: str, runs: Path) -> Side:
    """A run (its id, folder, or STUDY/latest) or a table (a path ending in .csv or .parquet).

    Raises StoreError or TableError if it cannot be read, CompareError if a run has no trials yet.
    """
    path = Path(name)
    if path.suffix in READABLE:
        return Side(path.name, read_table(path))
    run = Run.find(runs, name)
    study, trials = run.study(), run.trials()
    if trials.empty:
        raise CompareError(f"Run {run.run_id} has no trials yet; measure some with --resume {run.run_id}.")
    return Side(
        name=f"{study.study}/{run.run_id}",
        trials=trials,
        factors=tuple(study.factor_names()),
        response=study.response.name,
        goal=study.response.goal,
        circumstances=run.provenance(),
    )


def differing_circumstances(a: Side, b: Side) -> list[str]:
    """A sentence for each circumstance that both runs recorded and that differs."""
    both = {key: (a.circumstances.get(key), b.circumstances.get(key)) for key in CIRCUMSTANCES}
    return [
        say("compare.circumstance", what=key.replace("_", " "), a=str(one), b=str(other))
        for key, (one, other) in both.items()
        if one is not None and other is not None and one != other
    ]
