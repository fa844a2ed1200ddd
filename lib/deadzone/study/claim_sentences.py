"""Claims as sentences on a command line: `threads 4 at least 2x faster than threads 1`.

| sentence | form |
| --- | --- |
| `threads 4 [at least 2x] faster than threads 1` (or better) | better |
| `threads 6 within 3 % of threads 4` | same |
| `threads 7 is best` | best |
| `nothing to gain beyond threads 4` | nothing_to_gain_beyond |
| `threads 4 to 6 is dead zone` | phase |
| `threads 1 to 8 scales by at least 0.9` | scaling |
| `threads 6 to 8 is less work` (or cpu full, throttled, ...) | why |
| `latency_p99_ms at most 20 ms [at workers 8 and rate 600]` | holds |
| `latency_p99_ms no worse by 5 % from before to after` | not_worse |

A text that begins with a brace is the claim as YAML. Other factors follow as `given cpu_limit 4`. A bound may carry a unit
of the same kind as its column's; where the column has a unit, a bound needs one.
"""

import re
from collections.abc import Callable
from typing import Any, get_args

from pydantic import ValidationError

from deadzone.errors import StudyError, refused
from deadzone.study.bounds import in_unit_of
from deadzone.study.claims import Cause, ClaimSpec
from deadzone.study.levels import Level
from deadzone.study.loading import read_yaml

SETTING = r"(\w+) ([\w.]+)"
NUMBER = r"([\d.]+(?:e[-+]?\d+)?)"
FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], dict[str, Any]]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (
            rf"{SETTING}(?: at least {NUMBER} ?x?(?: times)?)? (?:faster|better) than {SETTING}",
            lambda m: {"better": {"at": {m[1]: _level(m[2])}, "than": {m[4]: _level(m[5])}, "by_at_least": float(m[3] or 1)}},
        ),
        (
            rf"{SETTING} within {NUMBER} ?% of {SETTING}",
            lambda m: {"same": {"at": {m[1]: _level(m[2])}, "as": {m[4]: _level(m[5])}, "within": float(m[3]) / 100}},
        ),
        (rf"{SETTING} is best", lambda m: {"best": {m[1]: _level(m[2])}}),
        (r"nothing to gain beyond (?:\w+ )?([\w.]+)", lambda m: {"nothing_to_gain_beyond": _level(m[1])}),
        (
            r"(?:\w+ )?([\w.]+) to ([\w.]+) is (?:an? )?(linear|dead[ _]zone|breakthrough|plateau|reversal)",
            lambda m: {"phase": {"from": _level(m[1]), "to": _level(m[2]), "is": m[3].lower().replace(" ", "_")}},
        ),
        (
            rf"(?:\w+ )?{NUMBER} to {NUMBER} scales by at least {NUMBER}",
            lambda m: {"scaling": {"from": float(m[1]), "to": float(m[2]), "at_least": float(m[3])}},
        ),
        (
            rf"(?:\w+ )?{NUMBER} to {NUMBER} is ({'|'.join(get_args(Cause)).replace('_', '[ _]')})",
            lambda m: {"why": {"from": float(m[1]), "to": float(m[2]), "is": m[3].lower().replace(" ", "_")}},
        ),
        (
            rf"(\w+) (at most|at least) {NUMBER} ?([a-zµ]*)((?: (?:at|and) {SETTING})*)",
            lambda m: {
                "holds": {m[1]: {m[2].lower().replace(" ", "_"): in_unit_of(m[1], float(m[3]), m[4].lower())}},
                "at": _settings(re.sub(r"\b(?:at|and) ", "", m[5])) or None,
            },
        ),
        (
            rf"(\w+) no worse by {NUMBER} ?(%|[a-zµ]*) from ([\w.]+) to ([\w.]+)",
            lambda m: {
                "not_worse": {"response": m[1], "absolute": m[3] != "%",
                              "by_at_most": float(m[2]) / 100 if m[3] == "%" else in_unit_of(m[1], float(m[2]), m[3].lower())},
                "from": _level(m[4]), "to": _level(m[5]),
            },
        ),
    )
)  # fmt: skip


def parse_claim(text: str) -> ClaimSpec:
    """The claim that a sentence, or a mapping in YAML, makes.

    Raises StudyError if it is none, or a bound has no unit or one of another kind than its column.
    """
    if text.lstrip().startswith("{"):
        return _checked(read_yaml(text, "the claim"), text)
    said, _, given = text.strip().rstrip(".").partition(" given ")
    for pattern, read in FORMS:
        if match := pattern.fullmatch(" ".join(said.split())):
            with refused(""):
                document = {"says": text, **read(match), "given": _settings(given)}
            return _checked(document, text)
    raise StudyError(
        f"The claim {text!r} cannot be read. Write for example 'threads 4 at least 2x faster than threads 1', "
        "'nothing to gain beyond threads 4' or 'latency_p99_ms at most 20 ms at workers 8'."
    )


def _checked(document: object, text: str) -> ClaimSpec:
    try:
        return ClaimSpec.model_validate(document)
    except ValidationError as error:
        problem = error.errors()[0]
        said = " ".join([".".join(map(str, problem["loc"])), problem["msg"].removeprefix("Value error, ")])
        raise StudyError(f"The claim {text!r}: {said.strip()}.") from None


def _settings(text: str) -> dict[str, Level]:
    return {factor: _level(level) for factor, level in re.findall(SETTING, text)}


def _level(text: str) -> Level:
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value
