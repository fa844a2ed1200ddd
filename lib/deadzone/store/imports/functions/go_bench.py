"""go test: the lines that `-bench` prints, also with `-json`, one row a benchmark and repeat."""

import json
import re

from deadzone.store.imports.formats import text_format

PRINTED = re.compile(r'"Action":"output","Package":"([^"]*)".*?"Output":("(?:[^"\\]|\\.)*")')
"""An event of `go test -json`: packages that are tested at once take turns."""


def _unwrapped(text: str) -> str:
    """What `go test -json` says that was printed, package by package; any other text itself."""
    if not text.lstrip().startswith('{"Time":'):
        return text
    events = PRINTED.findall(text)
    return "".join(
        json.loads(printed, strict=False)
        for package in dict.fromkeys(package for package, _ in events)
        for owner, printed in events
        if owner == package
    )


read_go_bench = text_format("go-bench", unwrapped=_unwrapped)
