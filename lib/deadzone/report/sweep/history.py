"""What the runs of a study said, one after the other, and what moved.

Each run keeps its verdict in a file; a run of before, or one that went on since, is fitted once.

What moved since the previous run of a study: the section of its report, and the sentence of the
command.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from deadzone import places
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.naming import ends
from deadzone.analysis.phases.quantities import listing, percent, plain_name, response
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.records import plain, records
from deadzone.analysis.trend.changes import change_points
from deadzone.analysis.trend.movement import movement
from deadzone.errors import DeadzoneError, StoreError, UnknownRunError, did_you_mean
from deadzone.language.formats import date
from deadzone.language.messages import N_, Message, _, join, ngettext, say, spoken
from deadzone.report.document.display import Block, Prose
from deadzone.report.document.publishing import PHASES, SEARCH
from deadzone.report.sweep.analysis import Analysis, Slice, analyse
from deadzone.report.sweep.source import load_source
from deadzone.report.sweep.trials import Source
from deadzone.store.provenance import IDENTITY
from deadzone.store.run import RunFolder, list_runs
from deadzone.study.spec import Study
from deadzone.style import PHASE_STYLES

MACHINE = ("cpu_model", "cores_usable", "limits_mechanism", "target")
"""Facts that must agree: on another machine other phases are no news."""

Moves = Sequence[tuple[Slice, pd.DataFrame]]
"""Each slice of the run that the previous one has, too, and its steps beside those of that one; see
`movement`."""


@dataclass(frozen=True, eq=False)
class RegressionCheck:
    """A run beside the previous one of its study.

    moved: whether a step of any curve is in another phase now; without curves, whether the best
    setting moved. sentence: the comparison, or why the two are not compared; empty where there is
    no earlier run.
    """

    now: Analysis
    moved: bool = False
    sentence: str = ""

    def blocks(self) -> list[Block]:
        """The section of the report; nothing for a study's first run."""
        style, heading = "warnings" if self.moved else "", _("Since the previous run")
        prose = Prose((self.sentence,), heading=heading, style=style, id="section-since")
        return [prose] if self.sentence else []


def regression_check(now: Analysis) -> RegressionCheck:
    """Set a run's analysis beside that of the run before it, where there is one that was measured
    alike."""
    folder = now.source.folder
    earlier = previous_run(RunFolder(folder)) if folder else None
    if earlier is None or now.advice is None:
        return RegressionCheck(now)
    return RegressionCheck(now, *_compared(now, now.advice, earlier))


def since_previous(run: RunFolder, parameters: Mapping[str, Any]) -> RegressionCheck | None:
    """What moved since the previous run of the study, asked as the report asks it; None where its
    notebook recommends no setting. parameters: of the notebook."""
    if run.study().analysis_notebook not in (PHASES, SEARCH):
        return None
    asked = ("knob", "response", "goal", "by")
    given: dict[str, Any] = {name: str(parameters[name]) for name in asked if name in parameters}
    return regression_check(analyse(load_source(str(run.folder), **given)))


def _compared(now: Analysis, advice: Recommendation, earlier: RunFolder) -> tuple[bool, str]:
    """Whether something moved, and the sentence that says so."""
    source = now.source
    recorded = str(earlier.provenance().get("recorded_at", ""))
    run = {"previous": earlier.run_id, "date": date(recorded, spoken())}
    alike: dict[str, Any] = {"knob": source.knob, "response": source.response, "goal": source.goal}
    try:
        then = analyse(load_source(str(earlier.folder), **alike))
    except DeadzoneError:
        then = None
    if then is None or then.advice is None:
        return False, _(
            "Run {previous} of {date} has no answer of its own, so nothing is compared with it.",
            **run,
        )
    machines = [side.provenance for side in (then.source, source)]
    if different := [name for name in MACHINE if machines[0].get(name) != machines[1].get(name)]:
        before, after = (
            listing([str(facts.get(name)) for name in different]) for facts in machines
        )
        return False, _(
            "Run {previous} of {date} was measured on another machine ({before}, now {after}), so "
            "the phases of the two are not compared.",
            before=before,
            after=after,
            **run,
        )
    old = {s.name: s.model for s in then}
    moves = [(s, movement(old[s.name], s.model)) for s in now if s.name in old]
    if not (now.slices or then.slices):
        return _best_setting(then.advice, advice, run)
    if any(len(steps) for _s, steps in moves):
        return any(steps["moved"].any() for _s, steps in moves), _phases(moves, run)
    return False, _(
        "Run {previous} of {date} measured other levels of {knob} than this one, so the phases of "
        "the two are not compared.",
        knob=plain_name(source.knob),
        **run,
    )


def previous_run(run: RunFolder) -> RunFolder | None:
    """The run of the same study that was measured last before one; a run without trials does not
    count, and a published one stands beside those of other studies."""
    if run.folder.parent.name != run.study().study:
        return None
    siblings = list_runs(run.folder.parent.parent, run.folder.parent.name)
    earlier = [one for one in siblings if one.run_id < run.run_id and one.journal_file.exists()]
    return earlier[-1] if earlier else None


def _best_setting(
    then: Recommendation, now: Recommendation, run: dict[str, str]
) -> tuple[bool, str]:
    """Whether, without curves, each run has measured the other's setting and shows it to be worse
    than its own best (Hsu's comparisons with the best): where nothing moved, both are so with at
    most a twentieth of a twentieth."""
    moved = all(
        other.setting in [*one.table["setting"]] and other.setting not in one.tied
        for one, other in ((then, now), (now, then))
    )
    text = (
        N_(
            "The best setting moved since run {previous} of {date}: {before} then, {after} now, "
            "and each run shows the other's to be worse."
        )
        if moved
        else N_(
            "Since run {previous} of {date} no move of the best setting is shown: {before} then, "
            "{after} now."
        )
    )
    before, after = (
        _("none") if advice.setting is None else str(advice.chosen["name"])
        for advice in (then, now)
    )
    return moved, say(text, before=before, after=after, **run)


def _phases(moves: Moves, run: dict[str, str]) -> str:
    """Which steps of which slice are in another phase now."""
    sentences = []
    for s, steps in moves:
        moved = steps[steps["moved"]].to_dict("records")
        if not moved:
            continue
        sentence = ngettext(
            "Phases moved since run {previous} of {date}: the step {steps} of {knob} is in another "
            "phase now.",
            "Phases moved since run {previous} of {date}: the steps {steps} of {knob} are in "
            "another phase now.",
            n=len(moved),
            steps=listing([_step(s.model, row) for row in moved]),
            knob=plain_name(s.model.knob),
            **run,
        )
        sentences.append(_("{slice}: {said}", slice=s.name, said=sentence) if s.name else sentence)
    return join(sentences) or _(
        "No phase moved since run {previous} of {date}: of {n:count} steps that both runs "
        "measured, none is in another phase, as far as the trials of both can tell.",
        n=sum(len(steps) for _s, steps in moves),
        **run,
    )


def _step(model: PhaseModel, row: dict[Any, Any]) -> str:
    before, after = (PHASE_STYLES[str(row[f"label_{end}"])].name for end in ("before", "after"))
    return _(
        "{start} to {stop} ({before}, now {after})", before=before, after=after, **ends(model, row)
    )


NO_PART_OF_IT = {
    "study", "title", "question", "claims", "accept", "notebook", "analysis", "design",
}  # fmt: skip
"""Keys of a study that may change without beginning another history."""

COLUMNS = (
    "run", "recorded_at", "study_version", "study_changed", "slice", "knob", "level", "level_name",
    "response", "goal", "trials", "estimate", "low", "high", "noise", "is_setting", "setting",
    "verdict_state", "joints", "machine", "program", "version", "code", "segment", "ratio",
    "changed",
)  # fmt: skip

WORSE, BETTER = (
    N_(
        "{quantity} at the setting is {share} worse since run {run} of {date}: {before} before "
        "({n_before} runs), {after} since ({n_after} runs)."
    ),
    N_(
        "{quantity} at the setting is {share} better since run {run} of {date}: {before} before "
        "({n_before} runs), {after} since ({n_after} runs)."
    ),
)

FORM = 1
"""Of the file of a verdict; one of another form is made anew."""

OF_LEVELS = {
    "setting": "level", "name": "level_name", "n": "trials", "estimate": "estimate",
    "low": "low", "high": "high",
}  # fmt: skip
"""Columns of a recommendation's table, by what they are called here."""

MARKED = ("machine", "program", "version")
"""What may change beside the study."""


def verdict_of(run: RunFolder, analysis: Analysis | None = None) -> dict[str, Any]:
    """The verdict that a run keeps, made anew where it has none or was gone on with.

    analysis: of the run, where it is at hand. Raises DeadzoneError where nothing can be fitted.
    """
    size = run.journal_file.stat().st_size if run.journal_file.exists() else 0
    kept: dict[str, Any] = {}
    with contextlib.suppress(StoreError):  # a file that something damaged is made anew
        kept = run.verdict()
    known = kept.get("journal_bytes")
    if analysis is None and (kept.get("form"), known) == (FORM, size or known):
        return kept  # of a pruned run, too, which has no journal any more
    analysis = analysis or analyse(load_source(str(run.folder)))
    verdict = _verdict(run, analysis) | {"form": FORM, "journal_bytes": size}
    with contextlib.suppress(StoreError):  # a run in a read-only place has a history, too
        run.write_verdict(verdict)
    return verdict


def _verdict(run: RunFolder, analysis: Analysis) -> dict[str, Any]:
    source, facts = analysis.source, run.provenance()
    code = str(facts.get("git_commit", ""))[:10] + ("+" if facts.get("git_changed") else "")
    program = "; ".join(f"{name} {text}" for name, text in facts.get(IDENTITY, {}).items())
    curves = [_curve(s.name, s.advice, s.source, [*s.model.joints["level"]]) for s in analysis]
    if not curves and analysis.advice is not None:
        curves = [_curve("", analysis.advice, source, [])]
    state = analysis.recommendation["state"]
    nothing: dict[str, Any] = {"setting": None, "joints": [], "noise": None, "levels": []}
    return {
        "recorded_at": facts.get("recorded_at", ""),
        "study": _parts(run.study()),
        "machine": ", ".join(str(facts[name]) for name in MACHINE if facts.get(name)),
        "program": program,
        "version": facts.get("packages", {}).get("deadzone", ""),
        "code": code,
        "knob": source.knob,
        "response": source.response,
        "goal": source.goal,
        "recommendation": analysis.recommendation,
        "curves": curves or [{**nothing, "slice": "", "verdict_state": state}],
    }


def _curve(
    name: str, advice: Recommendation, source: Source, joints: list[float]
) -> dict[str, Any]:
    """What a run says of one curve. noise: standard deviation of the logarithms of trials about the
    mean of their level; None without replicates."""
    trials = source.analysed
    positive = trials[trials[source.response] > 0].assign(ln=lambda t: np.log(t[source.response]))
    by_level = positive.groupby([source.knob, *source.by], dropna=False)["ln"]
    freedom = len(positive) - by_level.ngroups
    squares = float(((positive["ln"] - by_level.transform("mean")) ** 2).sum())
    return {
        "slice": name,
        "setting": plain(advice.setting),
        "verdict_state": advice.state,
        "joints": [plain(joint) for joint in joints],
        "noise": (squares / freedom) ** 0.5 if freedom else None,
        "levels": records(advice.table[[*OF_LEVELS]].rename(columns=OF_LEVELS)),
    }


def _parts(study: Study) -> dict[str, str]:
    """A checksum of each key of a study that bears on what is measured."""
    written = study.model_dump(mode="json", exclude=NO_PART_OF_IT)
    return {
        name: hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:10]
        for name, value in written.items()
    }


def history(study: str = "") -> pd.DataFrame:
    """The runs of a study over time: one row for each run, curve and level, the oldest first.

    study: its name; by default that of the newest run. Columns: run, recorded_at (UTC),
    study_version (counts from 1 the studies that were measured by this name), study_changed (keys
    that differ from the run before), slice (which curve), knob and response (columns), goal, level
    (of a grid its factors) and level_name, trials (of the level), estimate with low and high (of
    the response, in its unit), noise (standard deviation of one trial, in logarithms), is_setting,
    setting, verdict_state, joints (levels, as text), machine, program, version (of Deadzone), code
    (commit, with + where it was changed), segment (counts from 0 the pieces between changes of the
    response at the setting), ratio (of this segment to the one before, at its first run), changed
    (what else was new then).

    Raises UnknownRunError where the study has no run.
    """
    runs = list_runs(places.runs_folder())
    names = {run.folder.parent.name for run in runs}
    if not runs:
        raise UnknownRunError(
            f"There is no run in {places.runs_folder()} yet; `deadzone run STUDY` makes one."
        )
    study = study or max(runs, key=lambda run: run.run_id).folder.parent.name
    if study not in names:
        hint = did_you_mean(study, sorted(names))
        raise UnknownRunError(
            f"The study {study!r} has no run in {places.runs_folder()}.{hint} `deadzone run STUDY` "
            "makes one; a study that was given another name has its runs under the earlier one."
        )
    rows: list[dict[str, Any]] = []
    before: dict[str, Any] = {}
    version = 1
    for run in runs:
        if run.folder.parent.name != study:
            continue
        try:
            verdict = verdict_of(run)
        except DeadzoneError:  # no trial ended well: there is nothing to set beside the others
            continue
        parts = before.get("study", {})  # another version of Deadzone may know other keys
        news = [n for n, part in verdict["study"].items() if parts.get(n, part) != part]
        version += bool(news)
        changed = [n for n in MARKED if before and before[n] != verdict[n]]
        shared = ("recorded_at", "knob", "response", "goal", *MARKED, "code")
        head = {
            "run": run.run_id,
            "study_version": version,
            "study_changed": ", ".join(news),
            "changed": ", ".join(changed),
            **{name: verdict[name] for name in shared},
        }
        rows += [row for curve in verdict["curves"] for row in _rows(head, curve)]
        before = verdict
    frame = pd.DataFrame(rows, columns=[*COLUMNS])
    frame["recorded_at"] = pd.to_datetime(frame["recorded_at"], utc=True, errors="coerce")
    return _with_segments(frame)


def _rows(head: dict[str, Any], curve: dict[str, Any]) -> list[dict[str, Any]]:
    of_curve = {n: curve[n] for n in ("slice", "setting", "noise", "verdict_state")}
    of_curve["joints"] = ", ".join(f"{joint:g}" for joint in curve["joints"])
    return [
        {
            **head,
            **of_curve,
            **level,
            "is_setting": bool(level) and level["level"] == curve["setting"],
        }
        for level in curve["levels"] or [{}]
    ]


def _with_segments(frame: pd.DataFrame) -> pd.DataFrame:
    """The same with the segments of each curve, within each version of the study."""
    numbers = ["estimate", "low", "high", "noise", "trials", "ratio"]
    frame = frame.astype(dict.fromkeys(numbers, float)).assign(segment=0, ratio=np.nan)
    at_setting = frame[frame["is_setting"] & (frame["estimate"] > 0)]
    for (version, name), rows in at_setting.groupby(["study_version", "slice"]):
        values = np.log(rows["estimate"].to_numpy())
        errors = rows["noise"].fillna(0.0) / np.sqrt(rows["trials"])
        cuts = change_points(values, errors.to_numpy())
        levels = [np.median(part) for part in np.split(values, cuts)]
        of_curve = (frame["study_version"] == version) & (frame["slice"] == name)
        for cut, before, after in zip(cuts, levels, levels[1:], strict=False):
            frame.loc[rows.index[cut], "ratio"] = np.exp(after - before)
            first = frame["run"] == rows["run"].iloc[cut]
            frame.loc[of_curve & (frame.index >= first.idxmax()), "segment"] += 1
    return frame


def moves(frame: pd.DataFrame) -> list[Message]:
    """What moved in a history, a sentence each, the oldest first: changes of the response at the
    setting, and of the study."""
    begun = frame.drop_duplicates("run").query("study_changed != ''").to_dict("records")
    said = [
        _(
            "The study changed with run {run} of {date} ({keys}), so its history begins anew "
            "there.",
            keys=start["study_changed"],
            **_of(start),
        )
        for start in begun
    ]
    for row in frame[frame["ratio"].notna()].to_dict("records"):
        curve = frame[frame["is_setting"] & (frame["slice"] == row["slice"])]
        curve = curve[curve["study_version"] == row["study_version"]]
        before, after = (
            curve.loc[curve["segment"] == row["segment"] - n, "estimate"] for n in (1, 0)
        )
        worse = (row["ratio"] > 1) == (row["goal"] == "min")
        sentence = say(
            WORSE if worse else BETTER,
            quantity=plain_name(row["response"]),
            share=percent(abs(row["ratio"] - 1)),
            before=response(before.median(), row["response"]),
            after=response(after.median(), row["response"]),
            n_before=len(before),
            n_after=len(after),
            **_of(row),
        )
        new = _("New then: {what}.", what=row["changed"]) if row["changed"] else ""
        sentence = join([sentence, new])
        name = row["slice"]
        said.append(_("{slice}: {said}", slice=name, said=sentence) if name else sentence)
    return said


def last_move(run: RunFolder, analysis: Analysis | None = None) -> str:
    """Keep the verdict of a run that ended, and say what moved last in its study; empty where
    nothing did. analysis: of the run as its study asks, where it is at hand."""
    try:
        verdict_of(run, analysis)
        return str(next(reversed(moves(history(run.folder.parent.name))), ""))
    except DeadzoneError:  # nothing can be fitted, which the report says
        return ""


def _of(row: dict[Any, Any]) -> dict[str, str]:
    """The run of a row and its day."""
    return {"run": row["run"], "date": date(moment(row), spoken())}


def moment(row: dict[Any, Any]) -> str:
    """When the run of a row was measured; `-` where no circumstances were kept."""
    return str(row["recorded_at"]).replace("NaT", "-")
