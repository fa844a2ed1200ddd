"""oha: `--output-format json` (older versions: `--json`), one row a test."""

from typing import Any

from deadzone.store.imports.formats import json_format
from deadzone.store.imports.plausible import Row

CUT_OFF = "aborted due to deadline"
"""What oha says of requests that were under way when the test ended."""


def _outcomes(document: Any) -> Row:
    """What became of the requests, from how often each kind of answer and failure happened."""
    answers = document.get("statusCodeDistribution") or {}
    failures = {**(document.get("errorDistribution") or {})}
    unfinished = failures.pop(CUT_OFF, 0)
    refused = sum(n for code, n in answers.items() if code[:1] not in "123")
    return {
        "requests": sum(answers.values()),
        "errors": sum(failures.values()) + refused,
        "unfinished": unfinished,
    }


read_oha = json_format("oha", more=_outcomes)
