"""`deadzone profile`: what changed between two profiles of a program."""

import json
from pathlib import Path
from typing import Any

import click

from deadzone.cli.options import FILE, details_option, gone

INSTEAD = {
    "--rows": "--details prints all rows.",
    "--period": "divide the numbers of folded stacks by the weight of one sample.",
    "--gates": "state it as a claim: deadzone claims RUN --add 'latency_p99_ms no worse by 5 % "
    "from before to after'.",
    **dict.fromkeys(
        ("--causes", "--rule", "--ablation", "--before-at", "--after-at", "--project"),
        "profiles.ipynb does it in a few lines of pandas, of a run or of `dz.diff_profiles(BEFORE, "
        "AFTER).stacks`.",
    ),
}
"""What to do in place of options that are gone."""


@click.command("profile")
@click.argument("before", type=FILE)
@click.argument("after", type=FILE)
@click.option(
    "--also-before", multiple=True, type=FILE, metavar="FILE", help="A further replicate before."
)
@click.option(
    "--also-after", multiple=True, type=FILE, metavar="FILE", help="A further replicate after."
)
@click.option(
    "--value",
    metavar="NAME",
    help="cpu, inuse_space, alloc_space, goroutine, delay, ... [default: the profile's]",
)
@click.option(
    "--per", metavar="UNIT", help="Divide by the load, in this unit: stream, request, second, ..."
)
@click.option("--load-before", type=float, metavar="N", help="Load of the profiles before.")
@click.option("--load-after", type=float, metavar="N", help="Load of the profiles after.")
@click.option(
    "--figures",
    type=FILE,
    metavar="FOLDER",
    help="Write the flame graph as SVG.",
)
@details_option
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(before: Path, after: Path, **options: Any) -> None:
    """Compare profile BEFORE with profile AFTER: pprof (gzip or plain) or folded stacks.

    Says per package and function what changed and whether that is more than chance.
    """
    from deadzone.analysis.page import wrapped
    from deadzone_profiles.flame_graph import flame_graph
    from deadzone_profiles.run_profiles import diff_profiles
    from deadzone_profiles.tables import answer, comparison_data, comparison_page

    asked = {name: options[name] for name in ("value", "per", "load_before", "load_after")}
    sides = (before, *options["also_before"]), (after, *options["also_after"])
    comparison = diff_profiles(*sides, **asked)
    page = comparison_page(comparison)
    texts = ["\n".join(map(wrapped, answer(comparison)))]
    if not comparison.identical:
        texts.append(page.text() if options["details"] else str(page))
    data: dict[str, Any] = {"comparison": comparison_data(comparison)}
    if options["figures"]:
        graph = options["figures"] / "flame_graph.svg"
        graph.parent.mkdir(parents=True, exist_ok=True)
        graph.write_text(flame_graph(comparison), encoding="utf-8")
        data["figures"] = [str(graph)]
        texts += data["figures"]
    click.echo(json.dumps(data, allow_nan=False) if options["as_json"] else "\n\n".join(texts))


for name, instead in INSTEAD.items():
    command = gone(name, instead)(command)
