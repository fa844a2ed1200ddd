"""`deadzone explain`: what a finding about an experiment means, and how to mend it."""

import json
from pathlib import Path

import click

from deadzone.cli.options import FILE
from deadzone.errors import ReportError, SaidAs


@click.command("explain")
@click.argument("key", required=False)
@click.option("--lang", default="en", help="Language: en or ko.")
@click.option("--pages", "folder", type=FILE, help="Write a page for each finding into this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the page as JSON.")
def command(key: str | None, lang: str, folder: Path | None, as_json: bool) -> None:
    """Say what the finding KEY means; without one, list them all."""
    from deadzone.analysis.findings.examining import page, pages
    from deadzone.language.catalogue import speaking

    with speaking(lang):
        if folder:
            _write(folder, pages())
        else:
            text = page(key) if key else pages()["README.md"]
            click.echo(json.dumps({"key": key, "page": text}) if as_json else text, nl=as_json)


def _write(folder: Path, texts: dict[str, str]) -> None:
    with SaidAs(ReportError, f"{folder}: the pages cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
