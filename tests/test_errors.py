import inspect
import re
from pathlib import Path

import pytest

from deadzone import errors
from deadzone.errors import (
    COMMAND_VARIABLE,
    DeadzoneError,
    SaidAs,
    StoreError,
    did_you_mean,
    resume_option,
)

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "exit-codes.md"


def test_the_nearest_name_is_suggested_where_one_is_near():
    assert did_you_mean("cpu_limt", ["threads", "cpu_limit"]) == " Did you mean `cpu_limit`?"
    assert did_you_mean("pool", ["threads", "cpu_limit"]) == ""


KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, DeadzoneError)
]


def test_every_exit_code_is_documented():
    codes = {kind.exit_code for kind in KINDS}
    codes |= {number for name, number in vars(errors).items() if name.startswith("EXIT_")}
    said = re.findall(r"^\| (\d+) \|", PAGE.read_text(), re.MULTILINE)
    assert {int(number) for number in said} == codes | {0, 1}


def test_every_error_says_what_it_is_for():
    assert not [kind for kind in KINDS if not kind.__doc__]


def test_an_error_of_the_system_is_said_with_what_was_meant_and_the_remedy(tmp_path):
    missing, system = tmp_path / "missing", "No such file or directory"
    with (
        pytest.raises(StoreError, match=rf"^The run: {system}\. Start anew\.$"),
        SaidAs(StoreError, "The run", "Start anew."),
    ):
        missing.read_text()
    with (
        pytest.raises(StoreError, match=rf"^Not read: {re.escape(str(missing))}: {system}\.$"),
        SaidAs(StoreError, "Not read", names_file=True),
    ):
        missing.read_text()


def test_what_is_no_error_of_the_system_passes():
    with pytest.raises(ValueError, match="mine"), SaidAs(StoreError, "The run"):
        raise ValueError("mine")


def test_how_a_sweep_goes_on_is_said_as_its_caller_writes_it(monkeypatch):
    asked = [(), ("probe/latest",), ("latest", True)]
    assert [resume_option(*each) for each in asked] == [
        "`resume=`",
        "`resume='probe/latest'`",
        "`resume='latest', overrides={'target.on_change': 'continue'}`",
    ]
    monkeypatch.setenv(COMMAND_VARIABLE, "1")
    assert [resume_option(*each) for each in asked] == [
        "`--resume`",
        "`--resume probe/latest`",
        "`--resume latest -p target.on_change continue`",
    ]
