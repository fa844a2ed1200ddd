"""A study from one line: hyperfine's words for parameters become the text of a study file.

The words and their meaning are those of hyperfine 1.19 (`-P`, `-D`, `-L`, `--prepare`, `--setup`,
`--shell`, ...); a range of levels, limits and the response are not hyperfine's. The text is a study
file like any other: whatever it asks for is measured and analysed the one way there is.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from deadzone.errors import StudyError, did_you_mean, refused
from deadzone.study.base import COLUMN_PATTERN
from deadzone.study.claim_sentences import parse_claim
from deadzone.study.coresident_specs import coresident_of, limits_of_belongs
from deadzone.study.levels import (
    NAME,
    Level,
    chosen_levels,
    placeholders,
    plain_number,
    range_levels,
)
from deadzone.study.loading import dump_value, read_yaml
from deadzone.study.quantity import parse_size
from deadzone.study.scales import Place

FOR_A_SHELL = re.compile(r"(?:^|\s)(\|\|?|&&?|;|\d?>>?(?:&\d)?|<<?<?)(?=\s|$)|(\$\(|`)")
"""What means something to a shell and nothing to the program that it would be handed to."""

RANGE = re.compile(r"(-?[\d.]+?)\.\.(-?[\d.]+)")

ESCAPABLE = re.compile(r"\{\{|\}\}|\{[a-z][a-z0-9_]*\}|(?<!\$)\{[A-Z][A-Za-z0-9_]*\}|\{|\}")
"""Braces of a command; only `{name}` is a placeholder, all others are the program's own, such as
those of `${HOME}`."""

QUOTED, NEXT_COMMAND = re.compile(r"'[^']*'|\"[^\"]*\"|\\."), re.compile(r"\S;(?=\s|$)")
"""Outside of what is quoted, a semicolon at the end of a word begins another command."""

FIRST_LEVELS = re.compile(r"[\d.]+")
"""Where a program stands, this is a level: of `-L n 1 2 4` the option takes the first alone."""

OF_A_SHELL = {
    ".", "alias", "cd", "eval", "exec", "export", "for", "if", "set", "source", "ulimit", "umask",
    "unset", "wait", "while",
}  # fmt: skip
"""Commands that a shell does itself; most are no program, and none would change anything."""

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*\s")
"""Begins a line that sets a variable for a program, which a shell alone understands."""


@dataclass(frozen=True)
class SweepOptions:
    """What one line asks for. Texts are as typed.

    command: program and arguments, or one text. lists: levels by name, with commas between or a
    range `1..32`. scans: name, first and last level, with their steps. limits: levels of cpu_limit
    and memory_limit by name. shell: that runs the command, None for none. sentences: claims. role:
    of the first parameter. at: where single levels of it lie. cwd: working folder as the study file
    has to name it, None for the file's own.
    """

    command: tuple[str, ...]
    lists: Sequence[tuple[str, str]] = ()
    scans: Sequence[tuple[str, str, str]] = ()
    steps: Sequence[str] = ()
    limits: Mapping[str, str] = field(default_factory=dict)
    shell: str | None = None
    setup: str | None = None
    prepare: str | None = None
    cleanup: str | None = None
    ignore_failure: bool = False
    name: str | None = None
    replicates: int = 5
    warmup: int = 1
    timeout_s: float | None = None
    foreign_cpu: float | None = None
    response: str | None = None
    output: str | None = None
    goal: str | None = None
    belongs: Sequence[str] = ()
    adaptive: bool = False
    resolution: float | None = None
    budget: str | None = None
    sentences: Sequence[str] = ()
    role: str | None = None
    at: Mapping[str, Place] = field(default_factory=dict)


def study_text(
    sweep_options: SweepOptions, line: str, cores: int, cwd: str | None = None, path: str = ""
) -> str:
    """The study file, with comments. line: the command line that it does the same as. cores: of
    this machine. path: that it is written to.

    Raises StudyError for what cannot be meant, in one sentence.
    """
    factors = _factors(sweep_options, cores)
    argv = _argv(sweep_options)
    _check_names(argv, factors, sweep_options)
    name = slug(sweep_options.name or "-".join([_program(sweep_options), *factors]))
    responses, response = _response(sweep_options)
    setup, prepare = _preparations(sweep_options)
    resolution = sweep_options.resolution
    is_adaptive = sweep_options.adaptive or resolution is not None
    design = {
        "kind": "adaptive" if is_adaptive else None,
        "replicates": sweep_options.replicates,
        "warmup": sweep_options.warmup,
        "timeout_s": sweep_options.timeout_s,
        "budget_s": sweep_options.budget,
        "until": None if resolution is None else {"resolution": resolution},
    }
    question = f"Which {' and '.join(factors)} should {_program(sweep_options)} get?"
    workload = {
        "argv": argv,
        "setup": setup,
        "prepare": prepare,
        "cleanup": _unmeasured(sweep_options.cleanup),
        "cwd": cwd,
        "expected_exit_codes": sweep_options.ignore_failure and "any",
        "output": sweep_options.output,
        "responses": responses,
    }
    belongs = [coresident_of(text) for text in sweep_options.belongs]
    claims = [parse_claim(text).stated() for text in sweep_options.sentences]
    most = sweep_options.foreign_cpu
    return "".join(
        f"{text}\n"
        for text in (
            f"# Does the same as: {line}",
            f"# Measure it and publish the report with: deadzone run {shlex.quote(path)}",
            *_entries({"study": name, "title": sweep_options.name, "question": question}),
            "workload:",
            "  # {name} is the level of a factor; {scratch} would be an empty folder in each "
            "trial.",
            "  kind: command",
            *_entries(workload, "  "),
            "# A factor is a list of levels, or {from: 1, to: 8, step: 1}.",
            "factors:",
            *_entries(_written(sweep_options, factors), "  "),
            *_entries({"belongs": belongs}),
            "# Replicates: measured trials of each treatment; warm-up trials are recorded and not "
            "analysed.",
            *_entries({"design": {key: v for key, v in design.items() if v is not None}}),
            *_entries({"trust": most and {"max_foreign_cpu": most}}),
            "# What is judged: a column of the trials, its unit, and whether min or max is better.",
            *_entries({"response": response}),
            *(("# What is believed, judged by the run.", "claims:") if claims else ()),
            *(f"  - {dump_value(claim)}" for claim in claims),
        )
    )


def _entries(values: Mapping[str, Any], indent: str = "") -> list[str]:
    """Lines of a study, one a key that has a value."""
    return [f"{indent}{key}: {dump_value(value)}" for key, value in values.items() if value]


TYPED = {
    "workload.argv": "the command",
    "workload.setup": "--setup",
    "workload.prepare": "--prepare",
    "workload.cleanup": "--cleanup",
    "workload.output": "--output",
    "workload.responses": "--response",
    "response.name": "--response",
    "design.replicates": "-r",
    "design.warmup": "-w",
    "design.timeout_s": "--timeout",
    "design.budget_s": "--budget",
    "design.until.resolution": "--resolution",
    "trust.max_foreign_cpu": "--foreign-cpu",
    "belongs": "--belongs",
    "claims": "--claim",
}
"""The option of `deadzone try` behind a key of the study."""


def as_typed(problem: str) -> str:
    """What is wrong with the study, said of the options that it was made of."""
    for key, option in TYPED.items():
        problem = re.sub(rf"^{re.escape(key)}\b\S*", option, problem, flags=re.MULTILINE)
    return re.sub(r"^factors\.", "the parameter ", problem, flags=re.MULTILINE)


def _factors(sweep_options: SweepOptions, cores: int) -> dict[str, tuple[Level, ...]]:
    """The levels of each factor, in the order of the options: limits, ranges of steps, lists."""
    factors: dict[str, tuple[Level, ...]] = {}
    lists = sweep_options.lists
    for i, (name, start, stop) in enumerate(sweep_options.scans):
        step = sweep_options.steps[i] if i < len(sweep_options.steps) else "1"
        with refused(f"-P {name} {start} {stop} -D {step}: "):
            factors[name] = range_levels(*(_number(text) for text in (start, stop, step)))
    if len(sweep_options.steps) > len(sweep_options.scans):
        raise StudyError(
            f"-D {sweep_options.steps[-1]} is the step of no -P: write -P NAME FIRST LAST -D STEP."
        )
    for name, text in (*sweep_options.limits.items(), *lists):
        if name in factors:
            raise StudyError(f"{name} is given twice; give all its levels in one option.")
        factors[name] = levels_in(name, text, cores)
    for name in factors:
        if not NAME.fullmatch(name):
            known, equals, given = name.partition("=")
            raise StudyError(
                f"Levels stand apart from the name: write -L {known} {given}."
                if equals
                else f"{name!r} cannot be the name of a parameter: write letters, digits and _."
            )
    if lists and FIRST_LEVELS.fullmatch(sweep_options.command[0]):
        name, first = lists[-1]
        levels = [first, *takewhile(FIRST_LEVELS.fullmatch, sweep_options.command)]
        raise StudyError(
            f"Levels have commas between: write -L {name} {','.join(levels)}, and -- before the "
            "command."
        )
    if not factors:
        raise StudyError(
            "Nothing is varied: give levels with -L threads 1,2,4, -P threads 1 8, or --cpu-limit "
            "0.5..2."
        )
    return factors


def _written(
    sweep_options: SweepOptions, factors: Mapping[str, tuple[Level, ...]]
) -> dict[str, Any]:
    """The factors as a study has them: lists of levels, of the first with what is said of it."""
    first_has = {"role": sweep_options.role, "at": dict(sweep_options.at)}
    said = {key: value for key, value in first_has.items() if value}
    written: dict[str, Any] = {name: list(levels) for name, levels in factors.items()}
    if said:
        several = (name for name, levels in factors.items() if len(levels) > 1)
        first = next(several, next(iter(factors)))
        written[first] = {"levels": written[first], **said}
    return written


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no number") from error


def levels_in(name: str, text: str, cores: int) -> tuple[Level, ...]:
    """Levels as they are typed, with commas between or as a range. Raises StudyError for other
    texts."""
    with refused(f"{name} {text}: "):
        if name == "memory_limit" and ".." in text:
            return _sizes(text, cores)
        if match := RANGE.fullmatch(text.strip()):
            start, stop = (plain_number(float(end)) for end in match.groups())
            whole = name != "cpu_limit" and not any("." in end for end in match.groups())
            return chosen_levels(start, stop, whole, cores)
    parts = [part.strip().replace("\\,", ",") for part in re.split(r"(?<!\\),", text)]
    if not all(parts):
        raise StudyError(
            f"{name} {text!r}: a level is empty; write levels with commas between, such as 1,2,4."
        )
    if re.fullmatch(r"\d+-\d+", text):
        raise StudyError(
            f"{name} {text} is one level, a word: write a range as {text.replace('-', '..')}."
        )
    if re.fullmatch(r"[\d.]+(\s+[\d.]+)+", text.strip()):
        raise StudyError(
            f"{name} {text!r} is one level, a word: write {','.join(text.split())}, with commas."
        )
    number = re.compile(r"-?[\d.]+(e[+-]?\d+)?")
    return tuple(read_yaml(part, name) if number.fullmatch(part) else part for part in parts)


def _sizes(text: str, cores: int) -> tuple[Level, ...]:
    """Levels of a range of sizes, in whole MiB where its ends are."""
    ends = [parse_size(end) for end in text.split("..", 1)]
    unit = 1 if any(end % 2**20 for end in ends) else 2**20
    levels = chosen_levels(ends[0] // unit, ends[1] // unit, True, cores)
    return tuple(int(level) * unit for level in levels)


def _argv(sweep_options: SweepOptions) -> list[str]:
    """The program and its arguments as a study has them."""
    command = sweep_options.command
    whole = " ".join(command)
    if sweep_options.shell:
        return [*shlex.split(sweep_options.shell), "-c", _escaped(whole)]
    parts, symbol = command, next((part for part in command if FOR_A_SHELL.fullmatch(part)), "")
    if len(command) == 1:
        parts, symbol = tuple(_split(whole)), _for_a_shell(whole)
    if ASSIGNMENT.match(whole):
        raise StudyError(f"To set a variable write `env {whole}`, or add --shell sh before --.")
    if symbol:
        raise StudyError(
            f"{symbol!r} in the command means something to a shell only: add --shell sh before --."
        )
    if parts and parts[0] in OF_A_SHELL:
        raise StudyError(
            f"{parts[0]!r} is a command of the shell and no program: add --shell sh before --."
        )
    return [_escaped(part) for part in parts]


def _for_a_shell(text: str) -> str:
    """What of a line means something to a shell only; empty where nothing does."""
    if mark := FOR_A_SHELL.search(text):
        return mark.group(0).strip()
    return ";" if NEXT_COMMAND.search(QUOTED.sub("", text)) else ""


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise StudyError(f"The command {text!r} cannot be read: {str(error).lower()}.") from error


def _escaped(text: str) -> str:
    """The text with the program's own braces doubled, as a study writes them."""
    return ESCAPABLE.sub(lambda match: match[0] * 2 if match[0] in "{}" else match[0], text)


def _preparations(sweep_options: SweepOptions) -> tuple[list[str] | None, list[str] | None]:
    """What runs once before the sweep, and before each trial.

    A setup that names a parameter is another one for each of its levels, so in a sweep of mixed
    order it belongs before each trial.
    """
    setup, prepare = sweep_options.setup, sweep_options.prepare
    if setup and placeholders(_escaped(setup)):
        setup, prepare = None, f"{setup} && {prepare}" if prepare else setup
    return _unmeasured(setup), _unmeasured(prepare)


def _unmeasured(text: str | None) -> list[str] | None:
    """A command that is not measured, and so may be a line for a shell; None where there is
    none."""
    if not text:
        return None
    if _for_a_shell(text) or ASSIGNMENT.match(text) or "$" in text:
        return ["sh", "-c", _escaped(text)]
    return [_escaped(part) for part in _split(text)]


def _check_names(
    argv: Sequence[str], factors: Mapping[str, Any], sweep_options: SweepOptions
) -> None:
    """Every `{name}` has an option, and every option stands somewhere."""
    before = (sweep_options.setup, sweep_options.prepare)
    lines = [*argv, *(_escaped(text) for text in before if text)]
    used = dict.fromkeys(name for text in lines for name in placeholders(text))
    limits = {*sweep_options.limits, *limits_of_belongs(sweep_options.belongs)}
    for name in used:
        if name not in factors and name not in ("scratch", "inputs"):
            raise StudyError(
                f"{{{name}}} stands in the command, and no option gives its levels: add -L {name} "
                "1,2,4, or double the braces if they are the program's "
                f"own.{did_you_mean(name, factors)}"
            )
    for name in factors:
        if name not in used and name not in limits:
            raise StudyError(
                f"The parameter {name} stands nowhere in the command: write {{{name}}} where its "
                f"level belongs.{did_you_mean(name, used)}"
            )


def _response(sweep_options: SweepOptions) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """How the response is read from what the program prints, and which it is.

    A text that is the name of a column is that column; any other is a regular expression whose
    first group is the number.
    """
    text, goal = sweep_options.response, sweep_options.goal or "min"
    if text is None:
        return None, {"name": "wall_s", "unit": "s", "goal": goal}
    if re.match(COLUMN_PATTERN, text):
        return None, {"name": text, "unit": None, "goal": goal}
    words = re.findall(r"[A-Za-z][A-Za-z0-9_]*", re.sub(r"\(.*|\\.", " ", text, flags=re.DOTALL))
    name = "_".join(words[-3:]).lower().strip("_") or "result"
    return {name: {"regex": text, "stream": "both"}}, {"name": name, "unit": None, "goal": goal}


def _program(sweep_options: SweepOptions) -> str:
    words = sweep_options.command[0].split() or [""]
    return words[0].rsplit("/", 1)[-1]


def slug(text: str) -> str:
    """The text as the name of a study."""
    plain = re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-._")
    return plain[:64].rstrip("-._") or "try"
