"""A directive that lists every key of a study file, from the JSON Schema that editors use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from deadzone.study.loading import json_schema


def kind(schema: dict[str, Any]) -> str:
    """What a value may be, in few words; the name of another table where it is one."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{titles()[name]}](#{anchor(titles()[name])})"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if alternatives:
        return " or ".join(dict.fromkeys(kind(part) for part in alternatives))
    if schema.get("type") == "array":
        return f"list of {kind(schema['items'])}" if schema.get("items") else "list"
    inner = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
    if schema.get("type") == "object" and isinstance(inner[0], dict):
        return f"for each name: {kind(inner[0])}"
    return str(schema.get("type", "any value"))


@cache
def titles() -> dict[str, str]:
    """By the name of each definition where it stands in a study, such as `design.until`; what has
    several kinds says which."""
    schema, found = json_schema(), dict[str, str]()
    waiting = [("", "", schema)]
    for path, of_kind, part in waiting:
        for key, value in part.get("properties", {}).items():
            names = dict.fromkeys(re.findall(r"#/\$defs/(\w+)", json.dumps(value)))
            for name in [name for name in names if name not in found]:
                own = schema["$defs"][name]
                told = kind_of(own) if len(names) > 1 else of_kind
                there = f"{path}.{key}".lstrip(".")
                found[name] = f"{there} ({told})" if told else there
                waiting.append((there, told, own))
    return found


def kind_of(schema: dict[str, Any]) -> str:
    """What tells one kind of a mapping from the others: its `kind`, or the keys that it needs."""
    keys = schema.get("properties", {})
    named = [keys[key]["const"] for key in ("kind", "name") if "const" in keys.get(key, {})]
    return ", ".join(named or schema.get("required", ()))


def anchor(title: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[\W_]+", "-", title.lower()).strip("-")


def rows(schema: dict[str, Any]) -> Iterator[str]:
    """The table of one mapping: key, meaning, value, default."""
    yield from ("| key | meaning | value | default |", "| --- | --- | --- | --- |")
    required = schema.get("required", ())
    for key, part in schema.get("properties", {}).items():
        default = "required" if key in required else shown(part.get("default"))
        chosen = "chooses the keys below" if "const" in part else ""
        meaning = " ".join(part.get("description", chosen).split())
        yield f"| `{key}` | {cell(meaning)} | {cell(kind(part))} | {default} |"


def shown(default: Any) -> str:
    """A default value, short."""
    return "" if default in (None, "", [], {}) else cell(f"`{default}`")


def cell(text: str) -> str:
    """A text that may stand in a table of Markdown."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def page() -> Iterator[str]:
    """The tables of all mappings, the study's own first."""
    schema = json_schema()
    yield from ("## Study", "", *rows(schema), "")
    for name, title in titles().items():
        part = schema["$defs"][name]
        if part.get("properties"):
            yield from (
                f"## {title}",
                "",
                cell(" ".join(part.get("description", "").split())),
                "",
                *rows(part),
                "",
            )


class StudyKeys(SphinxDirective):
    """`{study-keys}`: the keys of a study."""

    def run(self) -> list[nodes.Node]:
        holder = nodes.Element()
        self.state.nested_parse(
            StringList(list(page()), source="json_schema"), 0, holder, match_titles=True
        )
        return holder.children


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("study-keys", StudyKeys)
    return {"parallel_read_safe": True}
