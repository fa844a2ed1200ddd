"""pytest-benchmark: `--benchmark-json`, since 2.5 of 2015, one row a benchmark."""

import re
from typing import Any

from deadzone.store.imports.formats import json_format
from deadzone.store.imports.plausible import Row


def _parameter(test: Any) -> Row:
    """That of a parametrised test, which stands in its name alone before 3.0."""
    found = re.search(r"\[(.+)\]$", test["fullname"])
    return {"param": found[1]} if found and test.get("params") is None else {}


read_pytest_benchmark = json_format("pytest-benchmark", more=_parameter)
