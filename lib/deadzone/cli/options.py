"""What the options of several commands share."""

from pathlib import Path

import click

FILE = click.Path(path_type=Path)
"""A file or folder, which need not be there yet."""

details_option = click.option(
    "--details", is_flag=True, help="Print every sentence and all rows, in place of what fits a screen."
)

anyway_option = click.option(
    "--anyway", is_flag=True, help="Recommend in spite of findings about the experiment."
)

role_option = click.option(
    "--role",
    type=click.Choice(["setting", "work_size"]),
    help="What the knob is: a setting to choose, or the size of the work.",
)
