"""A study of a Python function: its levels are arguments, and what it returns are columns."""

import functools
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deadzone.errors import StudyError
from deadzone.run.sweep.checks import JUDGED
from deadzone.run.targets.local import LocalTarget
from deadzone.run.workloads.python import RESULT, SETUP
from deadzone.store.provenance import usable_cores
from deadzone.study.levels import NONE, read_level
from deadzone.study.loading import parse_study
from deadzone.study.scales import level_name
from deadzone.study.spec import Study
from deadzone.study.trying import levels_in, slug
from deadzone.study.workload_specs import PythonWorkloadSpec

Levels = Mapping[str, Sequence[Any] | str]


def study_of(
    function: Callable[..., Any],
    levels: Levels,
    name: str | None = None,
    response: str | None = None,
    goal: str | None = None,
    changed: Mapping[str, Any] | None = None,
) -> Study:
    """The study of a function over the levels of its arguments, with the function in it.

    changed: values of the study by key path or short name. Raises StudyError for levels that the
    function does not take.
    """
    if not levels:
        raise StudyError("A sweep needs levels, such as {'num_workers': [0, 1, 2, 4]}.")
    known = {factor: _listed(factor, given) for factor, given in levels.items()}
    _check_arguments(function, known)
    source = _source(function)
    called = getattr(function, "__name__", type(function).__name__)
    workload = {
        "kind": "python",
        "function": called,
        "source": source,
        "sha256": hashlib.sha256(source.encode()).hexdigest(),
        "returns": [response] if response and response not in (*JUDGED, RESULT, SETUP) else [],
    }
    judged = {"name": response or "wall_s", "unit": None if response else "s"}
    written = {
        factor: [written_level(factor, level) for level in given] for factor, given in known.items()
    }
    document = {
        "study": slug(name or called),
        "workload": workload,
        "factors": written,
        "response": judged | ({"goal": goal} if goal else {}),
    }
    study = parse_study(document, "", changed)
    in_python = {
        factor: dict(zip(map(level_name, written[factor]), given, strict=True))
        for factor, given in known.items()
    }
    assert isinstance(study.workload, PythonWorkloadSpec)
    return study.model_copy(update={"workload": study.workload.of(_given(function), in_python)})


def _listed(factor: str, given: Sequence[Any] | str) -> tuple[Any, ...]:
    if isinstance(given, str):
        return tuple(map(read_level, levels_in(factor, given, usable_cores())))
    return tuple(given)


def written_level(factor: str, level: Any) -> Any:
    """A level as a study writes it. Raises StudyError for one that it cannot."""
    plain = level.item() if hasattr(level, "item") else level
    if plain is None:
        return NONE
    if not isinstance(plain, bool | int | float | str):
        raise StudyError(
            f"{factor}: a level is a number, a text, True, False or None, and not "
            f"{type(level).__name__}; name the choices, and look them up in the function."
        )
    return plain


def _check_arguments(function: Callable[..., Any], levels: Mapping[str, Sequence[Any]]) -> None:
    """Raise StudyError where the function does not take the levels as keyword arguments, or needs
    more than them."""
    arguments = dict.fromkeys(name for name in levels if name not in LocalTarget.factors)
    try:
        inspect.signature(function).bind(**arguments)
    except TypeError as error:
        raise StudyError(
            f"The function cannot be called with the levels as keyword arguments: {error}. For "
            "other arguments use functools.partial."
        ) from error
    except ValueError:  # some of C do not say what they take
        return


def _source(function: Callable[..., Any]) -> str:
    """The text of a function, empty where it has none."""
    while isinstance(function, functools.partial):
        function = function.func
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return ""


def _given(function: Callable[..., Any]) -> bytes:
    """The function as cloudpickle writes it. Raises StudyError where it holds what cannot be handed
    over."""
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(function))
    except Exception as error:  # of whatever object it refers to
        raise StudyError(
            f"The function cannot be handed to another interpreter: {error}. Open files, "
            "connections and locks inside it."
        ) from error
