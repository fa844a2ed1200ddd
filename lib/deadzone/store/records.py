"""What a line of each journal of a run holds, and its file of facts: the one place that says whether it does."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from pydantic_core import CoreSchema, SchemaValidator, ValidationError
from pydantic_core import core_schema as form

from deadzone.contents import beside
from deadzone.errors import StoreError
from deadzone.measurement import Status
from deadzone.store.table import COLUMNS
from deadzone.study.loading import PLAIN_WORDS

_TOLD: dict[str, Any] = beside(__file__)


def _moment(text: str) -> str:
    """A time in ISO 8601, as it is. Raises ValueError if it is none."""
    datetime.fromisoformat(text)
    return text


_TEXT, _COUNT = form.str_schema(), form.int_schema(ge=-(2**63), lt=2**63)
_KIND: dict[str, CoreSchema] = {
    "any": form.dict_schema(_TEXT, form.any_schema()),
    "string": _TEXT,
    "Int64": _COUNT,
    "float64": form.float_schema(allow_inf_nan=False),
    "boolean": form.bool_schema(),
    "level": form.union_schema(
        [{**_COUNT, "strict": True}, form.float_schema(strict=True, allow_inf_nan=False), _TEXT]
    ),
    "moment": form.no_info_after_validator_function(_moment, _TEXT),
    "profile": form.str_schema(pattern=r"^profiles/[^/]+$"),
    "status": form.literal_schema([*get_args(Status)]),
}


def _schema(told: Any) -> CoreSchema:
    """The schema of what is told in the words of `records.toml`."""
    if isinstance(told, str):
        return _KIND[told]
    if isinstance(told, list):
        parts = [_schema(one) for one in told]
        return form.list_schema(parts[0]) if len(parts) == 1 else form.tuple_schema(parts)
    kinds = {name: _schema(one) for name, one in told.items()}
    kinds |= {name: form.nullable_schema(one) for name, one in kinds.items() if name.endswith("?")}
    if len(kinds) == 1 and (any_key := next(iter(kinds))).startswith("*"):
        return form.dict_schema(_TEXT, kinds[any_key])
    fields = {
        name.rstrip("?"): form.typed_dict_field(kind, required=not name.endswith("?"))
        for name, kind in kinds.items()
    }
    return form.typed_dict_schema(fields, extra_behavior="allow")


@dataclass(frozen=True)
class Form:
    """What a record must be, by the name that it is called when it is not."""

    noun: str
    validator: SchemaValidator

    def read(self, content: bytes, where: str) -> dict[str, Any]:
        """The record that a text of JSON holds. Raises StoreError, which begins with `where`, if it is none."""
        try:
            record: dict[str, Any] = self.validator.validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            key = ".".join(map(str, first["loc"]))
            why = f"{key and f'{key}: '}{PLAIN_WORDS.get(first['type'], first['msg'])}"
            raise StoreError(
                f"{where} is no {self.noun if key else 'record'}: {why}; it was changed by something else. "
                "Put the file back from a copy, or start a new run."
            ) from error
        return record


_COLUMNS = {f"{name}?": kind for name, kind in COLUMNS.items() if name not in _TOLD["trial"]}
_BATCHES = {name: _schema(_TOLD[name]) for name in ("batch", "end")}
_BATCH_OR_END = form.tagged_union_schema(_BATCHES, lambda one: "end" if "stopped" in one else "batch")

RECORD, SERIES, HISTOGRAMS, FACTS = (
    Form(name, SchemaValidator(_schema(_TOLD[name]))) for name in ("record", "series", "histograms", "facts")
)
TRIAL = Form("trial", SchemaValidator(_schema(_COLUMNS | _TOLD["trial"])))
BATCH = Form("batch", SchemaValidator(_BATCH_OR_END))
