"""The command that puts the recommended setting in force outside a cluster: the study's own, with
the setting filled in, under the limit that was swept."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from deadzone.errors import DeadzoneError
from deadzone.language.formats import exact
from deadzone.language.messages import _
from deadzone.report.document.display import Block, CommandBlock
from deadzone.report.sweep.analysis import Analysis
from deadzone.report.sweep.recommended import recommended_levels
from deadzone.study.levels import AUTO, NONE, Level, fill, placed, placeholders
from deadzone.study.masking import masked
from deadzone.study.service_specs import PYTHON
from deadzone.study.spec import Study
from deadzone.study.target_specs import LOCAL
from deadzone.study.workload_specs import (
    CommandWorkloadSpec,
    FfmpegWorkloadSpec,
    PythonWorkloadSpec,
)

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
    lines = tuple(map(masked, commands(study, levels)))
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
    elif command and _is_taken(study, levels, command):
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


def _is_taken(study: Study, levels: Mapping[str, Level], command: str) -> bool:
    """Whether a command differs by a level of a factor: else it sets nothing."""
    neutral = dict.fromkeys(levels, NONE)
    return command != _command(study, neutral)


def _line(env: Mapping[str, str], argv: Sequence[str], levels: Mapping[str, Level]) -> str:
    variables = [f"{name}={shlex.quote(text)}" for name, text in _set(env, levels)]
    return " ".join([*variables, shlex.join(_filled(argv, levels))])


def _set(env: Mapping[str, str], levels: Mapping[str, Level]) -> Iterator[tuple[str, str]]:
    """The environment variables that a factor sets."""
    for name, template in env.items():
        if {*placeholders(template)} & {*levels}:
            yield name, _filled([template], levels)[0]


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
