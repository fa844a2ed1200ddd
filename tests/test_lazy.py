import ast
from importlib import import_module
from pathlib import Path

import pytest

from deadzone.lazy import listed


@pytest.mark.parametrize("module", ["deadzone", "deadzone.plugins"])
def test_names_loaded_when_first_used_are_those_a_type_checker_sees(module):
    source = Path(str(import_module(module).__file__))
    body = ast.parse(source.read_text()).body
    for_checkers = next(node for node in body if isinstance(node, ast.If))
    imports = {
        alias.name: node.module
        for node in for_checkers.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert listed(str(source)) == imports
    assert all(hasattr(import_module(home), name) for name, home in imports.items())
