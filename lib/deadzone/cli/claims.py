"""`deadzone claims`: the verdicts on what was claimed of a run, and further claims on it; and the
option `--fail-on`."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from deadzone import places
from deadzone.cli.options import comment_options, tell
from deadzone.errors import EXIT_CLAIM_FELL, StudyError
from deadzone.store.command_lines import name_of
from deadzone.store.run import RunFolder
from deadzone.study.claim_sentences import parse_claim

if TYPE_CHECKING:
    from deadzone.analysis.claims.judging import ClaimVerdict

CONTRADICTED, NOT_SUPPORTED = "contradicted", "not-supported"

fail_on_option = click.option(
    "--fail-on",
    type=click.Choice([CONTRADICTED, NOT_SUPPORTED]),
    help="End with exit code 8 if a claim is contradicted, or not supported.",
)

claim_option = click.option(
    "--claim",
    "sentences",
    multiple=True,
    metavar="CLAIM",
    help="Test a claim with this run, such as 'threads 4 at least 2x faster than threads 1'.",
)


@click.command("claims")
@click.argument("run")
@click.option(
    "--add",
    "sentences",
    multiple=True,
    metavar="CLAIM",
    help="Add this claim to the run.",
)
@fail_on_option
@comment_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    run: str,
    sentences: tuple[str, ...],
    fail_on: str | None,
    form: str | None,
    only_if: str | None,
    as_json: bool,
) -> None:
    """Print the verdict on every claim of RUN (an id, a folder, or STUDY/latest).

    A claim is a sentence, or a mapping in YAML:

    \b
    deadzone claims xz-threads/latest --add 'threads 4 at least 2x faster than threads 1'
    deadzone claims xz-threads/latest --add '{same: {at: {threads: 8}, as: {threads: 4}, within: 0.03}}'
    """  # noqa: E501
    run_folder = RunFolder.find(places.runs_folder(), run)
    run_folder.add_claims([parse_claim(text) for text in sentences])
    judged = judged_of(run_folder)
    if not judged:
        raise StudyError(f"Nothing is claimed of {run_folder.run_id}: use `--add`.")
    from deadzone.report.sweep.claims import claims_moved, claims_table

    shown = {"run_id": run_folder.run_id, **claims_shown(judged)}
    said = json.dumps(shown, ensure_ascii=False) if as_json else "\n".join(map(str, judged))
    if form:
        said = claims_table(judged).markdown(f"deadzone report {name_of(run_folder)}")
    if not only_if or claims_moved(run_folder, judged):
        click.echo(said)
    fail_where_claims_fell(judged, fail_on)


def judged_of(run: RunFolder) -> "tuple[ClaimVerdict, ...]":
    """The claims of a run, judged; nothing is analysed where there are none."""
    if not run.claims():
        return ()
    from deadzone.report.sweep import claims

    return claims.judged_of(run)


def claims_shown(judged: "Sequence[ClaimVerdict]") -> dict[str, Any]:
    """What is printed of the claims with --json; nothing where there are none."""
    return {"claims": [verdict.to_dict() for verdict in judged]} if judged else {}


def say_claims(run: RunFolder) -> "tuple[ClaimVerdict, ...]":
    """The claims of a run, judged, each with its verdict in a line on standard error."""
    judged = judged_of(run)
    tell(*judged)
    return judged


def fail_where_claims_fell(judged: "Sequence[ClaimVerdict]", fail_on: str | None) -> None:
    """End with the exit code of --fail-on where a claim is contradicted, or where one is not
    supported."""
    fallen = {verdict.verdict for verdict in judged} - {"supported"}
    if fallen if fail_on == NOT_SUPPORTED else fail_on and CONTRADICTED in fallen:
        raise click.exceptions.Exit(EXIT_CLAIM_FELL)
