"""Options of the commands that recommend a setting: what is wanted of it."""

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import click

Command = Callable[..., Any]


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Options as one, in the order in which help lists them."""
    return lambda command: reduce(
        lambda decorated, option: option(decorated), reversed(options), command
    )


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
        help="What a setting may be worse than the best for nothing (0.03, which is 3 %).",
    ),
    _share(
        "--price",
        help="What twice the knob has to bring where a setting is worse than that (0.01).",
    ),
    click.option(
        "--given",
        multiple=True,
        metavar="FACTOR=LEVEL",
        help="The level of a factor that is not ours to choose, such as cpu_limit=1.",
    ),
)
"""The options of every command that recommends a setting; see `options_of`."""


def pairs(option: str, texts: tuple[str, ...], example: str) -> dict[str, str]:
    """What an option that is written NAME=VALUE was given. Raises UsageError for another text, with
    an example."""
    values = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not (name and value):
            raise click.UsageError(f"{option} {text}: write {example}.")
        values[name] = value
    return values


def options_of(asked: dict[str, Any]) -> dict[str, Any]:
    """Of what a command was asked, the options of a recommendation, by name."""
    asked = asked | {"given": pairs("--given", asked["given"], "FACTOR=LEVEL, such as cpu_limit=1")}
    return {name: asked[name] for name in WISHES if asked.get(name) not in (None, {})}
