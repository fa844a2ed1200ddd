"""`deadzone init`: lay out a new research-notebook repository."""

import json
import shutil
from pathlib import Path

import click

from deadzone import __version__, places
from deadzone.cli.options import gone
from deadzone.errors import SaidAs, StoreError

TEMPLATES = Path(__file__).with_name("repository")
"""What differs from repository to repository: `@NAME@` is the folder's name, `@VERSION@` that of
Deadzone."""

CARRIED = (
    ".gitattributes",
    "data/README.md",
    "data/imported.md",
    "notebooks/studies/schema.json",
)
"""What every repository has alike, besides the notebooks."""

KEPT_EMPTY = ("data/runs", "reports")


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path), default=".")
@gone("--notebook", "copy notebooks/phases.ipynb, and name the copy in the study (`notebook:`).")
@click.option("--json", "as_json", is_flag=True, help="Print the files as JSON.")
def command(folder: Path, as_json: bool) -> None:
    """Lay out a repository for tuning studies in FOLDER: notebooks, studies, data, reports and a
    schedule.

    Files that are there already are left as they are.
    """
    made = [str(path) for path in lay_out(folder)]
    if as_json:
        click.echo(json.dumps({"folder": str(folder.resolve()), "files": made}))
        return
    way_on = "README.md says" if "README.md" in made else "`deadzone run gzip-level` is"
    said = f"{folder}: {len(made)} files written; {way_on} what to do next."
    click.echo(said if made else "Nothing is missing.")


def lay_out(folder: Path) -> list[Path]:
    """Write what is missing; the files written, relative to the folder. Raises StoreError if one
    cannot be."""
    notebooks = sorted((places.CARRIED / "notebooks").glob("*.ipynb"))
    carried = (*notebooks, *(places.CARRIED / name for name in CARRIED))
    sources = {path.relative_to(places.CARRIED): path for path in carried}
    sources |= {
        path.relative_to(TEMPLATES): path for path in sorted(TEMPLATES.rglob("*")) if path.is_file()
    }
    missing = [path for path in sources if not (folder / path).exists()]
    values = {"@NAME@": folder.resolve().name, "@VERSION@": __version__}
    with SaidAs(StoreError, f"{folder}: the repository cannot be written"):
        for path in missing:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            if sources[path].is_relative_to(TEMPLATES):
                text = sources[path].read_text(encoding="utf-8")
                for mark, value in values.items():
                    text = text.replace(mark, value)
                (folder / path).write_text(text, encoding="utf-8")
            else:
                shutil.copyfile(sources[path], folder / path)
        for name in KEPT_EMPTY:
            (folder / name).mkdir(parents=True, exist_ok=True)
    return missing
