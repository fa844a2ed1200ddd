"""What becomes of a real file on its way here: a grammar of damage, from a bit to all of it."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

Draw = Callable[..., Any]
"""Hypothesis' `data.draw`."""

NUMBERS = [10**400, -(10**400), 2**63, 1e308, -1e308, 5e-324, float("nan"), float("inf"), 0, -1]
TEXTS = [
    *("", " ", "\0", "{", "{}", "{{", "x" * 10_000, "1" * 5_000, "\x1b]0;x\x07", "../..", "\u202e"),
    *("1e999", "=1+1", "<script>alert(1)</script>", "none", "NaN", "-", "2026-13-01", "\ud7ff"),
    *("🙂", "a\tb\rc"),
]
OTHERS = [True, None, [], [[]], {}, {"": {}}, [None] * 3]

VALUES = st.sampled_from([*NUMBERS, *TEXTS, *OTHERS]) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=5,
)
"""What a value of a document is replaced by."""

TOKENS = [
    *(b"", b"0", b"-0", b"-1", b"1e308", b"-1e308", b"5e-324", b"1e999", b"9" * 400, b"0x10"),
    *(b"1_000", b"NaN", b"inf", b"null", b"true", b"[]", b"{}", b'"', b"'", b",", b";", b"\t"),
    *(b"\r\n", b"\n\n", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"&a [*a, *a]", b"<<: *a", b"---\n"),
    *(b"!!python/object/apply:os.system [id]", b"[" * 2_000, b'{"a":' * 2_000, "é".encode()),
    *("\u202e".encode(), "\u2028".encode(), b"\x1b[31m", b"\x9b31m", b"=cmd|' /C calc'!A0"),
    b"x" * 5_000,
]
"""What a number, a word or a mark is replaced by, and what is put between two."""

ENCODINGS = ["utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "cp037", "utf-7"]

MARK = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|[A-Za-z_][\w-]*|[^\w\s]")
"""A number, a word, a mark: in every text there is."""


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document, as the keys on the way to it."""
    if isinstance(node, list):
        node = dict(enumerate(node))
    for key, inner in node.items() if isinstance(node, dict) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    """The document with another value at a place."""
    document = copy.deepcopy(document)
    node = document
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    return document


def _cut(draw: Draw, content: bytes) -> bytes:
    return content[: draw(st.integers(0, len(content)))]


def _bytes_changed(draw: Draw, content: bytes) -> bytes:
    at = draw(st.integers(0, len(content)))
    put = draw(st.binary(max_size=6) | st.sampled_from(TOKENS))
    return content[:at] + put + content[at + draw(st.integers(0, 40)) :]


def _mark_changed(draw: Draw, content: bytes) -> bytes:
    found = list(MARK.finditer(content))
    if not found:
        return content
    one = draw(st.sampled_from(found))
    return content[: one.start()] + draw(st.sampled_from(TOKENS)) + content[one.end() :]


def _lines_changed(draw: Draw, content: bytes) -> bytes:
    """A line is gone, doubled, many times there, or elsewhere."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    at, to = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    line = lines[at]
    match draw(st.sampled_from(["gone", "doubled", "many", "elsewhere"])):
        case "gone":
            del lines[at]
        case "doubled":
            lines.insert(at, line)
        case "many":
            lines[at:at] = [line] * 300
        case _:
            lines.insert(to, lines.pop(at))
    return b"".join(lines)


def _columns_changed(draw: Draw, content: bytes) -> bytes:
    """A cell of each line, by commas, is gone, doubled or another one."""
    lines = [line.split(b",") for line in content.splitlines()]
    at = draw(st.integers(0, max(len(lines[0]) - 1, 0))) if lines else 0
    what = draw(st.sampled_from(["gone", "doubled", *TOKENS[:20]]))
    for cells in lines[draw(st.integers(0, 1)) :]:
        if at < len(cells):
            cells[at : at + 1] = {"gone": [], "doubled": [cells[at]] * 2}.get(what, [what])
    return b"\n".join(b",".join(cells) for cells in lines)


def _encoded(draw: Draw, content: bytes) -> bytes:
    return content.decode("utf-8", errors="replace").encode(
        draw(st.sampled_from(ENCODINGS)), errors="replace"
    )


def _line_ends(draw: Draw, content: bytes) -> bytes:
    return content.replace(
        b"\n", draw(st.sampled_from([b"\r\n", b"\r", b"\n\r\n", b"\xe2\x80\xa8", b"\0", b""]))
    )


def _document_changed(draw: Draw, content: bytes) -> bytes:
    """Of a document of YAML or JSON one value is another one."""
    try:
        document = yaml.safe_load(content) if b"{" not in content[:3] else json.loads(content)
        found = list(places(document))
        if found:
            document = changed(document, draw(st.sampled_from(found)), draw(VALUES))
        is_json = content.lstrip()[:1] in (b"{", b"[")
        text = json.dumps(document) if is_json else yaml.safe_dump(document, allow_unicode=True)
        return text.encode()
    except (ValueError, yaml.YAMLError, TypeError, RecursionError, AttributeError):
        return content  # no document, or none that could be written


def _line_document_changed(draw: Draw, content: bytes) -> bytes:
    """Of one line of JSON one value is another one."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    at = draw(st.integers(0, len(lines) - 1))
    lines[at] = _document_changed(draw, lines[at].strip()).replace(b"\n", b" ") + b"\n"
    return b"".join(lines)


DAMAGES = [
    *(_cut, _bytes_changed, *[_mark_changed] * 3, _lines_changed, _columns_changed, _encoded),
    *(_line_ends, *[_document_changed] * 2, _line_document_changed),
]


def damaged(draw: Draw, content: bytes) -> bytes:
    """A content after one to three damages."""
    for _ in range(draw(st.integers(1, 3))):
        content = draw(st.sampled_from(DAMAGES))(draw, content)
    return content


NO_FILES = ["missing", "loop", "folder", "nothing", "null", "zero", "self"]


def put(draw: Draw, path: Path, content: bytes) -> None:
    """Have a file with a content, a link to it, or, seldom, something that is no file."""
    path.unlink(missing_ok=True)
    what = draw(st.sampled_from(["file"] * 40 + ["link"] * 2 + NO_FILES))
    match what:
        case "file":
            path.write_bytes(content)
        case "link":
            beside = path.with_name(f"{path.name}.linked")
            beside.write_bytes(content)
            path.symlink_to(beside)
        case "loop":
            path.symlink_to(path)
        case "missing":
            path.symlink_to("nowhere")
        case "folder":
            path.symlink_to(path.parent)
        case "nothing":
            path.write_bytes(b"")
        case "null" | "zero":
            path.symlink_to(f"/dev/{what}")
        case "self":
            path.symlink_to("/proc/self/mem")
