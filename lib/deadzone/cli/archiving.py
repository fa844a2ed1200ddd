"""`--archive URL`: runs and reports fetched from and copied to an archive, around a command that measures or publishes."""

from pathlib import Path

import click

from deadzone import places
from deadzone.errors import UnknownRunError
from deadzone.store.archive import FOR_THE_INDEX, REPORTS, Archive, name_of
from deadzone.store.run import Run

ARCHIVE_VARIABLE = "DEADZONE_ARCHIVE"

archive_option = click.option(
    "--archive",
    "archive_url",
    metavar="URL",
    envvar=ARCHIVE_VARIABLE,
    help="Keep runs and reports there as well: s3://bucket/prefix, file:///volume, any fsspec URL.",
)


def fetch_runs(archive: Archive | None, study: str, resume: str | None = None) -> None:
    """Fetch the run to resume, or else the latest one of the study, to set the new one beside.

    Raises UnknownRunError or ArchiveError if a run to resume is nowhere, or the archive cannot be read.
    """
    if archive is None:
        return
    runs = places.runs_folder()
    wanted = resume.rpartition("/")[2] if resume else "latest"
    if resume and resume != "latest":
        try:
            Run.find(runs, resume)
        except UnknownRunError:
            archive.pull_run(runs, study, wanted)
    elif archive.runs(study):
        archive.pull_run(runs, study, "latest")


def archive_report(archive: Archive | None, run: Run, page: Path) -> None:
    """Copy a run and its report, and the index of all reports that the archive holds.

    page: the study's front page. Raises ArchiveError if the archive cannot be written.
    """
    from deadzone.reports.document.index import publish_index

    if archive is None:
        return
    reports, study = places.reports_folder(), run.folder.parent.name
    archive.push(run.folder, name_of(run))
    archive.push(reports / study / run.run_id, f"{REPORTS}/{study}/{run.run_id}")
    archive.push_file(page, f"{REPORTS}/{study}/{page.name}")
    archive.pull(REPORTS, reports, only=FOR_THE_INDEX)
    archive.push_file(publish_index(), f"{REPORTS}/index.html")
    click.echo(f"deadzone: copied to {archive.url}", err=True)
