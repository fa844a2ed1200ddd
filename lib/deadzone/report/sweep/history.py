"""What the runs of a study said, one after the other, and what moved.

Each run keeps its verdict in a file; a run of before, or one that went on since, is fitted once.
"""

import contextlib
import hashlib
import json
from typing import Any

import numpy as np
import pandas as pd

from deadzone import places
from deadzone.analysis.phases.quantities import percent, plain_name, response
from deadzone.analysis.phases.recommend import Recommendation
from deadzone.analysis.records import plain, records
from deadzone.analysis.trend.changes import change_points
from deadzone.errors import DeadzoneError, StoreError, UnknownRunError, did_you_mean
from deadzone.language.formats import date
from deadzone.language.messages import N_, Message, _, join, say, spoken
from deadzone.report.sweep.analysis import Analysis, Source, analyse
from deadzone.report.sweep.regression_check import MACHINE
from deadzone.report.sweep.source import load_source
from deadzone.store.provenance import IDENTITY
from deadzone.store.run import RunFolder, list_runs
from deadzone.study.spec import Study

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

OF_RUNS = ("recorded_at", "knob", "response", "goal", *MARKED, "code")
"""Columns that a verdict has by these names, alike for all of its curves."""


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
    curves = [_curve(s.name, s.advice, s.source, [*s.model.joints["level"]]) for s in analysis]
    if not curves and analysis.advice is not None:
        curves = [_curve("", analysis.advice, source, [])]
    nothing: dict[str, Any] = {
        "slice": "",
        "setting": None,
        "verdict_state": analysis.recommendation["state"],
        "joints": [],
        "noise": None,
        "levels": [],
    }
    return {
        "recorded_at": facts.get("recorded_at", ""),
        "study": _parts(run.study()),
        "machine": ", ".join(str(facts[name]) for name in MACHINE if facts.get(name)),
        "program": "; ".join(f"{name} {text}" for name, text in facts.get(IDENTITY, {}).items()),
        "version": facts.get("packages", {}).get("deadzone", ""),
        "code": str(facts.get("git_commit", ""))[:10] + ("+" if facts.get("git_changed") else ""),
        "knob": source.knob,
        "response": source.response,
        "goal": source.goal,
        "recommendation": analysis.recommendation,
        "curves": curves or [nothing],
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
    return {
        name: hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:10]
        for name, value in study.model_dump(mode="json", exclude=NO_PART_OF_IT).items()
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
    every = list_runs(places.runs_folder())
    if not every:
        raise UnknownRunError(
            f"There is no run in {places.runs_folder()} yet; `deadzone run STUDY` makes one."
        )
    study = study or every[-1].folder.parent.name
    runs = [run for run in every if run.folder.parent.name == study]
    if not runs:
        hint = did_you_mean(study, sorted({run.folder.parent.name for run in every}))
        raise UnknownRunError(
            f"The study {study!r} has no run in {places.runs_folder()}.{hint} `deadzone run STUDY` "
            "makes one; a study that was given another name has its runs under the earlier one."
        )
    rows: list[dict[str, Any]] = []
    before: dict[str, Any] = {}
    version = 1
    for run in runs:
        try:
            verdict = verdict_of(run)
        except DeadzoneError:  # no trial ended well: there is nothing to set beside the others
            continue
        parts = before.get("study", {})  # another version of Deadzone may know other keys
        news = [n for n, part in verdict["study"].items() if parts.get(n, part) != part]
        version += bool(news)
        head = {
            "run": run.run_id,
            "study_version": version,
            "study_changed": ", ".join(news),
            "changed": ", ".join(n for n in MARKED if before and before[n] != verdict[n]),
            **{name: verdict[name] for name in OF_RUNS},
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
    kinds = {**dict.fromkeys(numbers, float), "is_setting": bool}
    frame = frame.astype(kinds).assign(segment=0, ratio=np.nan)
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
    said = [
        (
            row["run"],
            _(
                "The study changed with run {run} of {date} ({keys}), so a new history begins "
                "there.",
                keys=row["study_changed"],
                **_of(row),
            ),
        )
        for row in frame.drop_duplicates("run").query("study_changed != ''").to_dict("records")
    ]
    at_settings = frame[frame["is_setting"]].groupby(["study_version", "slice"])
    for row in frame[frame["ratio"].notna()].to_dict("records"):
        segments = at_settings.get_group((row["study_version"], row["slice"])).groupby("segment")
        before, after = (segments["estimate"].get_group(row["segment"] - n) for n in (1, 0))
        sentence = say(
            WORSE if (row["ratio"] > 1) == (row["goal"] == "min") else BETTER,
            quantity=plain_name(row["response"]),
            share=percent(abs(row["ratio"] - 1)),
            before=response(before.median(), row["response"]),
            after=response(after.median(), row["response"]),
            n_before=len(before),
            n_after=len(after),
            **_of(row),
        )
        if row["changed"]:
            sentence = join([sentence, _("New then: {what}.", what=row["changed"])])
        if row["slice"]:
            sentence = _("{slice}: {said}", slice=row["slice"], said=sentence)
        said.append((row["run"], sentence))
    runs = [*frame["run"].unique()]
    return [told for _run, told in sorted(said, key=lambda one: runs.index(one[0]))]


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
