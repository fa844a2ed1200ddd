"""`deadzone history`: the runs of a study over time, and what moved."""

import json

import click

MOST_RUNS = 20
"""Of a longer history the newest are printed."""


@click.command("history")
@click.argument("study", default="")
@click.option("--json", "as_json", is_flag=True, help="Print every run and level as JSON.")
def command(study: str, as_json: bool) -> None:
    """Print the newest 20 runs of STUDY, by default of the newest run, the oldest first: what each
    says to set, the response there, and what moved over all.

    A run is compared with all earlier ones, so that a slow change shows, too.
    """
    from deadzone.analysis.phases.quantities import response
    from deadzone.analysis.records import records
    from deadzone.language.messages import _, ngettext
    from deadzone.report.sweep.history import history, moment, moves

    frame = history(study)
    if as_json:
        shown = frame.assign(recorded_at=frame["recorded_at"].map(str))
        click.echo(json.dumps(records(shown, whole=True), ensure_ascii=False))
        return
    last = frame.sort_values("is_setting").drop_duplicates(["run", "slice"], keep="last")
    for row in last.sort_index().tail(MOST_RUNS).to_dict("records"):
        is_set = row["is_setting"]
        name = row["level_name"] if is_set else _("no setting")
        value = response(row["estimate"], row["response"]) if is_set else row["verdict_state"]
        when = moment(row)[:16]
        notes = "  ".join(filter(None, (row["slice"], row["changed"], row["study_changed"])))
        click.echo(f"{row['run']}  {when}  {name:12}  {value:10}  {notes}".rstrip())
    said = moves(frame) or [
        ngettext(
            "{n} run: what moves shows from six runs on.",
            "No change is shown over {n} runs.",
            n=frame["run"].nunique(),
        )
    ]
    click.echo("\n".join(said))
