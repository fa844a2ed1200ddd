"""`deadzone restore`: put back what an interrupted run left changed."""

from __future__ import annotations

import json

import click


@click.command("restore")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(as_json: bool) -> None:
    """Remove control groups and scratch folders of runs that were killed, with whatever still runs in them."""
    from deadzone.targets.leftovers import remove_leftovers

    removed = [str(path) for path in remove_leftovers()]
    if as_json:
        click.echo(json.dumps({"removed": removed}))
    else:
        click.echo("\n".join(f"removed {path}" for path in removed) or "Nothing was left over.")
