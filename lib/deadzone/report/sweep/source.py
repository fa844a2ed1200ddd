"""What a report is made from: the trials of a run or of any table, read from where they lie, with
what makes them doubtful."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from deadzone import packs, places
from deadzone.analysis.findings.fitting import experiment_in
from deadzone.analysis.phases.quantities import listing, plain_name, setting, unit_of
from deadzone.analysis.phases.roles import check_column, listed
from deadzone.analysis.trial_columns import is_other, measured, well
from deadzone.errors import DeadzoneError, TableError, is_in_command, resume_option
from deadzone.language.messages import N_, Message, _, ngettext, say
from deadzone.report.sweep.analysis import FAILED, Source, analysed_trials
from deadzone.store.command_lines import way_on
from deadzone.store.reference import load_reference
from deadzone.store.run import RunFolder, list_runs
from deadzone.store.tables import read_table
from deadzone.study.direction import direction_of, is_time
from deadzone.study.factors import FactorSpec
from deadzone.study.levels import NONE, Level, format_level
from deadzone.study.response_cells import UNITS_OF
from deadzone.study.scales import level_name
from deadzone.study.spec import Study
from deadzone.study.workload_spec import CAPACITY, GENERATOR

UNREACHED = N_(
    "{knob} {levels} is not measured yet: this level of the {planned} planned is missing from "
    "everything below. Go on with {resume}.",
    "{knob} {levels} are not measured yet: these {n} of the {planned} planned levels are missing "
    "from everything below. Go on with {resume}.",
)


def load_source(
    run: str = "",
    table: str = "",
    *,
    knob: str = "",
    response: str = "",
    goal: str = "",
    by: str | Sequence[str] = (),
    or_reference: bool = False,
) -> Source:
    """A source from a run (its id, folder, or STUDY/latest) or from a CSV or Parquet table.

    or_reference: where neither is named and there is no run yet, it is a published table, which the
    title says.

    knob, response, goal, by: in place of what the run's study says; a table needs knob and
    response.

    Raises StoreError or TableError if it cannot be read, TableError if a table comes without knob
    or response, PhaseError for a column that is not there.
    """
    # a parameter of a notebook names several as `tool,flag`
    by = listed([name.strip() for name in by.split(",")] if isinstance(by, str) else by)
    if table:
        path, trials = Path(table), read_table(Path(table))
        if not (knob and response):
            raise TableError(f"{path}: say which column is the knob and which the response.")
        seen = experiment_in(trials, knob, response, goal, by)
        return Source(**vars(seen), name=path.stem, title=path.stem)
    runs = places.runs_folder()
    if or_reference and run in ("", "latest") and not list_runs(runs):
        return _of_reference(knob, response, goal, by)
    return _of_run(RunFolder.find(runs, run or "latest"), knob, response, goal, by)


REFERENCE = "ffmpeg-16-cores"
"""The published table that is shown where there is no run yet: it has all that a run here
has, but for telemetry."""


def _of_reference(knob: str, response: str, goal: str, by: tuple[str, ...]) -> Source:
    trials = load_reference(REFERENCE, "trials")
    trials = trials[trials["thread_setting"] == "auto"].drop(columns="thread_setting")
    title = _("ffmpeg on 1 to 16 cores: published trials")
    question = _(
        "A published table is shown until there is a run: {command} makes one.",
        command="deadzone run xz-threads" if is_in_command() else "dz.sweep('xz-threads')",
    )
    seen = experiment_in(trials, knob or "cpu_limit", response or "wall_s", goal, by)
    return Source(**vars(seen), name=REFERENCE, title=title, question=question)


def _of_run(run: RunFolder, knob: str, response: str, goal: str, by: tuple[str, ...]) -> Source:
    run.check_not_pruned()
    study, trials = run.study(), run.trials()
    if trials["warmup"].all():
        raise TableError(
            f"Nothing to analyse: {len(trials)} warm-up trials, none measured. Go on with "
            f"{resume_option(run.run_id)}."
        )
    knob = knob or study.knob_name
    response = response or study.response.name
    if response == CAPACITY and study.search:
        trials = packs.part(lambda pack: pack.capacities)(study, trials)
        if trials.empty:
            raise TableError(
                f"No search of run {run.run_id} has ended yet; go on with "
                f"{resume_option(run.run_id)}."
            )
    if response == study.response.name and response not in trials:
        trials = trials.assign(**{response: float("nan")})
    for column in (knob, response, *by):
        check_column(trials, column)
    own, is_own = study.response, response == study.response.name and not goal
    read = getattr(study.workload, "responses", {}).get(response)
    unit = read.unit if read else None
    better = (own.goal, own.goal_from) if is_own else direction_of(response, goal, unit)
    written = study.factors.get(knob, FactorSpec())
    doubts = [
        *_of_limits(study, trials, run.provenance()),
        *_untrusted_levels(trials, knob),
        *_missing(study, trials, knob, way_on(run) or resume_option(run.run_id)),
    ]
    capped = int(trials["limited_by"].eq(GENERATOR).sum()) if "limited_by" in trials else 0
    if capped:  # capacities are larger than what was found, where the load could not be made
        doubts.append(
            _(
                "In {n:count} of {all:count} searches the load generator reached its limit before "
                "the server did: the capacity is larger than the one found.",
                n=capped,
                all=len(trials),
            )
        )
    is_told = own.unit != "s" or is_time(response)  # a study that gives none has s
    if is_own and own.unit and is_told and not unit_of(response):
        trials.attrs[UNITS_OF] = {response: own.unit}
    others = is_other(trials)
    return Source(
        name=study.study,
        title=study.title or study.study,
        question=study.question,
        table=trials[~others],
        others=trials[others] if others.any() else None,
        cores=run.provenance().get("cores_usable"),
        serves=study.has_service,
        option=_option(study, knob),
        knob=knob,
        response=response,
        goal=better[0],
        goal_from=better[1],
        by=by or _other_factors(study, trials, knob),
        role=written.role or "",
        how={"scale": written.scale, "places": written.at, "measured_on": own.scale},
        study=study,
        run_id=run.run_id,
        provenance=run.provenance(),
        doubts=tuple(doubts),
        folder=run.folder,
    )


def _option(study: Study, knob: str) -> str:
    """The word that the knob stands behind in the command or what prepares it, such as
    `shared_buffers` in `shared_buffers={mb}MB`; empty where there is none."""
    commands = study.workload.model_dump(include={"argv", "prepare"})
    line = " ".join(" ".join(parts or ()) for parts in commands.values())
    before = re.search(rf"([A-Za-z][\w.-]*)[=: ]*\{{{knob}\}}", line)
    return before[1] if before else ""


def _other_factors(study: Study, trials: pd.DataFrame, knob: str) -> tuple[str, ...]:
    """The factors beside the knob that vary where it does not; one that was set together with it
    slices nothing."""
    if study.design.kind == "search":  # few trials differ in one of them alone
        return tuple(name for name in study.varied() if name != knob)
    others = (name for name in study.factor_names() if name != knob and name in trials)
    return tuple(
        n for n in others if (trials.groupby(knob, dropna=False)[n].nunique(dropna=False) > 1).any()
    )


def _of_limits(study: Study, trials: pd.DataFrame, provenance: dict[str, Any]) -> list[Message]:
    """What to know of the mechanism where it was no quota of the kernel's."""
    mechanism = provenance.get("limits_mechanism")
    if mechanism == "emulated":
        cores = provenance.get("cores_usable")
        return emulation_doubts(trials, getattr(study.target, "cpu_limit", NONE), cores)
    affinity = _(
        "The CPU limit was put in force by affinity: the program saw fewer cores instead of a "
        "quota, so nothing was throttled. A quota, as in a container, may behave differently."
    )
    return [affinity] if mechanism == "affinity" else []


def _untrusted_levels(trials: pd.DataFrame, knob: str) -> list[Message]:
    """The levels that are left out for want of a trusted trial; none where nothing is trusted,
    which is a finding."""
    whole = analysed_trials(trials.assign(trusted=True), knob)
    kept = analysed_trials(trials, knob)
    missing = whole.loc[~whole[knob].isin(kept[knob]), knob].drop_duplicates()
    if missing.empty:
        return []
    return [
        ngettext(
            "{knob} {levels} has no trial that can be trusted and is left out of the fit.",
            "{knob} {levels} have no trial that can be trusted and are left out of the fit.",
            n=len(missing),
            knob=plain_name(knob),
            levels=listing([*map(level_name, missing)]),
        )
    ]


def _missing(study: Study, trials: pd.DataFrame, knob: str, resume: str) -> list[Message]:
    """Levels that the study planned and no trial of which ended well, with what became of them.
    resume: what makes the run go on."""
    from deadzone.study.design import treatments

    try:
        levels = [t.levels[knob] for t in treatments(study) if knob in t.levels]
    except DeadzoneError:
        return []
    planned = list(dict.fromkeys(map(format_level, levels)))
    rows = measured(trials)
    rows = rows.assign(**{knob: rows[knob].map(format_level, na_action="ignore")})
    tried, sound = (set(some[knob]) for some in (rows, well(rows)))
    if study.design.kind in ("adaptive", "search"):  # what was not chosen is not missing
        planned = [level for level in planned if level in tried]
    if not sound:
        return [
            _(
                "No trial ended well at any of the {levels} levels of {knob} ({failed:count} "
                "tried).",
                levels=len(planned),
                knob=plain_name(knob),
                failed=len(rows),
            )
        ]
    missing = {
        FAILED: [level for level in planned if level in tried - sound],
        UNREACHED: [level for level in planned if level not in tried],
    }
    return [
        say(
            text,
            n=len(which),
            planned=len(planned),
            failed=int(rows[knob].isin(which).sum()),
            levels=listing(which),
            knob=plain_name(knob),
            resume=resume,
        )
        for text, which in missing.items()
        if which
    ]


PERIOD_S = 0.1
"""A trial may begin in the middle of a period, and so have one quota more than its duration tells,
as in a kernel [s]."""

HELD = 1.05
"""More than this share of the limit, one period's quota apart, and the program was not held to
it."""


def emulation_doubts(trials: pd.DataFrame, limit: Level, cores: int | None) -> list[Message]:
    """Sentences about a run whose limits were emulated.

    trials: a tidy table. limit: of every trial, where the table has no column of it. cores: of the
    machine.
    """
    ended = trials[trials["status"] == "ok"]
    asked = ended["cpu_limit"] if "cpu_limit" in ended else pd.Series(limit, ended.index)
    limits = pd.to_numeric(asked, errors="coerce")
    used_s = ended["user_s"] + ended["sys_s"]
    share = used_s / (limits * ended["wall_s"])
    over = used_s > HELD * limits * (ended["wall_s"] + PERIOD_S)
    sentences = [
        _(
            "The CPU limits were emulated: the program was stopped and continued in turns, in "
            "place of a quota of the kernel. Any user may do that. The time in which it was "
            "stopped counts as throttled."
        )
    ]
    if over.any():
        sentences.append(
            _(
                "It could not be held to {limits}: there it used up to {most:number} times its "
                "limit, as programs of very many short processes can. Do not rely on the results "
                "there.",
                limits=_named(limits[over]),
                most=float(share[over].max()),
            )
        )
    if cores and (limits > cores).any():
        sentences.append(
            _(
                "{limits} held nothing back, because this machine has {cores}.",
                limits=_named(limits[limits > cores]),
                cores=cores,
            )
        )
    return sentences


def _named(limits: pd.Series) -> str:
    return listing([setting(value, "cpu_limit") for value in sorted(limits.unique())])
