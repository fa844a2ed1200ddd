"""Methods that hand their options on name them, for Tab, `help` and the error of a wrong one."""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, TypeVar

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
        method.__signature__ = whole  # type: ignore[attr-defined]
        method.__doc__ = f"{method.__doc__}\n\n    {source.__doc__}"
        return method

    return named
