"""`deadzone doctor`: say what works here."""

import json
from dataclasses import asdict

import click

from deadzone import packs
from deadzone.errors import EXIT_UNAVAILABLE
from deadzone.visible import visible

MARKS = {"works": "ok", "missing": "MISSING", "optional": "--"}


@click.command("doctor")
@click.option(
    "--kubernetes",
    "workload",
    metavar="NAMESPACE/WORKLOAD",
    help="Check a workload for a sweep, not this machine, such as shop/deployment/burner.",
)
@click.option(
    "--context",
    "cluster",
    help="Context of the kubeconfig for --kubernetes; default the current one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def command(
    context: click.Context, workload: str | None, cluster: str | None, as_json: bool
) -> None:
    """Try out what studies need on this machine, and say how to get what is missing.

    Ends with 4 if the main job, a sweep on this machine, cannot be done here; with --kubernetes, if
    a sweep of that workload cannot. What an extra of the wheel brings is no part of that job.
    """
    from deadzone.verbs.doctor import examine, main_job_works

    if workload:
        checks = packs.part(lambda pack: pack.examine_workload)(cluster, workload)
    else:
        checks = examine()
    if as_json:
        click.echo(json.dumps([asdict(check) for check in checks]))
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            click.echo(f"{MARKS[check.state]:<8}{check.name:<{width + 2}}{visible(check.finding)}")
            if check.remedy:
                click.echo(
                    f"{'':<{width + 10}}to {'do' if workload else 'get it'}: "
                    f"{visible(check.remedy)}"
                )
    if not main_job_works(checks):
        context.exit(EXIT_UNAVAILABLE)
