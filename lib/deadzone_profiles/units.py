"""Units of profiles: their sizes, and how amounts are written for people."""

from deadzone.language.messages import pgettext

TIME = {
    name: 1000**power
    for power, names in enumerate(
        (("nanoseconds", "ns"), ("microseconds", "us"), ("milliseconds", "ms"), ("seconds", "s"))
    )
    for name in names
}
"""Nanoseconds of each unit of time that profilers write."""

SPACE = {
    name: 1024**power
    for power, names in enumerate(
        (
            ("bytes", "B"),
            ("kilobytes", "kB", "KiB"),
            ("megabytes", "MB", "MiB"),
            ("gigabytes", "GiB"),
        )
    )
    for name in names
}
"""Bytes of each unit of space; in profiles a kilobyte is 1,024 bytes."""

TIME_STEPS = (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))
SPACE_STEPS = (("B", 1.0), ("KiB", 1024.0), ("MiB", 1024.0**2), ("GiB", 1024.0**3))


def readable(amount: float, unit: str, signed: bool = False, scale_of: float | None = None) -> str:
    """An amount for people: `1.05 s`, `-222.4 MiB`, `9,516`.

    unit: of the profile; a part after a space, such as `per stream`, is kept.
    scale_of: the amount whose size chooses the unit, so that a column has one unit.
    """
    base, _, rest = unit.partition(" ")
    sign = "+" if signed else "-"
    number, symbol = _scaled(amount, base, abs(amount if scale_of is None else scale_of))
    # One to three decimals are shown, and none from 1,000 on.
    is_whole = float(number).is_integer() and not symbol
    digits = 0 if is_whole else sum(abs(number) < bound for bound in (1, 100, 1000))
    text = f"{number:{sign},.{digits}f}" if number else "0"
    load = (
        pgettext("axis", "per {load}", load=rest.removeprefix("per "))
        if rest.startswith("per ")
        else rest
    )
    return " ".join(part for part in (text, symbol, load) if part).replace(" /", "/")


def _scaled(amount: float, base: str, size: float) -> tuple[float, str]:
    for family, steps in ((TIME, TIME_STEPS), (SPACE, SPACE_STEPS)):
        if base in family:
            fitting = [step for step in steps if size * family[base] >= step[1]]
            symbol, factor = fitting[-1] if fitting else steps[0]
            return amount * family[base] / factor, symbol
    return amount, "" if base == "count" else base
