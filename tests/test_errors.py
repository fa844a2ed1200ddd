"""How errors are told apart, and how a slip is answered with the nearest name."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from deadzone import errors
from deadzone.errors import DeadzoneError, did_you_mean

README = Path(__file__).resolve().parent.parent / "README.md"


def test_the_nearest_name_is_suggested():
    assert did_you_mean("cpu_limt", ["threads", "cpu_limit"]) == " Did you mean 'cpu_limit'?"


def test_nothing_is_suggested_where_nothing_is_near():
    assert did_you_mean("pool", ["threads", "cpu_limit"]) == ""


def test_every_exit_code_is_documented():
    kinds = [
        kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, DeadzoneError)
    ]
    codes = {kind.exit_code for kind in kinds} | {v for n, v in vars(errors).items() if n.startswith("EXIT_")}
    said = README.read_text().split("Exit codes:")[1].split("\n\n")[0]
    assert {int(number) for number in re.findall(r"\b\d+\b", said)} == codes | {1}


def test_every_error_says_what_it_is_for():
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        assert not issubclass(kind, DeadzoneError) or kind.__doc__, name
