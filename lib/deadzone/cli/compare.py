"""`deadzone compare`: before and after, of two runs, two tables or two commits."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import click
from click.core import ParameterSource

from deadzone.cli.options import comment_options, gone, wide_name_option, wide_option
from deadzone.errors import EXIT_WORSE

Strings = tuple[str, ...]

SAY_WHAT = ("responses", "goals", "by", "wide", "name", "threshold", "confidence")
"""Parameters of the command that say what is compared, and how."""


@click.command("compare")
@click.argument("sources", nargs=-1, required=True, metavar="A B | -- COMMAND [ARGUMENT]...")
@click.option(
    "--checkout",
    nargs=2,
    metavar="A B",
    help="Measure COMMAND at two commits of the repository here, in turns.",
)
@click.option(
    "--build",
    default="",
    metavar="CMD",
    help="Builds a commit, once, in its worktree; for a shell line: sh -c '...'.",
)
@click.option("-r", "--runs", default=10, type=click.IntRange(1), help="Trials of each commit.")
@click.option(
    "--response",
    "responses",
    multiple=True,
    metavar="COL",
    help="What to compare; may be repeated.",
)
@click.option(
    "--goal",
    "goals",
    type=click.Choice(["min", "max"]),
    multiple=True,
    help="Which way is better: once, or once per response; by default as the study or name says.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="COL",
    help="Column of a factor; may be repeated. Found by default.",
)
@wide_option
@wide_name_option
@click.option("--threshold", default=0.03, help="A smaller change does not matter (a fraction).")
@gone("--margin", "two are the same within the --threshold, from which on a change matters.")
@click.option("--confidence", default=0.95, help="Confidence of intervals and verdicts.")
@click.option(
    "--fail-on",
    type=click.Choice(["worse"]),
    help="End with exit code 5 if a response is shown to be worse.",
)
@comment_options
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(
    sources: Strings,
    checkout: tuple[str, str] | None,
    build: str,
    runs: int,
    responses: Strings,
    goals: Strings,
    fail_on: str | None,
    form: str | None,
    only_if: str | None,
    as_json: bool,
    **limits: Any,
) -> None:
    """Compare B with A, treatment by treatment: better, worse, no change that matters, or
    undecided.

    A and B are runs (an id, a folder, or STUDY/latest) or tables (CSV or Parquet, one row a trial).

    \b
    deadzone compare --checkout main HEAD --build 'make -j4' -- ./program input

    Each commit has a worktree, which is removed in the end: an interrupted comparison begins anew.
    """
    whole = shlex.join(["deadzone", "compare", *sources, *_asked()])
    if checkout:
        from deadzone.verbs.checkouts import compare_checkouts

        result, run = compare_checkouts(checkout, sources, build, runs, responses, goals, **limits)
        whole = f"deadzone report {run.name}"
    elif len(sources) != 2 or build:
        raise click.UsageError(
            "Name two runs or tables, A and B; a command and --build need --checkout"
        )
    else:
        from deadzone.verbs.comparing import compare

        result = compare(*sources, responses, goals, **limits)
    if as_json:
        said = json.dumps(result.to_dict())
    else:
        said = result.markdown(whole) if form else str(result)
    if result.has_moved or not only_if:
        click.echo(said)
    if fail_on and result.is_worse:
        raise click.exceptions.Exit(EXIT_WORSE)


def _asked() -> Iterator[str]:
    """The options that were typed and say what is compared."""
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        is_typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if name in SAY_WHAT and is_typed:
            value = context.params[name]
            for one in value if isinstance(value, tuple) else (value,):
                yield from (option.opts[0], str(one))
