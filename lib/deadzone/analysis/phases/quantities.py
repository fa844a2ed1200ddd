"""Measured quantities in words: units read from column names, and as many digits as are known.

Units stand in the names of columns (`wall_s`, `latency_p99_ms`, `max_rss_bytes`), so a sentence or
an axis can carry them without being told.
"""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from deadzone.language.formats import exact
from deadzone.language.formats import number as number
from deadzone.language.formats import percent as percent_text
from deadzone.language.formats import probability as probability_text
from deadzone.language.messages import _, join, say, spoken
from deadzone.language.words import COLUMNS, UNITS
from deadzone.study.direction import rate_unit
from deadzone.study.quantity import SECONDS
from deadzone.study.quantity import UNITS as BYTES
from deadzone.study.scales import NO_LIMIT

_UNITS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
KNOB_UNITS: dict[str, str] = _UNITS["knobs"]
SUFFIX_UNITS: dict[str, str] = _UNITS["endings"]
DECIMAL_UNITS = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"))
BRACKETS = re.compile(
    r"(?:(?<=[Tt]ime)|(?<=[Ll]atency)|(?<=\s)|(?!\(s\)))"
    rf"[(\[]({'|'.join(sorted({*SECONDS, *BYTES} - {'min'}))}|%|[A-Za-z]+/s(?:ec)?)[)\]]$"
)
"""A unit behind a name: `Time(s)`, `Mean [ms]`. But `thread(s)` is a plural, `latency (min)` the
least."""
BINARY_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def unit_of(column: str) -> str:
    """The unit that a column's name carries, or an empty string where it names none.

    A product of columns (`cpu_limit * wall_s`) has the product of their units.
    """
    if "*" in column:
        units = [
            unit_of(part.strip()) if part.strip().isidentifier() else ""
            for part in column.split("*")
        ]
        return "·".join(units) if all(units) else ""
    if named := BRACKETS.search(column):
        return named[1]
    if not column.isidentifier():
        return rate_unit(column)
    return KNOB_UNITS[column] if column in KNOB_UNITS else _ending(column)[1]


def _ending(column: str) -> tuple[str, str]:
    """The ending of a column's name that is its unit, and the unit; both empty without one."""
    ending = next((one for one in SUFFIX_UNITS if column.endswith(one)), "")
    if ending == "_s" and (unit := rate_unit(column)):
        return unit.replace("/", "_"), unit
    return ending, SUFFIX_UNITS.get(ending, "") or rate_unit(column)


def plain_name(column: str) -> str:
    """A column's name without its unit, in words: `wall_s` becomes `wall time`, `latency_p99_ms`
    `latency p99`."""
    if "*" in column:
        return " * ".join(plain_name(part.strip()) for part in column.split("*"))
    if column in COLUMNS:
        return say(COLUMNS[column])
    suffix = "" if column in KNOB_UNITS else _ending(column)[0]
    suffix = "" if suffix.endswith("_limit") else suffix  # whose word it is
    bare = column.removesuffix(suffix)
    return (bare if bare.isupper() else bare.replace("_", " ").strip()) or column


def axis_label(column: str, largest: float = 0, of_cells: str = "") -> str:
    """A column as an axis label: its name in words and its unit in parentheses, that of its largest
    value where that is said. of_cells: the unit of its cells."""
    unit, name = unit_for(column, largest, of_cells)[1], plain_name(column)
    if not unit or {*unit.split("·")} <= {*name.split()}:
        return name
    return _("{name} ({unit})", name=BRACKETS.sub("", name).strip(), unit=unit)


def unit_name(column: str, n: float | None = None) -> str:
    """The unit of a column as a reader's language writes it; n: how many there are, for `1
    core`."""
    return "·".join(
        (say(UNITS[unit], n=n) if unit in UNITS else unit) for unit in unit_of(column).split("·")
    )


def level_number(value: float, column: str) -> str:
    """A level of a knob as a reader would type it: exact, and in KiB or MiB where it counts
    bytes."""
    if unit_of(column) == "bytes":
        for size, name in BINARY_UNITS:
            if value >= size and value % size == 0:
                return f"{exact(value / size)} {name}"
    return exact(value).replace(",", "")


def setting(value: float | str, column: str) -> str:
    """A setting in words: `12 cores`, `pool size 32`, `64 KiB`, `no limit`, `tool gzip`.

    `none` lifts a limit only of an amount: `codec none` is a choice like others.
    """
    if value in NO_LIMIT and (unit_of(column) or column.endswith("_limit")):
        return _("no limit")
    if isinstance(value, str):
        return _("{name} {value}", name=plain_name(column), value=value)
    text = level_number(value, column)
    if not unit_of(column):
        return _("{name} {value}", name=plain_name(column), value=text)
    return (
        _("{value} {unit}", value=text, unit=unit_name(column, value))
        if text[-1].isdigit()
        else text
    )


def unit_for(column: str, largest: float, of_cells: str = "") -> tuple[float, str]:
    """How many of a column's unit make the one that its values are said in, and that unit: GB/s for
    bytes/s. of_cells: the unit of its cells, before that in its name."""
    if (of_cells or unit_of(column)) in ("bytes/s", "B/s"):
        for size, name in DECIMAL_UNITS:
            if abs(largest) >= size:
                return size, name
    return 1.0, of_cells or unit_name(column)


def exact_response(value: float, column: str, unit: str = "") -> str:
    """What a response is held to, every digit of it, with its unit: `5 GB/s`. unit: of its
    cells."""
    size, unit = unit_for(column, value, unit)
    return f"{exact(value / size)} {unit}".strip()


def response(value: float, column: str, uncertainty: float | None = None, unit: str = "") -> str:
    """A response in words, with its unit: `3.48 s`; two digits of it at the least. unit: of its
    cells."""
    size, unit = unit_for(column, value, unit)
    doubt = uncertainty and min(uncertainty, abs(value) or uncertainty) / size
    return f"{number(value / size, doubt)} {unit}".strip()


def percent(fraction: float) -> str:
    """A share as a percentage with a digit more below ten per cent: `2.1 %`, `14 %`."""
    return percent_text(fraction, spoken())


def probability(p: float) -> str:
    """A probability as a percentage, and as a bound near 0 and 1: `97 %`, `>99 %`."""
    return probability_text(p, spoken())


def listing(words: Sequence[str], most: int = 6) -> str:
    """Words as a list in a sentence: `a, b and c`; beyond `most` the middle is left out and
    counted."""
    if len(words) > most:
        return _(
            "{first}, ... and {last} ({n:count} in all)",
            first=join(words[: most - 2], ", "),
            last=words[-1],
            n=len(words),
        )
    if len(words) == 1:
        return words[0]
    return _("{first} and {last}", first=join(words[:-1], ", "), last=words[-1])


def capital(text: str) -> str:
    """A text as it begins a sentence."""
    return text[:1].upper() + text[1:]
