"""What to try next: a study, ready to run, of the remedy that is known for what limits a phase."""

from collections.abc import Iterable
from typing import Any

from deadzone import packs
from deadzone.analysis.mechanisms.causes import CAUSES
from deadzone.analysis.mechanisms.explaining import CONFIRMED, Explanation
from deadzone.errors import PhaseError
from deadzone.language.messages import _, say
from deadzone.store.run import RunFolder
from deadzone.study.levels import chosen_levels, is_number
from deadzone.study.loading import dump_study, parse_study

REMEDIES = {"throttled": "cpu_limit", "memory_short": "memory_limit", "too_few_threads": "more"}
"""The limit that is raised, or more of the knob."""

LESS = ("cpu_full", "more_cpu_work", "waiting_for_each_other")
"""Less of the knob is the remedy of these, and where no limit is known that could be raised."""

TIMES = 4.0


def next_study(run: RunFolder) -> str:
    """The study as YAML, with its reason, for the mechanism that costs a phase of the run most.

    Raises PhaseError where no phase is shown to lose time by something that has a remedy.
    """
    study = run.study()
    knob = study.knob_name
    known = [
        cause
        for cause in (*REMEDIES, *LESS)
        if not knob.endswith("_limit") or REMEDIES.get(cause) == knob
    ]
    rows = (
        row
        for explanation in _explanations(run)
        for row in explanation.table[explanation.table["verdict"] == CONFIRMED].to_dict("records")
    )
    shown = [row for row in rows if row["mechanism"] in known and row["change"] > 0]
    if not shown:
        raise PhaseError(
            f"{run.run_id}: no phase is shown to lose time by something with a known remedy."
        )
    worst = max(shown, key=lambda row: row["change"])
    stop, cause = worst["stop"], str(worst["mechanism"])
    factor = REMEDIES.get(cause, knob)
    now: Any = stop if factor in (knob, "more") else getattr(study.target, factor, None)
    if cause in LESS or not is_number(now):
        factor, ends = knob, (worst["start"] / TIMES, stop)
    else:
        factor, ends = (knob if factor == "more" else factor), (float(now), float(now) * TIMES)
    whole = all(float(end).is_integer() for end in (worst["start"], stop)) and factor != "cpu_limit"
    low, high = (max(round(end), 1) if whole else round(end, 4) for end in ends)
    why = {"cause": say(CAUSES[cause]), "start": worst["start"], "stop": stop, "run": run.run_id}
    changes = {
        "study": f"{study.study}-next",
        "knob": factor,
        "claims": [],
        "question": str(
            _(
                "Next: {cause} limits {start:count} to {stop:count} of run {run}; this study tries "
                "the remedy. Save it beside the study that was run.",
                **why,
            )
        ),
        f"factors.{knob}": [stop],
        f"factors.{factor}": [*chosen_levels(low, high, whole, 0)],
    }
    return dump_study(parse_study(dump_study(study), f"{study.study}-next", changes))


def _explanations(run: RunFolder) -> Iterable[Explanation]:
    """What explains the phases of a run, of every curve of it."""
    from deadzone.analysis.mechanisms.explaining import explained
    from deadzone.report.sweep.analysis import analyse
    from deadzone.store.table import rows_at
    from deadzone.study.claims_of_study import RATE
    from deadzone.verbs.run import Run

    opened = Run(run.folder)
    if run.study().analysis_notebook != "load_test":
        return [s.why for s in analyse(opened.source, anyway=True) if s.why]
    test = packs.load(packs.brought("verbs")["capacity"])(opened)
    at_rates = [(rows_at(test.trials, {RATE: rate}), model) for rate, model in test.models.items()]
    return [why for trials, model in at_rates if (why := explained(trials, model))]
