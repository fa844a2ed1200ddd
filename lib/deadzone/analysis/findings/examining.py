"""From an experiment to its findings: every check is made, and all of them together are allowed few
false alarms.

The catalogue has each key with its severity and the check that looks for it, causes before
consequences.

A finding is explained on a page made from the catalogue: what it means, what to change, how it is
tested.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from deadzone.analysis.finding import (
    BARRING,
    EACH_LEVEL,
    SEVERITIES,
    SEVERITY_NAMES,
    Finding,
    Severity,
    Suspicion,
)
from deadzone.analysis.findings import (
    columns,
    counts,
    errors,
    extent,
    failures,
    order,
    output,
    plausibility,
    process,
    work,
    work_size,
)
from deadzone.analysis.findings.experiment import Experiment
from deadzone.analysis.findings.meanings import MEANING
from deadzone.analysis.findings.remedies import MEND, REMEDIES
from deadzone.analysis.findings.seen import SEEN
from deadzone.analysis.hypothesis_tests.holm import holm
from deadzone.errors import StudyError, check_known
from deadzone.language.messages import _, say

Check = Callable[[Experiment], Iterator[Suspicion]]

CATALOGUE: dict[str, tuple[Severity, Check]] = {
    "unit_changes": ("stops", output.unit_changes),
    "error_printed": ("stops", output.error_printed),
    "left_running": ("stops", output.left_running),
    "timeouts_by_level": ("doubts", failures.timeouts_by_level),
    "failures_by_level": ("doubts", failures.failures_by_level),
    "errors_by_level": ("doubts", errors.errors_by_level),
    "impossible_numbers": ("doubts", plausibility.impossible_numbers),
    "contradicting_numbers": ("doubts", plausibility.contradicting_numbers),
    "fixed_duration": ("doubts", counts.fixed_duration),
    "less_work": ("stops", counts.less_work),
    "work_differs": ("stops", work.work_differs),
    "selected_by_trust": ("stops", failures.selected_by_trust),
    "carry_over": ("stops", order.carry_over),
    "levels_confounded": ("doubts", order.levels_confounded),
    "other_factor": ("doubts", columns.other_factor),
    "not_the_program": ("doubts", process.not_the_program),
    "knob_not_used": ("doubts", output.knob_not_used),
    "limit_not_felt": ("doubts", process.limit_not_felt),
    "client_full": ("doubts", process.client_full),
    "few_periods": ("doubts", process.few_periods),
    "neighbours_follow": ("doubts", process.neighbours_follow),
    "too_short": ("doubts", process.too_short),
    "few_values": ("doubts", process.few_values),
    "noise_too_large": ("doubts", failures.noise_too_large),
    "work_size": ("notes", work_size.work_size),
    "state_builds_up": ("notes", order.state_builds_up),
    "one_level_off": ("notes", extent.one_level_off),
    "edge_of_range": ("notes", extent.edge_of_range),
    "range_too_coarse": ("notes", extent.range_too_coarse),
}
"""A severity is the gravest a finding of that key usually has; a check may say another for what it
saw. Of findings of one severity the first here is named first: what explains others comes before
them."""


FALSE_ALARMS = 0.02
"""Of sound runs, at most this share gives any finding at all by chance: the level of Holm's
correction over all tests of a run. What is counted, such as processes left running, has p = 0 and
takes none of it; nor do failures, which have a test of their own: a run without them has nothing to
be found."""


COUNTED = (0.0, 1.0)
"""What was counted and leaves nothing to chance, and what could not be tested, are no tests to
correct for."""

APART = (*BARRING, *EACH_LEVEL)

FURTHER: tuple[Check, ...] = (
    columns.goes_with_the_knob,
    columns.other_work,
    output.same_process,
)
"""Checks that find what another one of the catalogue finds elsewhere."""

BESIDE = ("edge_of_range", "range_too_coarse")
"""Findings that advise levels beside the one they name, which is in vain where that one is
barred."""

EVERY = (*(check for _, check in CATALOGUE.values()), *FURTHER)


def examine(
    seen: Experiment, accept: Mapping[str, str] | None = None, checks: Sequence[Check] = EVERY
) -> tuple[Finding, ...]:
    """What is wrong with an experiment, the gravest first, one finding a key, and a level where
    each has its own.

    accept: reasons that the study gives for findings that are meant, by key; these become notes.
    """
    made = [suspicion for check in checks for suspicion in check(seen)]
    chance = np.array([suspicion.p for suspicion in made])
    tested = np.where(
        [suspicion.key in APART or suspicion.p in COUNTED for suspicion in made], np.nan, chance
    )
    adjusted = np.where(np.isnan(tested), chance, holm(tested))
    findings: dict[tuple[Any, ...], Finding] = {}
    # of two that are as sure, the graver one
    for p, suspicion in sorted(
        zip(adjusted, made, strict=True), key=lambda two: (two[0], _gravity(two[1]))
    ):
        about = (suspicion.key, *(suspicion.levels if suspicion.key in EACH_LEVEL else ()))
        if suspicion.weight and p <= FALSE_ALARMS and about not in findings:
            findings[about] = _finding(suspicion, float(p), (accept or {}).get(suspicion.key, ""))
    barred = {level for finding in findings.values() if finding.bars for level in finding.levels}
    kept = [
        finding
        for finding in findings.values()
        if finding.key not in BESIDE or not barred.intersection(finding.levels)
    ]
    order = list(CATALOGUE)
    return tuple(
        sorted(
            kept, key=lambda finding: (SEVERITIES.index(finding.severity), order.index(finding.key))
        )
    )


def _gravity(suspicion: Suspicion) -> int:
    """Its place among the severities."""
    return SEVERITIES.index(suspicion.severity or CATALOGUE[suspicion.key][0])


def _finding(suspicion: Suspicion, p: float, accepted: str) -> Finding:
    severity = SEVERITIES[_gravity(suspicion)]
    seen = say(SEEN[suspicion.key, suspicion.values.get("how", "")], **suspicion.values)
    other = suspicion.values.get("mend")
    mend = say(REMEDIES[suspicion.key, other] if other else MEND[suspicion.key], **suspicion.values)
    trials = tuple(int(number) for number in dict.fromkeys(suspicion.trials))
    return Finding(
        suspicion.key,
        "notes" if accepted else severity,
        suspicion.levels,
        trials,
        1 - p,
        seen,
        mend,
        accepted,
    )


def barred_levels(seen: Experiment) -> tuple[Any, ...]:
    """Levels that fail or time out more often than allowed, as `examine` finds them."""
    made = [suspicion for key in BARRING for suspicion in CATALOGUE[key][1](seen)]
    sure = [suspicion for suspicion in made if suspicion.weight and suspicion.p <= FALSE_ALARMS]
    return tuple(
        level for level in seen.levels if any(level in suspicion.levels for suspicion in sure)
    )


def page(key: str) -> str:
    """The page of a finding as Markdown, in the language spoken.

    Raises StudyError for a key that is none.
    """
    check_known(StudyError, f"There is no finding {key!r}", key, CATALOGUE, "Findings are")
    severity, check = CATALOGUE[key]
    accept = _(
        "If it is meant so, accept the finding in the study file with the reason. The report "
        "shows it."
    )
    accepted = f"```yaml\naccept:\n  {key}: why it is meant\n```"
    parts = (
        f"# {key}",
        f"{say(SEVERITY_NAMES[severity])}. {say(MEANING[key])}",
        f"## {_('What to change')}\n\n{say(MEND[key], add='...', column='COLUMN')}",
        f"## {_('If it is meant')}\n\n{accept}\n\n{accepted}",
        f"## {_('How it is tested')}\n\n{tested(check)}",
    )
    return "\n\n".join(parts) + "\n"


def tested(check: Callable[..., object]) -> str:
    """How a check is made: its docstring and those of what it is made of are kept where the
    statistic is computed."""
    return inspect.cleandoc(check.__doc__ or "")


def index() -> str:
    """The list of all findings as Markdown."""
    rows = [
        f"| [`{key}`]({key}.md) | {say(SEVERITY_NAMES[severity])} | {say(MEANING[key])} |"
        for key, (severity, _check) in CATALOGUE.items()
    ]
    sentence = _("A finding is about the experiment, a verdict about the setting.")
    head = (
        f"# {_('Findings about the experiment')}\n\n{sentence}\n",
        _("| finding | severity | what it means |"),
    )
    return "\n".join([*head, "| --- | --- | --- |", *rows]) + "\n"
