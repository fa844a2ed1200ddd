"""The tables of a report, as texts with units and sensible digits, each under a sentence about the data."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from deadzone.analysis.marks import is_well, numbers
from deadzone.analysis.mechanisms.wording import limits
from deadzone.analysis.phases.candidates import level_text, places, setting_at
from deadzone.analysis.phases.model import PhaseModel
from deadzone.analysis.phases.quantities import (
    axis_label,
    listing,
    number,
    percent,
    plain_name,
    response,
    setting,
)
from deadzone.analysis.phases.result import PhaseResult
from deadzone.language.catalogue import say, spoken
from deadzone.language.formats import date_and_time
from deadzone.report.document.display import Table
from deadzone.report.figures.curves import ends, names
from deadzone.report.sweep.analysis import Slice
from deadzone.report.sweep.source import Source
from deadzone.study.scales import level_name
from deadzone.study.sizes import size_text
from deadzone.style import PHASE_STYLES

MAD_TO_SIGMA = 1.4826
"""Makes the median absolute deviation of normal data estimate their standard deviation."""

PROVENANCE_FACTS = (
    "run_id", "recorded_at", "host", "cpu_model", "cores_usable", "memory_bytes", "operating_system", "kernel",
    "virtualised", "limits_mechanism", "scratch", "program_version", "clip", "clip_frames", "clip_sha256",
    "file_system", "mount_options", "disk_device", "disk_kind", "disk_model", "disk_scheduler", "disk_write_cache",
    "disk_logical_block_bytes", "disk_free_bytes", "disk_file_bytes", "disk_direct", "io_limits_mechanism",
    "load_average_1min", "git_commit", "git_changed", "notebook",
)  # fmt: skip
"""Facts shown in a report, in this order; provenance.json holds all."""

MOST_ROWS = 40
"""A table lists this many disturbed attempts; all of them stand in the trials beside the report."""

NOT_KNOWN = "-"


def positions(model: PhaseResult, trials: pd.DataFrame) -> np.ndarray:
    """Where each trial stands on the knob's axis, NaN for those whose level is not on it."""
    named = {level_name(level): place for level, place in places(model).items()}
    return trials[model.knob].map(level_name).map(named).to_numpy(float)


def row_id(level: float) -> str:
    """The id of a level's row in a table of treatments."""
    return f"{level:.6g}"


def treatments_table(s: Slice) -> Table:
    """One row a level: trials, median, spread, and where measured the cores used and the throttled periods."""
    model = s.model
    trials = s.source.analysed.assign(_position=positions(model, s.source.analysed))
    groups = [(float(str(position)), group) for position, group in trials.groupby("_position")]
    frame = pd.DataFrame([_treatment(model, position, group) for position, group in groups])
    caption = _treatments_caption(s, groups)
    return Table(
        frame, caption, numeric=list(frame.columns), id=s.anchor("treatments"),
        row_ids=[row_id(position) for position, _ in groups],
    )  # fmt: skip


def _treatments_caption(s: Slice, groups: list[tuple[float, pd.DataFrame]]) -> str:
    """Where the median response is best and worst, as a sentence."""
    model = s.model
    medians = {at: float(group[model.response].median()) for at, group in groups}
    low, high = min(medians, key=medians.__getitem__), max(medians, key=medians.__getitem__)
    said = say(
        "report.treatments_caption",
        response=plain_name(model.response),
        low=response(medians[low], model.response),
        low_at=_setting(model, low),
        high=response(medians[high], model.response),
        high_at=_setting(model, high),
    )
    return s.captioned(said)


def _setting(model: PhaseModel, level: float) -> str:
    return setting(setting_at(model, level), model.knob)


def _treatment(model: PhaseModel, position: float, group: pd.DataFrame) -> dict[str, str]:
    values = group[model.response].to_numpy(float)
    middle = float(np.median(values))
    spread = MAD_TO_SIGMA * float(np.median(np.abs(values - middle)))
    label = axis_label(model.response)
    row: dict[str, str] = {
        axis_label(model.knob): level_text(model, position),
        say("report.trials"): f"{len(group):,}",
        say("report.median", label=label): number(
            middle, max(spread, model.noise.replicate * middle) or None
        ),
        say("report.spread", label=label): number(spread, spread) if len(values) > 1 else NOT_KNOWN,
    }
    for column in cores_used(group):
        row[axis_label(column)] = f"{group[column].median():.2f}"
    if is_measured(group, "nr_periods"):
        periods, throttled = group["nr_periods"].sum(), group["nr_throttled"].sum()
        row[say("report.throttled")] = f"{100 * throttled / periods:.0f}" if periods else "0"
    return row


def cores_used(trials: pd.DataFrame) -> list[str]:
    """The columns with the cores that the trials used, and those that servers used which belong to them."""
    beside = (name for name in map(str, trials) if name.endswith("_cores"))
    return [name for name in ("cpu_efficiency", *beside) if is_measured(trials, name)]


def is_measured(trials: pd.DataFrame, column: str) -> bool:
    """Whether any trial has a value of a column."""
    return column in trials and bool(trials[column].notna().any())


def phases_table(s: Slice) -> Table:
    """One row a phase: range, label, total improvement, improvement a unit of the knob, elasticity."""
    model, why = s.model, s.why
    rows: list[dict[str, Any]] = []
    for position, phase in enumerate(model.phases.to_dict("records")):
        start, stop = float(phase["start"]), float(phase["stop"])
        gain = improvement(model, start, stop)
        slope, low, high = slopes(model, phase)
        rows.append(
            {
                "position": position + 1,
                "range": say("quantity.range", **ends(model, phase)),
                "name": PHASE_STYLES[str(phase["label"])].name,
                "limits": limits(why, position) if why else "",
                "gain": gain,
                "gain_a_unit": gain / (stop - start),
                "slope": slope,
                "interval": say("quantity.range", start=low, stop=high),
                "sure": float(phase["probability"]),
            }
        )
    caption, slope_head = "report.phases_caption", "report.elasticity"
    if model.axis.is_interval:
        caption, slope_head = "report.phases_caption_interval", "report.slope"
    return Table.of(
        "sweep.phases_explained" if why else "sweep.phases", rows, s.anchor("phases"),
        told=s.captioned(say(caption, n=len(rows), **names(model.response, model.knob))), label=axis_label(model.knob),
        slope_head=say(slope_head), knob=plain_name(model.knob), certainty=model.certainty,
    )  # fmt: skip


def slopes(model: PhaseModel, phase: Mapping[Hashable, Any]) -> tuple[str, str, str]:
    """The elasticity of a phase and the ends of its interval; on an interval scale the improvement a unit."""
    found = [float(phase[name]) for name in ("elasticity", "elasticity_low", "elasticity_high")]
    if model.axis.is_interval:
        middle, low, high = (percent(model.axis.gain_a_unit(value, model.goal)) for value in found)
    else:
        middle, low, high = (number(value, float(phase["std_error"])) for value in found)
    return middle, low, high


def improvement(model: PhaseModel, start: float, stop: float) -> float:
    """How much better the fitted response is at stop than at start, as a share of the one at start."""
    fitted = model.levels.set_index("level")["fitted"]
    ratio = float(fitted[stop] / fitted[start])
    return 1 - ratio if model.goal == "min" else ratio - 1


def outliers_table(s: Slice) -> Table | None:
    """The trials that were given less weight, with the reason; None if there are none."""
    model, outliers = s.model, s.model.outliers
    if outliers.empty:
        return None
    rows = [{**row, "level": level_text(model, float(row["knob"]))} for row in outliers.to_dict("records")]
    counts = {"n": len(rows), "all": model.n_trials}
    return Table.of("sweep.outliers", rows, s.anchor("outliers"), **_labels(model), **counts)


def _labels(of: Source | PhaseModel) -> dict[str, str]:
    return {"knob_label": axis_label(of.knob), "response_label": axis_label(of.response)}


def left_out(source: Source) -> list[Table]:
    """The tables of the trials that do not count, where there are any."""
    return [table for table in (untrusted_table(source), failed_table(source)) if table is not None]


def untrusted_table(source: Source) -> Table | None:
    """The attempts that were disturbed, and what disturbed them; None if there are none."""
    rows = source.disturbed
    if rows.empty:
        return None
    reasons = rows["distrust_reason"].fillna("").astype(str)
    named = rows.assign(
        level=rows[source.knob].astype(str), value=rows[source.response].astype(float), reason=reasons
    )
    shown = named.head(MOST_ROWS).to_dict("records")
    key = "report.untrusted_caption" if len(shown) == len(rows) else "report.untrusted_caption_cut"
    return Table.of("sweep.untrusted", shown, told=say(key, n=len(rows), shown=len(shown)), **_labels(source))


def failed_table(source: Source) -> Table | None:
    """The trials that failed, timed out or were killed; None if there are none."""
    rows = source.failed
    if rows.empty:
        return None
    error = rows["error"].fillna("") if "error" in rows else ""
    what = rows[["status", "trial"]].assign(level=rows[source.knob], error=error).astype(str)
    alike = what.groupby(["level", "status", "error"], sort=False)["trial"]
    named = alike.agg(count="size", numbers=lambda trials: listing([*trials])).reset_index()
    counts = {"n": len(rows), "all": len(source.trials)}
    return Table.of("sweep.failures", named.to_dict("records"), **counts, **_labels(source))


def attempts_table(source: Source) -> Table:
    """What became of the trials of each level, where nothing could be fitted."""
    trials = source.trials
    ended = is_well(trials)
    values = numbers(trials, source.response).where(ended)
    what = pd.DataFrame({"level": trials[source.knob].astype(str), "ended": ended, "value": values})
    levels = what.groupby("level", sort=False)
    rows = levels.agg(all=("ended", "size"), ended=("ended", "sum"), median=("value", "median"))
    label, counts = axis_label(source.response), {"n": len(trials), "ok": int(ended.sum())}
    named = rows.reset_index().to_dict("records")
    return Table.of("sweep.attempts", named, "treatments", **_labels(source), label=label, **counts)


def provenance_table(source: Source) -> Table | None:
    """The circumstances of the run; None for a plain table."""
    if not source.provenance:
        return None
    facts: dict[str, Any] = {"run_id": source.run_id, **source.provenance}
    shown = [key for key in PROVENANCE_FACTS if facts.get(key) is not None]
    rows = [(say(f"provenance.{key}"), _fact(key, facts[key])) for key in shown]
    host, when = (str(facts.get(name, NOT_KNOWN)) for name in ("host", "recorded_at"))
    caption = say("report.provenance_caption", host=host, when=date_and_time(when, spoken()))
    heads = [say("report.circumstance"), say("report.value")]
    return Table(pd.DataFrame(rows, columns=heads), caption, id="provenance", paired=True)


def _fact(key: str, value: Any) -> str:
    if key == "notebook":
        state = {None: "not_committed", True: "changed", False: "as_committed"}[value["differs"]]
        return f"{value['path']}, {say(f'provenance.{state}')}, SHA-256 {value['sha256'][:12]}"
    if isinstance(value, bool):
        return say("report.yes" if value else "report.no")
    if key == "recorded_at":
        return date_and_time(str(value), spoken())
    if key == "memory_bytes":
        return f"{value / 2**30:,.1f} GiB"
    if key.startswith("disk_") and key.endswith("_bytes"):
        return size_text(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
