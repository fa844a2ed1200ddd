"""`deadzone profile`: what changed between two profiles of a program, why, and what it means."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadzone.cli.options import FILE
from deadzone.errors import ProfileError

if TYPE_CHECKING:
    from deadzone_profiles.comparison import ProfileComparison
    from deadzone_profiles.model import Profile
    from deadzone_profiles.pairing import Basis


_at = partial(click.option, multiple=True, type=(float, FILE), metavar="LOAD FILE")


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
    "--period",
    type=click.IntRange(1),
    metavar="N",
    help="What one sample stands for, where the numbers of folded stacks are weights.",
)
@click.option(
    "--causes", type=FILE, metavar="YAML", help='Name causes by stack: NACK: "*nack*" a line.'
)
@click.option(
    "--rule",
    type=click.Choice(["first", "shapley"]),
    default="first",
    help="Whose is a sample that matches several causes.",
)
@click.option(
    "--ablation",
    multiple=True,
    nargs=2,
    metavar="CAUSE FILE",
    help="A profile with this option alone changed.",
)
@click.option(
    "--per", metavar="UNIT", help="Divide by the load, in this unit: stream, request, second, ..."
)
@click.option("--load-before", type=float, metavar="N", help="Load of the profiles before.")
@click.option("--load-after", type=float, metavar="N", help="Load of the profiles after.")
@_at("--before-at", help="A profile before, at another load.")
@_at("--after-at", help="A profile after, at another load.")
@click.option("--project", type=float, metavar="LOAD", help="Project both sides to this load.")
@click.option(
    "--gates", type=FILE, metavar="YAML", help="Responses that must not get worse, with margins."
)
@click.option(
    "--figures",
    type=FILE,
    metavar="FOLDER",
    help="Write the flame graph as SVG.",
)
@click.option("--rows", type=click.IntRange(1), default=15, help="Rows of each table.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(before: Path, after: Path, **options: Any) -> None:
    """Compare profile BEFORE with profile AFTER: pprof (gzip or plain) or folded stacks.

    Says per package, function and cause what changed and whether that is more than chance.
    """
    from deadzone_profiles import reading, tables
    from deadzone_profiles.attribution import attribute, read_causes
    from deadzone_profiles.verb import diff_profiles

    first, second = (
        [reading.read_profile(path) for path in (own, *more)]
        for own, more in ((before, options["also_before"]), (after, options["also_after"]))
    )
    basis = _basis(options, first, second)
    comparison = diff_profiles(
        first, second, options["value"], basis=basis, period=options["period"]
    )
    texts = [tables.comparison_text(comparison, options["rows"])]
    data: dict[str, Any] = {"comparison": tables.comparison_data(comparison)}
    if options["causes"]:
        causes = read_causes(options["causes"])
        attribution = attribute(comparison.pair, causes, options["rule"])
        texts.append(tables.attribution_text(attribution))
        data["attribution"] = tables.attribution_data(attribution)
    for name, section in (
        ("ablations", _ablations),
        ("projection", _projection),
        ("gates", _gates),
    ):
        if part := section(comparison, options, basis):
            texts.append(part[0])
            data[name] = part[1]
    if options["figures"]:
        data["figures"] = [_write_flame_graph(options["figures"], comparison)]
        texts += data["figures"]
    click.echo(json.dumps(data, allow_nan=False) if options["as_json"] else "\n\n".join(texts))


Section = tuple[str, dict[str, Any]] | None


def _basis(options: dict[str, Any], before: list[Profile], after: list[Profile]) -> Basis | None:
    """The load of each side, of which messages speak as it is typed."""
    from deadzone_profiles.verb import basis_of

    loads = {name: options[name] for name in ("load_before", "load_after")}
    if (
        not options["per"]
        and options["project"] is None
        and any(load is not None for load in loads.values())
    ):
        raise click.UsageError("--load-before and --load-after need --per, such as --per stream.")
    try:
        return basis_of(before, after, options["per"], **loads)
    except ProfileError as error:
        message = str(error).replace("load_", "--load-").replace("per ", "--per ", 1)
        raise click.UsageError(message) from error


def _ablations(
    comparison: ProfileComparison, options: dict[str, Any], basis: Basis | None
) -> Section:
    from deadzone_profiles import reading, tables
    from deadzone_profiles.attribution import ablate, read_causes

    if not options["ablation"]:
        return None
    if not options["causes"]:
        raise click.UsageError("--ablation needs --causes: it is set beside what the stacks say.")
    single: dict[str, list[Profile]] = {}
    for name, path in options["ablation"]:
        single.setdefault(name, []).append(reading.read_profile(Path(path)))
    made = ablate(comparison.pair, single, read_causes(options["causes"]), options["rule"], basis)
    return tables.ablation_text(made), tables.ablation_data(made)


def _projection(
    comparison: ProfileComparison, options: dict[str, Any], basis: Basis | None
) -> Section:
    from deadzone_profiles import reading, tables
    from deadzone_profiles.projection import measured_at, project

    if options["project"] is None:
        return None
    texts, data = [], {}
    for when, side in (("before", comparison.pair.before), ("after", comparison.pair.after)):
        load = options[f"load_{when}"]
        if load is None:
            raise click.UsageError(
                "--project needs --load-before and --load-after, the loads of the profiles."
            )
        others = [(at, reading.read_profile(path)) for at, path in options[f"{when}_at"]]
        loads, amounts, unit = measured_at(side, load, others)
        made = project(loads, amounts, options["project"])
        texts.append(tables.projection_text(f"{comparison.pair.value.name} {when}", made, unit))
        data[when] = tables.projection_data(made, unit)
    return "\n".join(texts), data


def _gates(comparison: ProfileComparison, options: dict[str, Any], basis: Basis | None) -> Section:
    from deadzone.report.sweep.claims import line
    from deadzone_profiles.gates import judge_tables, read_gates

    if not options["gates"]:
        return None
    verdict = judge_tables(*read_gates(options["gates"]))
    lines = [f"Verdict: {verdict}", *(f"  {line(gate)}" for gate in verdict.gates.values())]
    return "\n".join(lines), verdict.to_dict()


def _write_flame_graph(folder: Path, comparison: ProfileComparison) -> str:
    from deadzone_profiles.flame_graph import flame_graph

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "flame_graph.svg"
    path.write_text(flame_graph(comparison), encoding="utf-8")
    return str(path)
