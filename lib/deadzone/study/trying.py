"""A study from one line: hyperfine's words for parameters become a study.

The words and their meaning are those of hyperfine 1.19 (`-P`, `-D`, `-L`, `--prepare`, `--setup`,
`--shell`, ...); a range of levels, limits and the response are not hyperfine's. What is
made is a study like any other: whatever it asks for is measured and analysed the one way there is.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from deadzone.errors import StudyError, check_known, did_you_mean, refused
from deadzone.study.base import COLUMN_PATTERN
from deadzone.study.claim_sentences import parse_claim
from deadzone.study.coresident_specs import LIMITS, CoresidentSpec, coresident_of
from deadzone.study.direction import known_goal
from deadzone.study.levels import (
    NAME,
    Level,
    chosen_levels,
    placeholders,
    plain_number,
    range_levels,
)
from deadzone.study.loading import dump_document, read_yaml
from deadzone.study.masking import MASK, masked_line
from deadzone.study.quantity import parse_size

RANGE = re.compile(r"(-?[\d.]+?)\.\.(-?[\d.]+)")

SINGLE = re.compile(rf"(?<!\$)\{{{NAME.pattern}\}}|[{{}}]")
"""Braces of a command; only `{name}` is a placeholder, all others are the program's own, such as
those of `${HOME}`."""

DOUBLED = re.compile(rf"\{{\{{|\}}\}}|{SINGLE.pattern}")
"""The same where `{{` and `}}` stand for one brace: where there are as many of both. JSON ends in
`}}` and has no `{{`."""

UNIT_IN_EXPRESSION = re.compile(r"\)(?:\\s[*+]?|\s)*([A-Za-zµ]+(?:/[A-Za-z]+| per [a-z]+)?)$")
r"""The unit behind the number of an expression, `([\d.]+) ops/s`."""

SYMBOL = re.compile(r"[|&;<>()]+|.*(\$\(|`).*", re.DOTALL)
"""A word that means something to a shell and nothing to the program that it would be handed to."""

OF_A_SHELL = re.compile(
    r"\.|alias|cd|eval|exec|export|for|if|set|source|ulimit|umask|unset|wait|while|[A-Za-z_]\w*=.*"
)
"""What a shell does itself: commands that are most often no program, and variables that are set."""


OPTIONS = (
    "scans", "steps", "lists", "cpu_limit", "memory_limit", "shell", "setup", "prepare", "cleanup",
    "ignore_failure", "name", "replicates", "warmup", "timeout_s", "foreign_cpu", "response",
    "output", "goal", "belongs", "adaptive", "resolution", "search", "budget", "sentences", "role",
    "at",
)  # fmt: skip
"""What may be asked beside the command, by the names of `deadzone try`'s options; texts are as
typed, sentences are claims, and at is where single levels of the first parameter lie."""


IN_A_LINE = {
    r", or\s+[a-z._]+\s+in\s+the\s+study": "",
    r"`?workload\.argv`?": "the command",
    r"workload\.(setup|prepare|cleanup|output)": r"--\1",
    r"(workload\.)?responses?\.(?!goal)[\w.]*\w": "--response",
    r"response\.goal": "--goal",
    r"name another in `factors`": "leave out `--search`",
    r"design\.kind is search": "--search",
    r"Set `trials` to (\d+)": r"Give `--search \1`",
    r"\s+or\s+wait\s+longer\s+\(design\.cooldown_s\)": "",
    r"design\.replicates": "--runs",
    r"design\.(until\.)?(warmup|timeout|budget|resolution)(_s)?": r"--\2",
    r"trust\.max_foreign_cpu": "--foreign-cpu",
    r"-p target\.on_change": "--on-change",
    r"(the response '\w+' has [^.]*\.) Call it otherwise, such as '\w+'": (
        r"\1 Write its words in the expression as `(?:words)`, and it is called result"
    ),
    r"factors\.(cpu|memory)_limit(\[\d+\])?": r"--\1-limit",
    r"factors\.(\w+)(\.levels)?(\[\d+\])?": r"-L \1",
    r"(claim|belongs)s?\[\d+\]": r"--\1",
}
"""What was typed where a message about a study names a key; the first that fits."""


def in_words_of_line(text: str) -> str:
    """A text about a study, with the options that were typed in place of its keys."""
    for key, option in IN_A_LINE.items():
        text = re.sub(rf"(?<![\w/.'-]){key}", option, text)
    return text


def study_of_line(command: Sequence[str], asked: Mapping[str, Any], cores: int) -> dict[str, Any]:
    """The study of one line as a document. command: program and arguments, or one text. asked: see
    OPTIONS. cores: of this machine.

    Raises StudyError for what cannot be meant, in one sentence.
    """
    asked = {name: value for name, value in asked.items() if value is not None}
    line = " ".join(command)
    if MASK in line and line == masked_line(line.replace(MASK, "x")):
        raise StudyError(f"{MASK} stands in the command in place of a secret: write the secret.")
    factors = _factors(command, asked, cores)
    argv = _argv(command, asked.get("shell", "none"))
    _check_names(argv, factors, asked)
    words = [word for word in command[0].split() if "=" not in word]  # but for variables
    program = (words or [""])[0].rsplit("/", 1)[-1]
    responses, response = _response(asked.get("response"), asked.get("goal"))
    workload = {
        "kind": "command",
        "argv": argv,
        **{key: _unmeasured(asked.get(key)) for key in ("setup", "prepare", "cleanup")},
        "expected_exit_codes": "any" if asked.get("ignore_failure") else None,
        "output": asked.get("output"),
        "responses": responses,
    }
    is_adaptive, trials = bool(asked.get("adaptive") or "resolution" in asked), asked.get("search")
    if is_adaptive and trials:
        said = "--adaptive" if asked.get("adaptive") else "--resolution"
        raise StudyError(f"A search chooses among combinations by itself: leave out `{said}`.")
    design = {
        "kind": "adaptive" if is_adaptive else "search" if trials else None,
        "trials": trials,
        **{key: asked.get(key) for key in ("replicates", "warmup", "timeout_s")},
        "budget_s": asked.get("budget"),
        "until": _given({"resolution": asked.get("resolution")}),
    }
    return _given(
        {
            "study": slug(asked.get("name") or "-".join([program, *factors])),
            "title": asked.get("name"),
            "question": f"Which {' and '.join(factors)} should {program} get?",
            "workload": _given(workload),
            "factors": _written(factors, asked),
            "belongs": [coresident_of(text) for text in asked.get("belongs", ())],
            "design": _given(design),
            "trust": _given({"max_foreign_cpu": asked.get("foreign_cpu")}),
            "target": _given({"on_change": asked.get("on_change")}),
            "response": response,
            "claims": [parse_claim(text).stated() for text in asked.get("sentences", ())],
        }
    )


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that have a value."""
    return {key: value for key, value in values.items() if value not in (None, [], {})}


def study_text(document: Mapping[str, Any], line: str, path: str) -> str:
    """A study as a file that its author goes on with. line: the command line that it does the same
    as. path: that it is written to."""
    return (
        f"# Does the same as: {line}\n"
        f"# Measure it and publish the report with: deadzone run {shlex.quote(path)}\n"
        f"{dump_document(document)}"
    )


def _factors(
    command: Sequence[str], asked: Mapping[str, Any], cores: int
) -> dict[str, tuple[Level, ...]]:
    """The levels of each factor, in the order of the options: ranges of steps, limits, lists."""
    factors: dict[str, tuple[Level, ...]] = {}
    scans, steps, lists = (asked.get(name, ()) for name in ("scans", "steps", "lists"))
    limits = [(name, asked[name]) for name in LIMITS if name in asked]
    names = [name for name, *_ in (*scans, *limits, *lists)]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise StudyError(f"{twice} is given twice; give all its levels in one `-L {twice} 1,2,4`.")
    for i, (name, start, stop) in enumerate(scans):
        step = steps[i] if i < len(steps) else "1"
        with refused(f"-P {name} {start} {stop} -D {step}: "):
            factors[name] = range_levels(*map(float, (start, stop, step)))
    if len(steps) > len(scans):
        raise StudyError(f"-D {steps[-1]} has no `-P NAME FIRST LAST`.")
    for name, text in (*limits, *lists):
        factors[name] = levels_in(name, text, cores)
    for name in factors:
        if not NAME.fullmatch(name):
            raise StudyError(
                f"{name!r} cannot be the name of a parameter: write letters, digits and _, and "
                f"levels apart from it: `-L threads 1,2,4`."
            )
    if not factors:
        raise StudyError(
            "Nothing is varied: give levels with `-L threads 1,2,4`, `-P threads 1 8`, or "
            "`--cpu-limit 0.5..2`."
        )
    return factors


def _written(factors: Mapping[str, tuple[Level, ...]], asked: Mapping[str, Any]) -> dict[str, Any]:
    """The factors as a study has them: lists of levels, of the first with what is said of it."""
    said = _given({name: asked.get(name) for name in ("role", "at")})
    written: dict[str, Any] = {name: list(levels) for name, levels in factors.items()}
    if said:
        several = (name for name, levels in factors.items() if len(levels) > 1)
        first = next(several, next(iter(factors)))
        written[first] = {"levels": written[first], **said}
    return written


def levels_in(name: str, text: str, cores: int) -> tuple[Level, ...]:
    """Levels as they are typed, with commas between or as a range. Raises StudyError for other
    texts."""
    with refused(f"{name} {text}: "):
        if name.endswith("memory_limit") and ".." in text:
            return _sizes(text, cores)
        if match := RANGE.fullmatch(text.strip()):
            start, stop = (plain_number(float(end)) for end in match.groups())
            is_whole = not any("." in end for end in match.groups())
            return chosen_levels(start, stop, is_whole and not name.endswith("cpu_limit"), cores)
    parts = [part.strip().replace("\\,", ",") for part in re.split(r"(?<!\\),", text)]
    if not all(parts):
        raise StudyError(
            f"{name} {text!r}: a level is empty; write levels with commas between, such as `1,2,4`."
        )
    if re.fullmatch(r"[\d.]+([\s-]+[\d.]+)+", text.strip()):
        raise StudyError(f"{name} {text} is one level, a word: write `1,2,4` or `1..8`.")
    end = r"[\d.]+ ?[A-Za-z]*"
    if span := next((one for one in parts if re.fullmatch(rf"{end}\.\.{end}", one)), ""):
        raise StudyError(
            f"{name} {span}: a range is of plain numbers and stands alone, such as `1..32`; write "
            "all levels, such as `64KiB,256KiB,1MiB`."
        )
    if _are_versions(parts):
        raise StudyError(
            f"{name} {text!r}: these are numbers to a sweep, and look like versions. Write the "
            "whole word as a level, such as `python3.10`."
        )
    number = r"-?[\d.]+(e[+-]?\d+)?"
    if not name.endswith(LIMITS):  # the program gets 3.10 as it was typed
        number = rf"(?!-?\d+\.\d*0$){number}"
    return tuple(read_yaml(one, name) if re.fullmatch(number, one) else one for one in parts)


def _are_versions(parts: Sequence[str]) -> bool:
    """Whether levels rise as versions do, 3.9, 3.10, 3.11, and as numbers neither rise nor fall."""
    if not all(re.fullmatch(r"[1-9]\d*\.(0|[1-9]\d*)", part) for part in parts):
        return False
    numbers = [float(part) for part in parts]
    versions = [[int(number) for number in part.split(".")] for part in parts]
    is_sorted = sorted(numbers) in (numbers, numbers[::-1])
    return versions == sorted(versions) and not is_sorted


def _sizes(text: str, cores: int) -> tuple[Level, ...]:
    """Levels of a range of sizes, in whole MiB where its ends are."""
    ends = [parse_size(end) for end in text.split("..", 1)]
    unit = 1 if any(end % 2**20 for end in ends) else 2**20
    units = chosen_levels(ends[0] // unit, ends[1] // unit, True, cores)
    return tuple(int(level) * unit for level in units)


def _argv(command: Sequence[str], shell: str) -> list[str]:
    """The program and its arguments as a study has them. shell: that runs them, `none` for none."""
    whole = " ".join(command)
    if shell != "none":
        whole = whole if len(command) == 1 else " ".join(map(_as_word, command))
        with refused(f"--shell {shell}: "):
            return [*shlex.split(shell), "-c", _escaped(whole)]
    parts = _words(whole) if len(command) == 1 else command
    words = [
        part
        for before, part in pairwise(["", *parts])
        if SYMBOL.fullmatch(part) and not (" " in part and re.fullmatch(r"-\w*c", before))
    ]  # a script, as in `bash -c '...'`, is read by its own shell
    words += [part for part in parts[:1] if OF_A_SHELL.fullmatch(part)]
    if words:
        raise StudyError(
            f"{words[0]!r} means something to a shell only: add `--shell sh` before `--`."
        )
    return [_escaped(part) for part in parts]


def _as_word(text: str) -> str:
    """A word as a shell reads it back: quoted where it has blanks or quotes."""
    return shlex.quote(text) if not text or re.search(r"[\s'\"]", text) else text


def _words(text: str) -> list[str]:
    """The words of a line as a shell parts them, its symbols as words of their own."""
    words = shlex.shlex(text, posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    try:
        return list(words)
    except ValueError as error:
        raise StudyError(f"The command {text!r} cannot be read: {str(error).lower()}.") from error


def _escaped(text: str) -> str:
    """The text with the program's own braces doubled, as a study writes them."""
    braces = DOUBLED if text.count("{{") == text.count("}}") else SINGLE
    return braces.sub(lambda match: match[0] * 2 if match[0] in "{}" else match[0], text)


def _unmeasured(text: str | None) -> list[str] | None:
    """A command that is not measured, and so may be a line for a shell; None where there is
    none."""
    if not text:
        return None
    words = _words(text)
    is_for_a_shell = any(map(SYMBOL.fullmatch, words)) or any(map(OF_A_SHELL.fullmatch, words[:1]))
    if re.search(r"[$*~]|\[.*\]", text) or is_for_a_shell:  # variables, and names of files
        return ["sh", "-c", _escaped(text)]
    return [_escaped(part) for part in words]


def _check_names(argv: Sequence[str], factors: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Every `{name}` has an option, and every option stands somewhere."""
    lines = [*argv, *(_escaped(asked.get(name, "")) for name in ("setup", "prepare"))]
    used = dict.fromkeys(name for text in lines for name in placeholders(text))
    belongs = map(coresident_of, asked.get("belongs", ()))  # checked with the study
    members = (CoresidentSpec.model_construct(**keys) for keys in belongs)
    limits = {*LIMITS} & {*asked} | {limit for member in members for limit in member.factors}
    for name in used:
        said = (
            f"{{{name}}} is in the command, but no option gives its levels: add `-L {name} 1,2,4`, "
            "or double the braces if they are the program's own"
        )
        check_known(StudyError, said, name, (*factors, "scratch", "inputs"))
    for name in factors:
        if name not in used and name not in limits:
            raise StudyError(
                f"The parameter {name} stands nowhere in the command: write `{{{name}}}` where its "
                f"level belongs.{did_you_mean(name, used)}"
            )


def _response(text: str | None, goal: str | None) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """How the response is read from what the program prints, and which it is.

    A text that is the name of a column is that column; any other is a regular expression whose
    first group is the number.
    """
    better = {"goal": goal} if goal else {}
    if text is None:
        return None, {"name": "wall_s", "unit": "s", **better}
    if re.match(COLUMN_PATTERN, text):
        return None, {"name": text, "unit": None, **better}
    plain = re.sub(r"\(.*|\\.", " ", re.sub(r"^\(\?[a-z]+\)", "", text), flags=re.DOTALL)
    words = re.findall(r"[A-Za-z][A-Za-z0-9_]*", plain)
    name = "_".join(words[-3:]).lower().strip("_") or "result"
    behind = UNIT_IN_EXPRESSION.search(text)
    unit = behind[1] if behind and known_goal(behind[1]) else None
    return {name: {"regex": text, "stream": "both"}}, {"name": name, "unit": unit, **better}


def slug(text: str) -> str:
    """The text as the name of a study."""
    plain = re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-._")
    return plain[:64].rstrip("-._") or "try"
