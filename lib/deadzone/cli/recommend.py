"""`deadzone recommend`: the setting a run recommends, and the patch that applies it to a workload
in a cluster."""

import json
import sys
from typing import Any

import click

from deadzone import packs, places
from deadzone.cli.options import anyway_option, decision_options, gone, options_of, tell
from deadzone.errors import FindingError, StudyError
from deadzone.language.messages import N_, say
from deadzone.store.run import RunFolder


@click.command("recommend")
@click.argument("run")
@click.option(
    "--manifest",
    "as_manifest",
    is_flag=True,
    help="Print a strategic merge patch for kubectl or kustomize.",
)
@gone("--next", "the report says under `What to do now` how many trials decide.", is_flag=True)
@click.option(
    "--workload",
    metavar="KIND/NAME",
    help="The workload to patch: deployment/NAME or statefulset/NAME.",
)
@click.option("--container", metavar="NAME", help="Its container.")
@click.option("--namespace", metavar="NAME", help="Its namespace.")
@gone("--env", "write the variable under workload.env of the study, such as THREADS: '{threads}'.")
@gone("--request", "it is the 90th percentile of the CPU used; the comments have the median.")
@decision_options
@click.option("-q", "--quiet", is_flag=True, help="Draw no picture.")
@anyway_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    run: str,
    as_manifest: bool,
    quiet: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Print what RUN (an id, a folder, or STUDY/latest) recommends.

    \b
    deadzone recommend ffmpeg-cpu-limit/latest --manifest --workload deployment/encoder \\
        --container ffmpeg | kubectl patch deployment encoder --patch-file /dev/stdin
    """
    from deadzone.report.document.publishing import PHASES, SEARCH
    from deadzone.report.sweep.analysis import analyse
    from deadzone.report.sweep.claims import contradicted
    from deadzone.report.sweep.recommended import patch, recommended_levels, usage
    from deadzone.report.sweep.source import load_source
    from deadzone.report.sweep.terminal import curve_lines, terminal_of

    run_folder = RunFolder.find(places.runs_folder(), run)
    if run_folder.study().analysis_notebook not in (PHASES, SEARCH):
        raise StudyError(
            f"{run_folder.study().study} is analysed by another notebook, which recommends no "
            f"setting: `deadzone report {run}` says what it concludes."
        )
    analysis = analyse(load_source(str(run_folder.folder)), asked["anyway"], **options_of(asked))
    findings = [finding.to_dict() for finding in analysis.findings]
    advice = analysis.advice
    if analysis.is_spoilt:
        if as_json:
            click.echo(json.dumps({**analysis.recommendation, "findings": findings}))
        way_out = "" if analysis.is_unconfirmed else " `--anyway` gives a setting all the same."
        raise FindingError(f"{run_folder.run_id}: {analysis.recommendation['reason']}{way_out}")
    tell(*(analysis.findings if as_json else analysis.further()))
    if advice is not None and advice.state == "no_setting" and not as_manifest:
        click.echo(
            json.dumps({**advice.to_dict(), "findings": findings}) if as_json else str(advice)
        )
        return
    levels = recommended_levels(analysis)
    assert advice is not None
    fell = contradicted(analysis.source, analysis, levels)
    about_setting = N_("A claim about the recommended setting is contradicted: {claim}. {found}")
    tell(*(say(about_setting, claim=one.claim, found=one.found) for one in fell))
    if not as_manifest:
        used = usage(analysis.source, levels)
        follows = [str(part) for part in packs.part(lambda pack: pack.application)(analysis)]
        shown = {
            "levels": levels,
            "usage_cores": {f"p{n}": cores for n, cores in used.cores.items()},
            **advice.to_dict(),
            "fallen_claims": [verdict.to_dict() for verdict in fell],
            "findings": findings,
            "in_the_cluster": follows,
        }
        terminal = None if quiet or as_json else terminal_of(sys.stdout)
        pictures = [line for curve in analysis if terminal for line in curve_lines(curve, terminal)]
        click.echo(json.dumps(shown) if as_json else "\n".join([*pictures, str(advice), *follows]))
        return
    where = {name: asked[name] for name in ("workload", "container", "namespace")}
    click.echo(patch(analysis, as_json=as_json, **where), nl=False)
