"""Measuring on the spot for a notebook with `source = "live"`: the bundled study is swept by the public command.

Reports explain and never measure, so the sweep is a process of its own; what it measured is a run like any other.
"""

import json
import subprocess
import sys

from deadzone.errors import ReportError
from deadzone.reports.document.speaking import use_language

LIVE = "live"
"""The value of a notebook's `source` that means: measure first."""

SHOWN = 1_000
"""How much of a failed sweep's words is repeated [characters]."""


def run_of(source: str, lang: str, study: str) -> str:
    """The run that a notebook reports: the one named, or one that is measured now. lang: of the report, "en" or "ko".

    Raises ReportError for an unknown language, or a sweep that failed.
    """
    use_language(lang)
    return measure_live(study) if source == LIVE else source


def measure_live(study: str) -> str:
    """Sweep a study on this machine; the name of the run, STUDY/RUN_ID.

    Raises ReportError, with the sweep's own words, if it fails; what was measured is kept.
    """
    command = (sys.executable, "-m", "deadzone.cli.main", "sweep", study, "--json")
    swept = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if swept.returncode:
        said = swept.stderr.strip()[-SHOWN:] or "nothing was said"
        raise ReportError(f"The sweep of {study} ended with code {swept.returncode}: {said}")
    answer = json.loads(swept.stdout.strip().splitlines()[-1])
    return f"{study}/{answer['run_id']}"
