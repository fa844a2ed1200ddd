"""`deadzone explain`: what a finding about an experiment means, and how to mend it."""

import json

import click


@click.command("explain")
@click.argument("key", required=False)
@click.option("--lang", default="en", help="Language: en or ko.")
@click.option("--json", "as_json", is_flag=True, help="Print the page as JSON.")
def command(key: str | None, lang: str, as_json: bool) -> None:
    """Say what the finding KEY means; without one, list them all."""
    from deadzone.analysis.findings.examining import index, page
    from deadzone.language.messages import speaking

    with speaking(lang):
        text = page(key) if key else index()
    click.echo(json.dumps({"key": key, "page": text}) if as_json else text, nl=as_json)
