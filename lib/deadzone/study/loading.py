"""Reading study files: YAML in, a validated `Study` out, or a message that names file, line and
key."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from deadzone.contents import text_of
from deadzone.errors import SaidAs, StudyError, did_you_mean
from deadzone.study import base
from deadzone.study.masking import masked_document
from deadzone.study.spec import DesignSpec, Study

SUFFIXES = (".yaml", ".yml")

SHORT_NAMES = {
    name: f"design.{name}" for name in DesignSpec.model_fields if name not in ("kind", "treatments")
}
"""Overrides that need no full key path: replicates for design.replicates, and so on."""


EXPONENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$")
"""Numbers such as 1e6, which YAML 1.1 takes for words and everybody else for numbers."""


MOST_VALUES = 100_000
"""Ten times the levels that a range may have; only aliases of aliases come to more, and they take
all memory there is."""

PLAIN_WORDS = {
    "dict_type": "it must be a mapping of keys",
    "model_attributes_type": "it must be a mapping of keys",
    "model_type": "it must be a mapping of keys",
    "float_parsing": "it must be a number",
    "float_type": "it must be a number",
    "int_from_float": "it must be a whole number",
    "int_parsing": "it must be a whole number",
    "int_type": "it must be a whole number",
    "list_type": "it must be a list",
    "tuple_type": "it must be a list",
    "bool_parsing": "it must be true or false",
    "finite_number": "it must be a finite number",
    "int_parsing_size": "it is too large",
    "string_type": "it must be text",
    "too_short": "it must not be empty",
}
"""What pydantic's kinds of problems mean to the author of a YAML file."""


class _StrictLoader(yaml.SafeLoader):
    """Safe YAML that refuses a key given twice, of which plain YAML silently keeps the last."""

    def get_single_node(self) -> yaml.Node | None:
        node: yaml.Node | None = super().get_single_node()
        if node:
            _values(node, {})
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise _unfit("a key is a word, no list or mapping", key_node)
            if key_node.value in seen:
                raise _unfit(f"the key {key_node.value!r} stands twice", key_node)
            seen.add(key_node.value)
        return super().construct_mapping(node, deep)


def _unfit(problem: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _values(node: yaml.Node, known: dict[int, float]) -> float:
    """How many values a node stands for with its aliases written out. Raises ConstructorError at
    the first that stands for more than MOST_VALUES, or for itself."""
    if id(node) not in known:
        known[id(node)] = float("inf")
        parts = [] if isinstance(node, yaml.ScalarNode) else node.value
        flat = [child for part in parts for child in (part if isinstance(part, tuple) else (part,))]
        known[id(node)] = 1 + sum(_values(child, known) for child in flat)
        if known[id(node)] > MOST_VALUES:
            raise _unfit(
                f"its YAML aliases (*name) expand to more than {MOST_VALUES:,} values", node
            )
    return known[id(node)]


class _Dumper(yaml.SafeDumper):
    """Safe YAML that quotes the words the loader would take for numbers."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Line ends other than the newline survive only as escapes in double quotes."""
    exotic = any(end in text for end in "\x85\u2028\u2029")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if exotic else None)


_Dumper.add_representer(str, _text)
BOOLEAN = re.compile(r"(true|True|TRUE|false|False|FALSE)$")
"""YAML 1.2's booleans; those of YAML 1.1 take the words yes, no, on and off away from levels."""

_StrictLoader.yaml_implicit_resolvers = {
    first: [resolver for resolver in resolvers if resolver[0] != "tag:yaml.org,2002:bool"]
    for first, resolvers in _StrictLoader.yaml_implicit_resolvers.items()
}
_StrictLoader.add_implicit_resolver("tag:yaml.org,2002:bool", BOOLEAN, list("tTfF"))
_StrictLoader.add_implicit_resolver("tag:yaml.org,2002:float", EXPONENT, list("-+.0123456789"))
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", EXPONENT, list("-+.0123456789"))


def find_study(name: str, folders: Sequence[Path]) -> Path:
    """The file of a study: a path, from here or from where the folders lie, or a name in one of the
    folders.

    Raises StudyError if there is none; the nearest name is suggested.
    """
    path = Path(name)
    if _is_file(path):
        return path
    if path.suffix in SUFFIXES or "/" in name:
        if _is_folder(path):
            raise StudyError(f"{name} is a folder; give the study file in it.")
        for folder in folders:
            if _is_file(folder.parent / name):
                return folder.parent / name
        raise StudyError(
            f"{name}: there is no such study file.{did_you_mean(path.name, _siblings(path))}"
        )
    files = (file for folder in folders if folder.is_dir() for file in folder.iterdir())
    known = {file.stem: file for file in files if file.suffix in SUFFIXES}
    if name not in known:
        listing = ", ".join(sorted(known)) or "none"
        raise StudyError(
            f"There is no study {name!r}.{did_you_mean(name, known)} Known studies: {listing}."
        )
    return known[name]


def _is_file(path: Path) -> bool:
    """Whether there is something to read; an impossible name, such as one of 300 letters, names
    nothing."""
    return os.path.exists(path) and not _is_folder(path)  # noqa: PTH110 -- a pipe is read as well


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 -- Path.is_dir raises for a name of 300 letters


def _siblings(path: Path) -> list[str]:
    return (
        [p.name for p in path.parent.iterdir() if p.suffix in SUFFIXES]
        if _is_folder(path.parent)
        else []
    )


def load_study(path: Path, overrides: Mapping[str, Any] | None = None) -> Study:
    """Read and validate a study file.

    overrides: values by key path (design.replicates, factors.threads) or short name (replicates,
    threads), replacing the file's.

    Raises StudyError naming the file, the line and key path, and what is allowed there.
    """
    with SaidAs(StudyError, f"{path}: cannot read the study file"):
        text = text_of(path)
    return parse_study(text, str(path), overrides)


def parse_study(
    text: str | Mapping[str, Any],
    source: str,
    overrides: Mapping[str, Any] | None = None,
    is_stored: bool = False,
) -> Study:
    """Validate a study given as YAML text, or as what such a text says; source names it in
    messages, which without one begin with the key. is_stored: of a run, maybe of an earlier
    release; keys that are gone are left out."""
    document = read_yaml(text, source) if isinstance(text, str) else deepcopy(dict(text))
    if not isinstance(document, dict):
        raise StudyError(
            f"{source}: a study is a mapping of keys such as study, workload and factors."
        )
    for name, value in (overrides or {}).items():
        _override(document, name, value)
    try:
        return Study.model_validate(document, context=base.STORED if is_stored else None)
    except ValidationError as error:
        node = yaml.compose(text, Loader=_StrictLoader) if isinstance(text, str) else None
        problems = [
            _explain(problem, document, node, source) for problem in _causes(error.errors())
        ]
        raise StudyError("\n".join(dict.fromkeys(problems))) from error


def yaml_in(path: Path) -> Any:
    """The document in a YAML file. Raises StudyError if it cannot be read."""
    with SaidAs(StudyError, f"{path}: cannot be read"):
        return read_yaml(text_of(path), str(path))


def read_yaml(text: str, source: str) -> Any:
    """The document in a YAML text; source names it in messages.

    Raises StudyError if it cannot be read.
    """
    try:
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a subclass of SafeLoader
    except yaml.YAMLError as error:
        raise StudyError(f"{source}: this is not YAML: {_yaml_problem(error)}.") from error
    except RecursionError as error:
        raise StudyError(
            f"{source}: this is not YAML for people: it is nested too deeply."
        ) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        # PyYAML lets these through for values that only look like dates and numbers, such as
        # 2026-13-01.
        raise StudyError(f"{source}: this is not YAML: a value cannot be read: {error}.") from error


def _yaml_problem(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"line {mark.line + 1}: {problem}" if mark else problem


def _override(document: dict[str, Any], name: str, value: Any) -> None:
    """Set a value by its key path, making the mappings on the way."""
    factors = document.get("factors")
    is_key = name in Study.model_fields or name in SHORT_NAMES
    is_factor = isinstance(factors, dict) and name in factors and not is_key
    *parents, last = (f"factors.{name}" if is_factor else SHORT_NAMES.get(name, name)).split(".")
    if (parents or [last])[0] not in Study.model_fields:
        known = [*Study.model_fields, *SHORT_NAMES]
        raise StudyError(f"A study has no parameter {name!r}.{did_you_mean(name, known)}")
    for key in parents:
        below = document.setdefault(key, {})
        if document is factors and isinstance(below, list):
            below = document[key] = {"levels": below}
        if not isinstance(below, dict):
            raise StudyError(f"Cannot set {name}: {key} holds no keys of its own.")
        document = below
    document[last] = value


def _causes(problems: list[ErrorDetails]) -> list[ErrorDetails]:
    """The problems without those that follow from one further in: of a bad level, that its list is
    empty then."""
    deeper = {p["loc"][:k] for p in problems for k in range(len(p["loc"]))}
    return [p for p in problems if p["type"] != "too_short" or p["loc"] not in deeper]


def _explain(problem: ErrorDetails, document: Any, node: yaml.Node | None, source: str) -> str:
    """One validation problem as a sentence: file and line, key path, what is wrong, what is
    allowed."""
    kind, context = problem["type"], problem.get("ctx", {})
    key = (context["key"],) if kind == base.UNKNOWN_KEY else ()
    path, value = _locate((*problem["loc"], *key), document, kind in ("missing", base.UNKNOWN_KEY))
    line = _line_of(path, node)
    where = (f"{source}:{line}: " if line else f"{source}: ") if source else ""
    name = _path_text(path) or "the study"
    match kind:
        case base.UNKNOWN_KEY:
            known = context["known"]
            inner = [
                f"{part}.{name}"
                for part, field in Study.model_fields.items()
                if name in getattr(field.annotation, "model_fields", ())
            ]
            hint = f" Did you mean `{inner[0]}`?" if inner else did_you_mean(context["key"], known)
            return f"{where}Unknown key `{name}`.{hint} Allowed keys here: {', '.join(known)}."
        case "missing":
            sentence = " is missing."
        case "literal_error" | "union_tag_invalid":
            expected = context.get("expected") or context.get("expected_tags")
            tag = value.get("kind") if isinstance(value, dict) else value
            choices = str(expected).replace("'", "").replace(" or ", ", ").split(", ")
            nearest = did_you_mean(str(tag), choices)
            if kind == "union_tag_invalid" and not nearest:
                nearest = " If a pack brings it, install that pack here."
            sentence = f" is {tag!r}; allowed: {', '.join(choices)}.{nearest}"
        case "union_tag_not_found":
            sentence = ".kind is missing."
        case "value_error":
            sentence = f" {str(context.get('error', problem['msg'])).rstrip('.')}."
        case "string_pattern_mismatch":
            sentence = f" is {value!r}; it must match {context['pattern']}."
        case _:
            needed = PLAIN_WORDS.get(kind) or problem["msg"].replace(
                "Input should be", "it must be"
            )
            sentence = f" is {_shown(value)}; {needed[0].lower()}{needed[1:]}."
    return f"{where}{name}{sentence}"


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _locate(
    location: tuple[int | str, ...], document: Any, names_a_key: bool
) -> tuple[list[int | str], Any]:
    """Key path and value of a problem; steps that are pydantic's own names for union members are
    left out.

    names_a_key: the last step is a key of the file, even if the file does not have it.
    """
    path: list[int | str] = []
    value = document
    for i, step in enumerate(location):
        absent = names_a_key and i == len(location) - 1
        if isinstance(value, dict) and (step in value or absent):
            value = value.get(step)
        elif isinstance(value, list | tuple) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            continue
        path.append(step)
    return path, value


def _path_text(path: Sequence[int | str]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def _line_of(path: Sequence[int | str], node: yaml.Node | None) -> int | None:
    """Line of a key, or of the nearest mapping around it that the file has."""
    line = None
    for step in path:
        if isinstance(node, yaml.MappingNode):
            entries = [(key, value) for key, value in node.value if key.value == str(step)]
            if not entries:
                break
            key, node = entries[0]
            line = key.start_mark.line + 1
        elif (
            isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value)
        ):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema of study files, for editors."""
    schema = TypeAdapter(Study).json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _dumped(value: Any, **layout: Any) -> str:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, **layout)
    return text


def dump_document(document: Mapping[str, Any]) -> str:
    """A document as YAML, each list of words or numbers in a line."""
    return _dumped(document, width=float("inf"), default_flow_style=None)


def dump_study(study: Study) -> str:
    """The study as YAML with every default written out, credentials in addresses masked; the same
    study always gives the same text."""
    return _dumped(masked_document(study.model_dump(mode="json", by_alias=True)), width=110)
