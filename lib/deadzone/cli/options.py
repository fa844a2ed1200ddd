"""What the options of several commands share."""

import os
from collections.abc import Callable
from functools import partial, reduce
from pathlib import Path
from typing import Any

import click

from deadzone.study.scales import MINUS_ONE, ZERO, Place
from deadzone.visible import visible

Command = Callable[..., Any]

FILE = click.Path(path_type=Path)
"""A file or folder, which need not be there yet."""

notebook_option = click.option(
    "-p",
    "parameters",
    nargs=2,
    multiple=True,
    metavar="NAME VALUE",
    help="Set a parameter of the notebook.",
)


def gone(option: str, instead: str, variable: str = "", is_flag: bool = False) -> Any:
    """An option of an earlier release, or its environment variable: whoever uses it is told what to
    do instead."""

    def refuse(_context: click.Context, _option: click.Parameter, value: object) -> None:
        if value or os.environ.get(variable):
            name = f"{option} ({variable})" if variable else option
            raise click.UsageError(f"{name} is gone: {instead}")

    return click.option(option, hidden=True, expose_value=False, callback=refuse, is_flag=is_flag)


wide_option = click.option(
    "--wide",
    default="",
    metavar="COLUMNS",
    help="Columns of repeats, by a shell pattern such as 'run ?', or of levels: 'zstd,lz4'.",
)

wide_name_option = click.option(
    "--name", default="", metavar="COL", help="What the columns of --wide are levels of."
)

details_option = click.option(
    "--details",
    is_flag=True,
    help="Print every sentence and all rows, not only what fits a screen.",
)

anyway_option = click.option(
    "--anyway", is_flag=True, help="Recommend in spite of findings about the experiment."
)

role_option = click.option(
    "--role",
    type=click.Choice(["setting", "work_size"]),
    help="What the knob is: a setting to choose, or the size of the work.",
)

minus_one_option = click.option(
    "--minus-one",
    type=click.Choice(["word", "level"]),
    help="What -1 among the knob's levels is: a word such as off (default where no other is below "
    "0), or a level.",
)

zero_option = click.option(
    "--zero",
    type=click.Choice(["word", "level"]),
    help="What 0 among the knob's levels is: a level (default), or a word such as off or no limit.",
)


def places_asked(given: dict[str, Any]) -> dict[str, Place]:
    """Where --minus-one and --zero put their levels of the knob, as a study says under `at`; taken
    out of what is given."""
    asked = {MINUS_ONE: (given.pop("minus_one"), -1), ZERO: (given.pop("zero"), 0)}
    return {
        level: "apart" if said == "word" else number
        for level, (said, number) in asked.items()
        if said
    }


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Options as one, in the order in which help lists them."""
    return lambda command: reduce(
        lambda decorated, option: option(decorated), reversed(options), command
    )


comment_options = together(
    click.option(
        "--format",
        "form",
        type=click.Choice(["markdown"]),
        help="Print a comment for a pull request, of at most 60 lines.",
    ),
    click.option(
        "--only-if",
        type=click.Choice(["moved"]),
        help="Print nothing unless a phase, a response or the verdict on a claim moved.",
    ),
)
"""Of the commands that answer a pull request."""

WISHES = ("within", "slo", "cost", "given", "tolerance", "price")
"""Options that say what is wanted of a recommendation; see `Answer.recommend`."""


_share = partial(click.option, type=click.FloatRange(0, 1), metavar="SHARE")
decision_options = together(
    _share(
        "--within",
        help="Recommend the cheapest setting within this share of the best: 0.05 is 5 %.",
    ),
    click.option(
        "--cost", metavar="EXPRESSION", help='Recommend the least cost, e.g. "cpu_limit * wall_s".'
    ),
    _share(
        "--tolerance",
        help="How much worse than the best a setting may be at no cost (0.03 is 3 %).",
    ),
    _share(
        "--price",
        help="Gain that doubling the knob must bring beyond the tolerance (0.01).",
    ),
    click.option(
        "--given",
        multiple=True,
        metavar="FACTOR=LEVEL",
        help="The level of a factor that you cannot choose, such as cpu_limit=1.",
    ),
)
"""The options of every command that recommends a setting; see `options_of`."""


def tell(*sentences: object) -> None:
    """Say what is to be known beside the answer on standard error, a line each; nothing of what is
    empty."""
    for sentence in filter(None, sentences):
        click.echo(f"deadzone: {visible(str(sentence))}", err=True)


def pairs(option: str, texts: tuple[str, ...], example: str) -> dict[str, str]:
    """What an option that is written NAME=VALUE was given. Raises UsageError for another text, with
    an example."""
    values: dict[str, str] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not (name and value):
            raise click.UsageError(f"{option} {text}: write {example}.")
        if values.get(name, value) != value:
            raise click.UsageError(f"{option} {name} is given as {values[name]} and as {value}.")
        values[name] = value
    return values


def options_of(asked: dict[str, Any]) -> dict[str, Any]:
    """Of what a command was asked, the options of a recommendation, by name."""
    asked = asked | {"given": pairs("--given", asked["given"], "FACTOR=LEVEL, such as cpu_limit=1")}
    return {name: asked[name] for name in WISHES if asked.get(name) not in (None, {})}
