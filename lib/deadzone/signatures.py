"""Methods that hand their options on name them, for Tab, `help` and the error of a wrong one."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

from deadzone.errors import check_known

Method = TypeVar("Method", bound=Callable[..., Any])


def with_options_of(source: Callable[..., Any], *hidden: str) -> Callable[[Method], Method]:
    """Give a method that ends in `**options` the signature and the words of the function that takes
    them.

    source: that function; its first parameter is what it is asked of. hidden: options that are not
    the caller's.
    """

    def named(method: Method) -> Method:
        plain = signature(method)
        own = [each for each in plain.parameters.values() if each.kind != Parameter.VAR_KEYWORD]
        taken = {*hidden, *(each.name for each in own)}
        options = [
            each.replace(kind=Parameter.KEYWORD_ONLY)
            for each in [*signature(source).parameters.values()][1:]
            if each.name not in taken
        ]
        whole = plain.replace(parameters=[*own, *options])

        @wraps(method)
        def checked(*given: Any, **named: Any) -> Any:
            for name in named:
                said = f"{method.__name__}() has no argument {name!r}"
                check_known(TypeError, said, name, whole.parameters)
            return method(*given, **named)

        checked.__signature__ = whole  # type: ignore[attr-defined]
        checked.__doc__ = f"{method.__doc__}\n\n    {source.__doc__}"
        return checked  # type: ignore[return-value]

    return named
