"""`deadzone restore`: put back what an interrupted run left changed, on this machine and in
clusters."""

import json

import click

from deadzone import packs
from deadzone.errors import NotGivenBackError, TargetError
from deadzone.visible import visible


@click.command("restore")
@click.option(
    "--context",
    help="Context of the kubeconfig; default the current one, and those of recorded runs.",
)
@click.option(
    "-n",
    "--namespace",
    "namespaces",
    multiple=True,
    help="Look in this namespace of the cluster only; may be given several times.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(context: str | None, namespaces: tuple[str, ...], as_json: bool) -> None:
    """Remove control groups, containers and scratch folders of runs that were killed, with whatever
    still runs in them. Give back the limits and settings that a killed run left changed here, and
    the resources of every workload that a killed sweep left changed in a cluster."""
    from deadzone.run.targets.undo_log import remove_leftovers, undo_left_over

    removed = [
        *map(str, remove_leftovers()),
        *packs.part(lambda pack: pack.remove_left_containers)(),
    ]
    done, problems = undo_left_over()
    is_left = bool(problems)
    clusters = packs.part(lambda pack: pack.restore_clusters)(
        context, namespaces, lambda text: click.echo(text, err=True)
    )
    busy = [sentence for cluster in clusters for sentence in cluster.busy]
    for cluster in clusters:
        done += cluster.done
        problems += cluster.problems
        is_left |= cluster.is_left
    if as_json:
        click.echo(
            json.dumps(
                {"removed": removed, "restored": done, "left_alone": busy, "problems": problems}
            )
        )
    else:
        lines = [*(f"removed {path}" for path in removed), *(f"restored {what}" for what in done)]
        if lines or not (busy or problems):
            click.echo(visible("\n".join(lines)) or "Nothing was left over.")
        for sentence in busy:
            click.echo(f"left alone: {visible(sentence)}", err=True)
    if problems:
        kind = NotGivenBackError if is_left else TargetError
        raise kind("\n".join(dict.fromkeys(problems)))
