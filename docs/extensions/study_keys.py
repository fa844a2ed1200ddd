"""A directive that lists every key of a study file, from the JSON Schema that editors use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from deadzone.study.loading import json_schema


def kind(schema: dict[str, Any]) -> str:
    """What a value may be, in few words; the name of another table where it is one."""
    if "$ref" in schema:
        return f"[{schema['$ref'].rpartition('/')[2]}](#{anchor(schema['$ref'])})"
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


def anchor(reference: str) -> str:
    """The anchor of the heading of a definition."""
    return reference.rpartition("/")[2].lower()


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
    for name, part in schema["$defs"].items():
        if part.get("properties"):
            yield from (
                f"## {name}",
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
