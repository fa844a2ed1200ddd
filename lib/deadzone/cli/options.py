"""What the options of several commands share."""

from pathlib import Path

import click

FILE = click.Path(path_type=Path)
"""A file or folder, which need not be there yet."""
