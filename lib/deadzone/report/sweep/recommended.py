"""The setting that a run recommends: every factor's level, the CPU that its trials used, and the
command that puts it in force outside a cluster: the study's own, with the setting filled in, under
the limit that was swept."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from deadzone import packs
from deadzone.analysis.records import plain
from deadzone.errors import DeadzoneError, TableError, option
from deadzone.language.formats import exact
from deadzone.language.messages import _
from deadzone.report.document.display import Block, CommandBlock
from deadzone.report.sweep.analysis import Analysis, Source
from deadzone.store.run import RunFolder
from deadzone.store.table import rows_at
from deadzone.study.levels import AUTO, NONE, Level, fill, placed, placeholders
from deadzone.study.masking import masked_line
from deadzone.study.service_specs import PYTHON
from deadzone.study.spec import Study
from deadzone.study.target_specs import LOCAL
from deadzone.study.workload_specs import (
    CommandWorkloadSpec,
    FfmpegWorkloadSpec,
    PythonWorkloadSpec,
)

REQUEST_PERCENTILES = (50, 90)
"""A request at the median is exceeded half of the time, and one at the 90th percentile seldom: the
range to choose from."""

TRIAL = ["trial", "attempt"]
"""Columns that tell whose a reading is."""

STILL_USED_CORES = 1e-9
"""Guards against a division of a reading by no time at all."""


@dataclass(frozen=True)
class Usage:
    """CPU that the container used while it worked, as quantiles over time.

    cores: by percentile. n_trials: how many trials they rest on.
    sampled: True from readings during the trials, False from each trial's mean, which hides its
    peaks.
    """

    cores: dict[int, float]
    n_trials: int
    sampled: bool


def recommended_levels(analysis: Analysis) -> dict[str, Level]:
    """Every factor's level in the recommended treatment: the knob's, and what the trials at that
    setting ran with.

    Raises TableError if nothing is recommended, or the setting leaves another factor open.
    """
    source, advice = analysis.source, analysis.advice
    if advice is None or advice.setting is None or source.study is None:
        raise TableError(
            f"{source.name}: this run recommends no setting, so there is nothing to apply."
        )
    chosen = (
        advice.setting if isinstance(advice.setting, Mapping) else {source.knob: advice.setting}
    )
    trials = rows_at(source.analysed, chosen)
    return {
        name: chosen[name] if name in chosen else _only(source.name, name, trials)
        for name in source.study.factor_names()
    }


def patch(analysis: Analysis, *, as_json: bool = False, **where: str | None) -> str:
    """The patch that applies the setting in a cluster, with what is to be known of it as comments,
    or as JSON alone. where: workload (KIND/NAME), container, namespace; by default those swept.

    Raises TableError if nothing is recommended, or no container is known.
    """
    levels = recommended_levels(analysis)
    used = usage(analysis.source, levels)
    said: str = packs.part(lambda pack: pack.manifest)(
        analysis, levels, used, **where, as_json=as_json
    )
    return said


def usage(source: Source, levels: Mapping[str, Level]) -> Usage:
    """CPU used by the analysed trials of a run in a treatment.

    Raises TableError if the run holds no trial of the treatment.
    """
    assert source.folder is not None
    run, trials = RunFolder(source.folder), rows_at(source.analysed, levels)
    if trials.empty:
        raise TableError(f"Run {run.run_id} holds no trusted trial of the recommended setting.")
    series = run.telemetry().set_index(TRIAL)
    wanted = series.index.isin(pd.MultiIndex.from_frame(trials[TRIAL])) & (
        series["metric"] == "cpu_usage_s"
    )
    cores, seconds = _rates(series[wanted])
    is_sampled = len(cores) > 0
    shares = [percentile / 100 for percentile in REQUEST_PERCENTILES]
    if is_sampled:
        quantiles = np.quantile(cores, shares, weights=seconds, method="inverted_cdf")
    else:
        quantiles = np.quantile(trials["cpu_efficiency"].to_numpy(float), shares)
    used = map(float, quantiles)
    return Usage(dict(zip(REQUEST_PERCENTILES, used, strict=True)), len(trials), is_sampled)


def _only(study: str, factor: str, trials: pd.DataFrame) -> Level:
    values = list(dict.fromkeys(trials[factor]))
    if len(values) != 1:
        raise TableError(
            f"{study}: trials at the recommended setting ran with {len(values)} levels of "
            f"{factor}; analyse the run by that factor first: {option('by', factor)}."
        )
    level: Level = plain(values[0], whole=True)
    return level


def _rates(readings: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Cores used between two readings of a trial, and the seconds between them; shape (readings,)
    each."""
    columns = ["t_s", "value"]
    before = readings.groupby(TRIAL)[columns].shift(fill_value=0.0)
    took, used = (readings[columns] - before).to_numpy(float).T
    kept = took > STILL_USED_CORES
    return used[kept] / took[kept], took[kept]


LIMITS = {"cpu_limit": "CPUQuota={percent}%", "memory_limit": "MemoryMax={exactly}"}
"""Properties of a systemd unit, which writes them into cpu.max and memory.max of its control
group."""

UPDATES = {"cpu_limit": "--cpus={level}", "memory_limit": "--memory={exactly}"}
"""Options of `docker update`, which podman knows as well."""


def applied(analysis: Analysis) -> list[Block]:
    """The command as a block of a report; nothing where no setting is recommended, or no command
    takes it."""
    study = analysis.source.study
    if study is None or analysis.stopped:
        return []
    try:
        levels = recommended_levels(analysis)
    except DeadzoneError:
        return []
    lines = tuple(map(masked_line, commands(study, levels)))
    return [CommandBlock(lines, _("Apply it"))] if lines else []


def commands(study: Study, levels: Mapping[str, Level]) -> Iterator[str]:
    """The lines that put a setting of a study in force.

    levels: of every factor. Placeholders of folders and ports stay, as their values are the user's.
    """
    service = study.service
    if service and service.hook and placed(service.hook) & {*levels}:
        yield shlex.join(_filled(service.hook, levels))
        return
    command = _command(study, levels)
    limits = _limits(levels, LIMITS) if study.target.kind == LOCAL else []
    if limits:
        properties = [part for limit in limits for part in ("-p", limit)]
        yield " ".join([shlex.join(["systemd-run", "--scope", *properties]), command or "COMMAND"])
    # a command that no level of a factor changes sets nothing
    elif command and command != _command(study, dict.fromkeys(levels, NONE)):
        yield command
    engine = getattr(study.target, "engine", None)  # of a target that is a container
    if engine and (options := _limits(levels, UPDATES)):
        yield " ".join(["docker" if engine == AUTO else engine, "update", *options, "CONTAINER"])


def _command(study: Study, levels: Mapping[str, Level]) -> str:
    """What the study executes, as a shell takes it; empty where it is no command of the user's."""
    workload, service = study.workload, study.service
    if service and service.argv:
        return _line(service.env, service.argv, levels)
    match workload:
        case CommandWorkloadSpec():
            return _line(workload.env, workload.argv, levels)
        case FfmpegWorkloadSpec():
            threads = levels.get("threads", AUTO)
            chosen = [] if threads in (AUTO, NONE) else ["-threads", str(threads)]
            return shlex.join(["ffmpeg", *chosen, "-i", "INPUT"])
        case PythonWorkloadSpec():
            given = ", ".join(f"{name}={level!r}" for name, level in levels.items())
            return f"{workload.function}({given})"
    return ""


def _line(env: Mapping[str, str], argv: Sequence[str], levels: Mapping[str, Level]) -> str:
    variables = [
        f"{name}={shlex.quote(*_filled([template], levels))}"
        for name, template in env.items()
        if {*placeholders(template)} & {*levels}  # those that a factor sets
    ]
    return " ".join([*variables, shlex.join(_filled(argv, levels))])


def _filled(templates: Sequence[str], levels: Mapping[str, Level]) -> list[str]:
    """Templates with the levels of factors in them; other placeholders stay as they are."""
    values = {name: f"{{{name}}}" for name in placed(templates)} | {PYTHON: "python3", **levels}
    return [fill(template, values) for template in templates]


def _limits(levels: Mapping[str, Level], forms: Mapping[str, str]) -> list[str]:
    """The limits among the levels, each in its form; none for one that is lifted."""
    return [
        form.format(level=level, exactly=_plain(level), percent=_plain(100 * level))
        for factor, form in forms.items()
        if isinstance(level := levels.get(factor), int | float)
    ]


def _plain(level: float) -> str:
    """A number as a command takes it."""
    return exact(level).replace(",", "")
