"""Reading study files: YAML in, a validated `Study` out, or a message that names file, line and
key."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
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


MOST_ALIASES = 30
"""So many expand to 3 ** 10 copies at most; aliases of aliases without end take all memory."""

PLAIN_WORDS = {
    "dict": "a mapping of keys", "model": "a mapping of keys", "list": "a list", "tuple": "a list",
    "float": "a number", "int": "a whole number", "bool": "true or false", "string": "text",
}  # fmt: skip
"""What pydantic's kinds of values are to the author of a YAML file."""


class _StrictLoader(yaml.SafeLoader):
    """Safe YAML that refuses a key given twice, of which plain YAML silently keeps the last, and
    aliases that expand to more than memory holds."""

    aliases = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.aliases += self.check_event(yaml.AliasEvent)
        if self.aliases > MOST_ALIASES:
            raise yaml.constructor.ConstructorError(
                problem=f"it has more than {MOST_ALIASES} YAML aliases (*name)",
                problem_mark=self.peek_event().start_mark,
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if str(key.value) in seen:
                raise yaml.constructor.ConstructorError(
                    problem=f"the key {key.value!r} is given twice", problem_mark=key.start_mark
                )
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """Safe YAML that quotes the words the loader would take for numbers."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Line ends other than the newline survive only as escapes in double quotes."""
    exotic = any(end in text for end in "\x85\u2028\u2029")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if exotic else None)


_Dumper.add_representer(str, _text)
EXPONENT = r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+"
"""Numbers such as 1e6, which YAML 1.1 takes for words and everybody else for numbers."""

READ_AS = {
    "bool": "true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?(0|[1-9][\d_]*)",
    "float": r"[-+]?\d[\d_]*\.[\d_]*|\.\d[\d_]*|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)|" + EXPONENT,
}
"""What the loader reads in its own way, as YAML 1.2 does: 1.1 takes the words yes, no, on and off
away from levels, 0755 for an octal number, 16:9 and 1:30.5 for numbers to base 60. A date is text;
1_000 is a number still."""

_StrictLoader.yaml_implicit_resolvers = {
    first: [one for one in resolvers if not one[0].endswith((*READ_AS, "timestamp"))]
    for first, resolvers in _StrictLoader.yaml_implicit_resolvers.items()
}
for _kind, _pattern in READ_AS.items():
    _StrictLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(f"({_pattern})$"), list("-+.0123456789tTfF")
    )
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(f"{EXPONENT}$"), list("-+.0123456789")
)


def find_study(name: str, folders: Sequence[Path]) -> Path:
    """The file of a study: a path, from here or from where the folders lie, or a name in one of the
    folders.

    Raises StudyError if there is none; the nearest name is suggested.
    """
    path = Path(name)
    if path.suffix == ".ipynb":
        raise StudyError(f"{name} is a notebook: `deadzone publish {name}` executes it.")
    for candidate in (path, *(folder.parent / name for folder in folders)):
        # A pipe is read as well, and a name of 300 letters is none, of which a Path would raise.
        if os.path.exists(candidate) and not os.path.isdir(candidate):  # noqa: PTH110, PTH112
            return candidate
    every = (folder.glob(f"*{end}") for folder in folders for end in SUFFIXES)
    known = {file.stem: file for files in every for file in files}
    if name in known:
        return known[name]
    if os.path.isdir(path) and "/" in name:  # noqa: PTH112
        raise StudyError(f"{name} is a folder; give the study file in it.")
    if path.suffix in SUFFIXES or "/" in name:
        beside = [file.name for end in SUFFIXES for file in path.parent.glob(f"*{end}")]
        raise StudyError(f"{name}: there is no such study file.{did_you_mean(path.name, beside)}")
    raise StudyError(
        f"There is no study {name!r}.{did_you_mean(name, known)} Known studies: "
        f"{', '.join(sorted(known)) or 'none'}."
    )


def load_study(
    path: Path, overrides: Mapping[str, Any] | None = None, only_own: bool = False
) -> Study:
    """Read and validate a study file.

    overrides: values by key path (design.replicates, factors.threads) or short name (replicates,
    threads), replacing the file's. only_own: leave out those that are no study's, but a notebook's.

    Raises StudyError naming the file, the line and key path, and what is allowed there.
    """
    with SaidAs(StudyError, f"{path}: cannot read the study file"):
        return parse_study(text_of(path), str(path), overrides, only_own=only_own)


def parse_study(
    text: str | Mapping[str, Any],
    source: str,
    overrides: Mapping[str, Any] | None = None,
    is_stored: bool = False,
    only_own: bool = False,
) -> Study:
    """Validate a study given as YAML text, or as what such a text says; source names it in
    messages, which without one begin with the key. is_stored: of a run, maybe of an earlier
    release; keys that are gone are left out. only_own: see `load_study`."""
    document = read_yaml(text, source) if isinstance(text, str) else deepcopy(dict(text))
    if not isinstance(document, dict):
        raise StudyError(
            f"{source}: a study is a mapping of keys such as study, workload and factors."
        )
    for name, value in (overrides or {}).items():
        _override(document, name, value, only_own)
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
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        why = f"line {mark.line + 1}: {problem}" if mark else problem
    except RecursionError:
        why = "it is nested too deeply"
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        # PyYAML lets these through for values that are not what their tag says, such as !!int x.
        why = f"a value cannot be read: {error}"
    raise StudyError(f"{source}: this is not YAML: {why}.")


def _override(document: dict[str, Any], name: str, value: Any, only_own: bool) -> None:
    """Set a value by its key path, making the mappings on the way. only_own: leave out one that is
    no study's."""
    factors, known = document.get("factors"), [*Study.model_fields, *SHORT_NAMES]
    is_factor = isinstance(factors, dict) and name in factors and name not in known
    *parents, last = (f"factors.{name}" if is_factor else SHORT_NAMES.get(name, name)).split(".")
    if (parents or [last])[0] not in Study.model_fields:
        if only_own:
            return
        raise StudyError(f"A study has no parameter {name!r}.{did_you_mean(name, known)}")
    for key in parents:
        below = document.setdefault(key, {})
        if document is factors and isinstance(below, list):
            below = document[key] = {"levels": below}
        if not isinstance(below, dict):
            raise StudyError(f"Cannot set {name}: {key} holds no keys of its own.")
        document = below
    if name == "design.kind" and value == "adaptive" and document.get(last) == "paired":
        raise StudyError(
            "The study pairs its levels, and an adaptive sweep combines them all: leave out "
            "`--adaptive`."
        )
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
    location = (*problem["loc"], *([context["key"]] if kind == base.UNKNOWN_KEY else []))
    path, value, line = _locate(location, document, node, kind in ("missing", base.UNKNOWN_KEY))
    value = path[-1] if problem["loc"][-1:] == ("[key]",) else value
    where = (f"{source}:{line}: " if line else f"{source}: ") if source else ""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    name = "".join(steps).removeprefix(".") or "the study"
    match kind:
        case base.UNKNOWN_KEY:
            known = context["known"]
            sentence = f"{did_you_mean(context['key'], known)} Allowed keys here: "
            return f"{where}Unknown key `{name}`.{sentence}{', '.join(known)}."
        case "missing":
            sentence = " is missing."
        case "literal_error" | "union_tag_invalid":
            expected = str(context.get("expected") or context.get("expected_tags"))
            tag = value.get("kind") if isinstance(value, dict) else value
            choices = re.split(", | or ", expected.replace("'", ""))
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
            sentence = f" is {_shown(value)}; {needed_by(problem)}."
    return f"{where}{name}{sentence}"


def needed_by(problem: ErrorDetails) -> str:
    """What is allowed in place of a value that pydantic refuses."""
    sort, _, what = problem["type"].partition("_")
    if sort in PLAIN_WORDS and what in ("type", "parsing", "attributes_type", "from_float"):
        return f"it must be {PLAIN_WORDS[sort]}"
    if problem["type"] == "too_short":
        return "it must not be empty"
    said = problem["msg"].replace("Input should be", "it must be")
    return said[0].lower() + said[1:]


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _locate(
    location: tuple[int | str, ...], document: Any, node: yaml.Node | None, names_a_key: bool
) -> tuple[list[int | str], Any, int | None]:
    """Key path and value of a problem, and the line of its key, or of the nearest mapping around it
    that the file has; steps that are pydantic's own names for union members are left out.

    names_a_key: the last step is a key of the file, even if the file does not have it.
    """
    path: list[int | str] = []
    value, line = document, None
    for i, step in enumerate(location):
        absent = names_a_key and i == len(location) - 1
        if isinstance(value, dict) and (step in value or absent):
            value = value.get(step)
        elif isinstance(value, list | tuple) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            continue
        path.append(step)
        key, node = _below(node, step)
        line = key.start_mark.line + 1 if key else line
    return path, value, line


def _below(node: yaml.Node | None, step: int | str) -> tuple[yaml.Node | None, yaml.Node | None]:
    """What begins a part of a node, and the part; None for both where it has none."""
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        return node.value[step], node.value[step]
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next(((key, part) for key, part in pairs if key.value == str(step)), (None, None))


def json_schema() -> dict[str, Any]:
    """The JSON Schema of study files, for editors."""
    schema = Study.model_json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _dumped(value: Any, **layout: Any) -> str:
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, **layout))


def dump_document(document: Mapping[str, Any] | Sequence[Any]) -> str:
    """A document as YAML, each list of words or numbers in a line."""
    return _dumped(document, width=float("inf"), default_flow_style=None)


def dump_study(study: Study) -> str:
    """The study as YAML with every default written out, credentials in addresses masked; the same
    study always gives the same text."""
    return _dumped(masked_document(study.model_dump(mode="json", by_alias=True)), width=110)
