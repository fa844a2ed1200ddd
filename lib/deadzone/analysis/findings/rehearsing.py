"""What one trial at each end of the range shows already, before the sweep has cost anything.

No chance is involved: what is counted or read is counted or read here too, and what needs
replicates is not asked.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from deadzone.analysis.finding import Check, Finding
from deadzone.analysis.findings import counts, output, process
from deadzone.analysis.findings.examining import examine
from deadzone.analysis.findings.experiment import Experiment, cpu_s, numbers
from deadzone.study.plan import Plan

ALIKE_TIMES = 0.15
"""Times of two trials that differ by less may be those of one program that does the same
[share]."""

ALIKE_COUNTS = 0.01
FEW_MORE = 2
"""Counts scatter by a share, and by so many where they are small; one more thread shows in more."""


def failed_at_an_end(seen: Experiment) -> Iterator[Finding]:
    """A trial that did not end well."""
    for key, kinds in (
        ("failures_by_level", ("failed", "oom_killed")),
        ("timeouts_by_level", ("timeout",)),
    ):
        rows = seen.measured[seen.measured["status"].isin(kinds)]
        error = str(rows["error"].iloc[0]) if len(rows) else ""
        yield seen.found(
            key, len(rows) > 0, rows, severity="stops" if len(rows) == len(seen.measured) else None,
            how="rehearsed", error=error,
        )  # fmt: skip


def alike_at_both_ends(seen: Experiment) -> Iterator[Finding]:
    """Neither response, CPU time nor any count differs between the ends, which may be by chance."""
    rows = seen.ended
    if len(rows) < 2:
        return
    times = [(numbers(rows, seen.response), ALIKE_TIMES, 0), (cpu_s(rows), ALIKE_TIMES, 0)]
    others = [(numbers(rows, name), ALIKE_COUNTS, FEW_MORE) for name in output.MEASURES]
    known = [measure for measure in (*times, *others) if np.isfinite(measure[0]).all()]
    alike = all(
        np.ptp(measure) <= max(share * np.abs(measure).max(), few) for measure, share, few in known
    )
    yield seen.found(
        "knob_not_used", alike and len(known) > len(times), severity="notes", how="rehearsed",
        measures=len(known),
    )  # fmt: skip


CHECKS: tuple[Check, ...] = (
    failed_at_an_end, partial(output.error_printed, exact=1), alike_at_both_ends,
    output.unit_changes, counts.printed_less, output.left_running, output.same_process,
    process.too_short, process.limit_not_felt, process.not_the_program,
)  # fmt: skip


def judge_of(plan: Plan) -> Callable[[pd.DataFrame], tuple[Finding, ...]]:
    """What judges the rehearsal of a plan: from the tidy table of the first trials to what they
    show to be wrong."""
    study = plan.study
    # Where a rate is searched, both ends bear the first one alike, and only the search shows how
    # they differ; of several knobs one may gain what another loses.
    checks = [check for check in CHECKS if not (study.is_search and check is alike_at_both_ends)]

    def judge(table: pd.DataFrame) -> tuple[Finding, ...]:
        last = table.groupby("trial", sort=False).tail(1).assign(warmup=False, trusted=True)
        by = tuple(name for name in plan.study.factor_names() if name != study.knob_name)
        response = next(
            key for key in (study.response.name, *study.objectives, "wall_s") if key in last
        )
        seen = Experiment(
            last, study.knob_name, response, study.response.goal, by, serves=study.has_service
        )
        return examine(seen, study.accept, checks)

    return judge
