"""The recorded files, and copies of them with a change."""

import json
from pathlib import Path

from deadzone.store.imports.registry import reader_of
from deadzone.store.imports.result import tidy

FOLDER = Path(__file__).resolve().parents[2] / "data" / "imports"


def imported(tool, *paths, **settings):
    return tidy([reader_of(tool)(Path(path)) for path in paths], settings)


def sample(name):
    return FOLDER / name


def changed(tmp_path, name, change):
    """A copy of a JSON sample after a change made to the document."""
    document = json.loads(sample(name).read_text())
    change(document)
    path = tmp_path / name
    path.write_text(json.dumps(document))
    return path


def written(tmp_path, text, name="result.txt"):
    """A file with a text, to the letter."""
    path = tmp_path / name
    path.write_text(text, newline="")
    return path
