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

A text that begins with a brace is the claim as YAML. Other factors follow as `given cpu_limit 4`. A
bound may carry a unit of the same kind as its column's; where the column has a unit, a bound needs
one.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

from pydantic import ValidationError

from deadzone.errors import StudyError, refused
from deadzone.study.claims import Cause, ClaimSpec
from deadzone.study.levels import Level, read_level
from deadzone.study.loading import read_yaml
from deadzone.study.objective_specs import in_unit_of

KNOB = r"(?:(?:from|level) |(?P<knob>\w+) )?"
SETTING = r"(\w+) ([\w.]+)"
NUMBER = r"[\d.]+(?:e[-+]?\d+)?"
CAUSES = "|".join(get_args(Cause)).replace("_", "[ _]")

FORMS = {
    "better": rf"(?P<at>{SETTING})(?: at least (?P<by_at_least>{NUMBER}) ?x?(?: times)?)? "
    rf"(?:faster|better) than (?P<than>{SETTING})",
    "same": rf"(?P<at>{SETTING}) within (?P<within>{NUMBER}) ?% of (?P<as>{SETTING})",
    "best": rf"(?P<best>{SETTING}) is best",
    "nothing_to_gain_beyond": rf"nothing to gain beyond {KNOB}(?P<nothing_to_gain_beyond>[\w.]+)",
    "phase": rf"{KNOB}(?P<from>[\w.]+) to (?P<to>[\w.]+) is (?:an? )?(?P<is>linear|dead[ "
    r"_]zone|breakthrough|plateau|reversal)",
    "scaling": rf"{KNOB}(?P<from>{NUMBER}) to (?P<to>{NUMBER}) scales by at least "
    rf"(?P<at_least>{NUMBER})",
    "why": rf"{KNOB}(?P<from>{NUMBER}) to (?P<to>{NUMBER}) is (?P<is>{CAUSES})",
    "holds": rf"(?P<response>\w+) (?P<side>at most|at least) (?P<bound>{NUMBER}) "
    rf"?(?P<unit>[a-zµ]*)(?P<there>(?: (?:at|and) {SETTING})*)",
    "not_worse": rf"(?P<response>\w+) no worse by (?P<bound>{NUMBER}) ?(?P<unit>%|[a-zµ]*) from "
    rf"(?P<from>[\w.]+) to (?P<to>[\w.]+)",
}
"""The sentence of each form; a part is named as the form's own key is, but for the bounds, whose
unit stands beside them."""


def parse_claim(made: object) -> ClaimSpec:
    """The claim that a sentence, a mapping in YAML, or a mapping makes.

    Raises StudyError if it is none, or a bound has no unit or one of another kind than its column.
    """
    text = str(made)
    if not isinstance(made, Mapping):
        with refused(""):
            made = read_yaml(text, "the claim") if text.lstrip()[:1] == "{" else _document(text)
    try:
        return ClaimSpec.model_validate(made)
    except ValidationError as error:
        problem = error.errors()[0]
        where, said = ".".join(map(str, problem["loc"])), problem["msg"]
        said = f"{where} {said.removeprefix('Value error, ')}"
        raise StudyError(f"The claim {text!r}: {said.strip()}.") from None


def _document(text: str) -> dict[str, Any]:
    """A claim as a study file has it, from a sentence. Raises StudyError if it is none."""
    statement, _, given = " ".join(text.split()).rstrip(".").partition(" given ")
    is_read = re.fullmatch(rf"(?:{SETTING}(?:,? and |, | |$))*", given)
    for form, pattern in FORMS.items() if is_read else ():
        if match := re.fullmatch(pattern, statement, re.IGNORECASE):
            read = {
                name: READ.get(name, str)(part)
                for name, part in match.groupdict().items()
                if part is not None
            }
            claim = {"says": text, "given": _settings(re.sub(r"\band ", "", given))}
            claim |= {"knob": knob} if (knob := read.pop("knob", None)) else {}
            if form == "holds":
                claim["holds"] = {read["response"]: {read["side"]: _bound(read)}}
                return {**claim, "at": read["there"] or None}
            if form == "not_worse":
                worse = {"absolute": read["unit"] != "%", "by_at_most": _bound(read)}
                claim["not_worse"] = {"response": read["response"], **worse}
                return {**claim, "from": read["from"], "to": read["to"]}
            return {**claim, form: read.get(form, read)}
    raise StudyError(
        f"The claim {text!r} cannot be read. Write for example 'threads 4 at least 2x faster than "
        "threads 1', 'nothing to gain beyond threads 4' or 'latency_p99_ms at most 20 ms at "
        "workers 8'."
    )


def _bound(read: Mapping[str, Any]) -> float:
    """The bound of a sentence: a share, or a figure in its column's unit."""
    bound, unit = read["bound"], read["unit"]
    return bound / 100 if unit == "%" else in_unit_of(read["response"], bound, unit)


def _settings(text: str) -> dict[str, Level]:
    return {factor: read_level(level) for factor, level in re.findall(SETTING, text)}


READ: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("at", "than", "as", "best"), _settings),
    **dict.fromkeys(("from", "to", "nothing_to_gain_beyond"), read_level),
    **dict.fromkeys(("by_at_least", "at_least", "bound"), float),
    **dict.fromkeys(("is", "side", "unit"), lambda text: text.lower().replace(" ", "_")),
    "within": lambda text: float(text) / 100,
    "there": lambda text: _settings(re.sub(r"\b(?:at|and) ", "", text)),
}
"""How a part of a sentence is read; a response is the text itself."""
