"""What all parts of a study are made of: the strict model, names, and arguments of programs."""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from deadzone.study.levels import format_level, is_number, placeholders

NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]*$"
"""Names become folders and web addresses, so they keep to characters that are safe in both."""

COLUMN_PATTERN = r"^[a-z][a-z0-9_]*$"

UNKNOWN_KEY: Final = "unknown_key"
"""The kind of problem that a key is which its part of a study does not have."""

STORED = "stored"
"""The context in which the study of a run is validated: it was written by this release or an
earlier one."""


def _described(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Give each property the docstring of its field.

    Pydantic's own `use_attribute_docstrings` reads every class's source when it is made, at each
    start of the command.
    """
    for part in reversed(
        [base for base in model.__mro__ if base is not Spec and issubclass(base, Spec)]
    ):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(part))).body
        assert isinstance(definition, ast.ClassDef)
        for field, docstring in zip(definition.body, definition.body[1:], strict=False):
            match field, docstring:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                    value=ast.Constant(value=str(words))
                ) if key := model.model_fields.get(name):  # others are facts of the class
                    schema["properties"][key.alias or name]["description"] = inspect.cleandoc(words)


class Spec(BaseModel):
    """Base of all parts of a study: immutable, and no key is ever silently ignored."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        json_schema_extra=_described,
        defer_build=True,
    )
    one_of: ClassVar[tuple[str, ...]] = ()
    """Keys of which exactly one is given."""

    gone: ClassVar[Mapping[str, str]] = {}
    """Keys of earlier releases, each with what to do instead."""

    @model_validator(mode="before")
    @classmethod
    def _of_known_keys(cls, document: Any, info: ValidationInfo) -> Any:
        """A stored study keeps to be read, without the keys that are gone; others must not have
        them, nor any key that is unknown."""
        if not isinstance(document, dict):
            return document
        for name in cls.gone:
            if document.get(name) and info.context != STORED:
                raise ValueError(f"has {name}, which is gone: {cls.gone[name]}")
        kept = {name: value for name, value in document.items() if name not in cls.gone}
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key in kept:
            if isinstance(key, str) and key not in known and key not in cls.model_fields:
                raise PydanticCustomError(UNKNOWN_KEY, "unknown", {"key": key, "known": known})
        return kept

    @model_validator(mode="after")
    def _checked(self) -> Self:
        given = [name for name in self.one_of if getattr(self, name) is not None]
        if self.one_of and len(given) != 1:
            *others, last = self.one_of
            has = f", and has {' and '.join(given)}" if given else ""
            raise ValueError(f"needs exactly one of {', '.join(others)} and {last}{has}")
        self._hangs_together()
        return self

    def _hangs_together(self) -> None:
        """Raise ValueError, without the path of this part, where its keys do not go together."""


def _well_formed(template: str) -> str:
    if "\0" in template:
        raise ValueError("holds a null byte, which no argument of a program can")
    placeholders(template)
    return template


def _as_argument(value: object) -> object:
    """A number in an argument vector stands for its text, as it would in a terminal."""
    return format_level(value) if is_number(value) and isinstance(value, int | float) else value


Argument = Annotated[str, BeforeValidator(_as_argument), AfterValidator(_well_formed)]
