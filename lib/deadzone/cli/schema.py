"""`deadzone schema`: the JSON Schema of study files, for editors."""

import json

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of study files; notebooks/studies/schema.json is this output."""
    from deadzone.study.loading import json_schema

    click.echo(json.dumps(json_schema(), indent=1))
