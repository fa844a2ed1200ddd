"""From an experiment to its findings: every check is made, and all of them together are allowed few
false alarms.

The catalogue has each key with its severity and the check that looks for it, causes before
consequences.

A finding is explained on a page made from the catalogue: what to change, and how it is tested.
"""

import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deadzone.analysis.finding import (
    BARRING,
    EACH_LEVEL,
    KINDS,
    SEVERITIES,
    SEVERITY_NAMES,
    Check,
    Finding,
)
from deadzone.analysis.findings import (  # noqa: F401  (each adds its checks to the catalogue)
    columns,
    counts,
    extent,
    failures,
    order,
    output,
    process,
    work,
    work_size,
)
from deadzone.analysis.findings.experiment import Experiment
from deadzone.analysis.hypothesis_tests.holm import holm
from deadzone.errors import StudyError, check_known
from deadzone.language.messages import _, say
from deadzone.study.finding_keys import FINDINGS

CHECKS = tuple(about.check for about in KINDS.values())
CATALOGUE = {key: KINDS[key] for key in FINDINGS}
"""Every finding, causes before consequences. Of findings of one severity the first here is named
first."""

FALSE_ALARMS = 0.02
"""Of sound runs, at most this share gives any finding at all by chance: the level of Holm's
correction over all tests of a run. What is counted, such as processes left running, has p = 0 and
takes none of it; nor do failures, which have a test of their own: a run without them has nothing to
be found."""


COUNTED = (0.0, 1.0)
"""What was counted and leaves nothing to chance, and what could not be tested, are no tests to
correct for."""

BESIDE = ("edge_of_range", "range_too_coarse")
"""Findings that advise levels beside the one they name, which is in vain where that one is
barred."""


def examine(
    seen: Experiment, accept: Mapping[str, str] | None = None, checks: Sequence[Check] = CHECKS
) -> tuple[Finding, ...]:
    """What is wrong with an experiment, the gravest first, one finding a key, and a level where
    each has its own.

    accept: reasons that the study gives for findings that are meant, by key; these become notes.
    """
    made = [one for check in checks for one in check(seen)]
    is_test = [one.key not in (*BARRING, *EACH_LEVEL) and one.p not in COUNTED for one in made]
    chance = np.array([one.p for one in made])
    adjusted = np.where(is_test, holm(np.where(is_test, chance, np.nan)), chance)
    findings: dict[tuple[Any, ...], Finding] = {}
    # of two that are as sure, the graver one
    sure = [replace(one, p=p) for one, p in zip(made, adjusted.tolist(), strict=True)]
    for one in sorted(sure, key=lambda one: (one.p, SEVERITIES.index(one.severity))):
        about = (one.key, *(one.levels if one.key in EACH_LEVEL else ()))
        if one.weight and one.p <= FALSE_ALARMS and about not in findings:
            why = (accept or {}).get(one.key, "")
            findings[about] = replace(one, severity="notes", accepted=why) if why else one
    barred = {level for finding in findings.values() if finding.bars for level in finding.levels}
    kept = [
        finding
        for finding in findings.values()
        if finding.key not in BESIDE or not barred.intersection(finding.levels)
    ]
    return tuple(
        sorted(kept, key=lambda one: (SEVERITIES.index(one.severity), FINDINGS.index(one.key)))
    )


def barred_levels(seen: Experiment) -> tuple[Any, ...]:
    """Levels that fail or time out more often than allowed, as `examine` finds them."""
    made = [one for key in BARRING for one in CATALOGUE[key].check(seen)]
    sure = [one for one in made if one.weight and one.p <= FALSE_ALARMS]
    return tuple(level for level in seen.levels if any(level in one.levels for one in sure))


def page(key: str) -> str:
    """The page of a finding as Markdown, in the language spoken.

    Raises StudyError for a key that is none.
    """
    check_known(StudyError, f"There is no finding {key!r}", key, CATALOGUE, "Findings are")
    about = CATALOGUE[key]
    accept = _("If it is meant so, accept the finding in the study file, with the reason.")
    named = {"add": "A, B", "column": "COLUMN", "typed_column": "COLUMN"}
    parts = (
        f"# {key}",
        _("Usual severity: {severity}.", severity=say(SEVERITY_NAMES[about.severity])),
        f"## {_('What to change')}\n\n{say(about.mend[''], **named)}",
        f"## {_('If it is meant')}\n\n{accept}\n\n```yaml\naccept:\n  {key}: why it is meant\n```",
        f"## {_('How it is tested')}\n\n{_tested(about.check)}",
    )
    return "\n\n".join(parts) + "\n"


def _tested(check: Check) -> str:
    """What a check says of its test, with the numbers of its thresholds in place of their names."""
    known, text = vars(sys.modules[check.__module__]), inspect.cleandoc(check.__doc__ or "")
    numbers = {name: f"{one:.3g}" for name, one in known.items() if isinstance(one, int | float)}
    return re.sub(r"\b[A-Z][A-Z_]+\b", lambda name: numbers.get(name[0], name[0]), text)


def index() -> str:
    """The list of all findings as Markdown, with the first sentence on the test of each."""
    about = _("A finding is about the experiment, a verdict about the setting.")
    lines = [f"# {_('Findings about the experiment')}\n\n{about}\n"]
    lines += [_("| finding | usual severity | what it means |"), "| --- | --- | --- |"]
    for key, kind in CATALOGUE.items():
        first = " ".join((kind.check.__doc__ or "").split()).partition(". ")[0].rstrip(".")
        lines.append(f"| [`{key}`]({key}.md) | {say(SEVERITY_NAMES[kind.severity])} | {first} |")
    return "\n".join(lines) + "\n"
