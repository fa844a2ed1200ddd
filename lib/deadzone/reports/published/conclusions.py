"""The conclusions of a published document, as its `claims.yaml` says, judged by the document's own tables.

An entry has a `name`, what the author `says` (in both languages), the `found` sentence, its `figures` (formulas over the
tables, see `formulas`), the `verdict` and the `evidence`. A verdict, or a sentence, that depends on the figures is told case
by case; the first case whose formula holds counts. `of` names a part of the facts whose names the entry uses directly.
"""

from collections.abc import Mapping
from typing import Any

import yaml

from deadzone.errors import TableError
from deadzone.explaining.claims.judging import Judged
from deadzone.language.catalogue import written
from deadzone.reports.published.formulas import Formulas
from deadzone.reports.published.reference import reference_folder

CLAIMS_FILE = "claims.yaml"
"""Beside the tables of a study: what its author concludes."""


def judge_conclusions(study: str, facts: Mapping[str, Any]) -> tuple[Judged, ...]:
    """Every conclusion of a study's document, in its order. facts: what its report worked out, by name.

    Raises TableError if the file is missing or wrong.
    """
    path = reference_folder() / study / CLAIMS_FILE
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))["claims"]
        return tuple(_judged(study, entry, facts) for entry in entries)
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise TableError(f"{path} cannot be used: {error!r}. Restore it from the repository.") from error


def _judged(study: str, entry: Mapping[str, Any], facts: Mapping[str, Any]) -> Judged:
    names = {**facts, **facts.get(entry.get("of", ""), {})}
    figures = {name: Formulas(study, names).evaluate(text) for name, text in entry.get("figures", {}).items()}
    formulas = Formulas(study, {**names, **figures})
    verdict, found = entry["verdict"], entry["found"]
    if isinstance(verdict, Mapping):
        verdict = next(name for name, when in verdict.items() if formulas.evaluate(when))
    if isinstance(found, list):
        found = next(case for case in found if formulas.evaluate(case.get("when", 1)))
    claim, shown = (written(text, {**names, **figures}) for text in (entry["says"], found))
    return Judged(entry["name"], claim, shown, verdict, tuple(entry.get("evidence", ())))
