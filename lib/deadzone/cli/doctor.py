"""`deadzone doctor`: say what works here."""

import json
from dataclasses import asdict

import click

from deadzone.errors import EXIT_UNAVAILABLE

MARKS = {"works": "ok", "missing": "MISSING", "optional": "--"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Try out what studies need on this machine, and say how to get what is missing.

    Ends with 4 if the main job, a sweep with its report on this machine, cannot be done here.
    """
    from deadzone.doctor import examine, main_job_works

    checks = examine()
    if as_json:
        click.echo(json.dumps([asdict(check) for check in checks]))
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            click.echo(f"{MARKS[check.state]:<8}{check.name:<{width + 2}}{check.finding}")
            if check.remedy:
                click.echo(f"{'':<{width + 10}}to get it: {check.remedy}")
    if not main_job_works(checks):
        context.exit(EXIT_UNAVAILABLE)
