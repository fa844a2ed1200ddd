"""`deadzone init`: lay out a new research-notebook repository."""

import json
import re
import shutil
from pathlib import Path

import click

from deadzone import __version__, places
from deadzone.errors import SaidAs, StoreError

TEMPLATES = Path(__file__).with_name("repository")
"""What differs from repository to repository: `@NAME@` is the folder's name, `@VERSION@` that of
Deadzone."""

ANALYSIS = places.CARRIED / "notebooks" / "phases.ipynb"
"""The notebook that `--notebook` copies."""

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
@click.option(
    "--notebook", metavar="NAME", help="Write only a copy of phases.ipynb: notebooks/NAME.ipynb."
)
@click.option("--json", "as_json", is_flag=True, help="Print the files as JSON.")
def command(folder: Path, notebook: str | None, as_json: bool) -> None:
    """Lay out a repository for tuning studies in FOLDER: notebooks, studies, data, reports and a
    schedule.

    Files that are there already are left as they are. With --notebook write a copy of
    the analysis to change; a study names it (notebook: NAME.ipynb), and deadzone run executes and
    publishes it.
    """
    if notebook is not None:
        path = write_analysis(folder, notebook)
        sentence = f"{path} written; name it in a study: notebook: {path.name}"
        click.echo(
            json.dumps({"folder": str(folder.resolve()), "files": [str(path)]})
            if as_json
            else sentence
        )
        return
    made = [str(path) for path in lay_out(folder)]
    if as_json:
        click.echo(json.dumps({"folder": str(folder.resolve()), "files": made}))
        return
    sentence = f"{folder}: {len(made)} files written; README.md says what to do next."
    click.echo(sentence if made else "Nothing is missing.")


def write_analysis(folder: Path, name: str) -> Path:
    """Write a notebook that analyses a run, for the user to change; its path.

    Raises StoreError for a name that is none, and a file that is there already or cannot be
    written.
    """
    name = name.removesuffix(".ipynb")
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise StoreError(
            f"A notebook cannot be called {name!r:.60}; use letters, digits, '.', '_' and '-'."
        )
    notebooks = folder / "notebooks"
    path = (notebooks if notebooks.is_dir() else folder) / f"{name}.ipynb"
    with SaidAs(StoreError, f"{path}: the notebook cannot be written"):
        if path.exists():
            raise StoreError(f"{path} is there already; choose another name.")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ANALYSIS, path)
    return path


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
