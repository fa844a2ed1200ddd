"""Which way a response is better, read from its name where nobody says it."""

from collections.abc import Mapping, Sequence

from deadzone.errors import CompareError, check_known

GOALS = ("min", "max")

MORE_IS_BETTER = ("throughput", "iops", "fps", "speed_x", "achieved_rate", "_per_s", "_rps", "_bytes_s")
"""Parts of the names of responses that are rates of useful work."""

LESS_IS_BETTER = ("_s", "_ms", "_us", "_ns", "_bytes", "_joules", "errors", "dropped", "failed_percent")
"""Endings of the names of responses that are costs: times, memory, energy, failures."""


def known_goal(response: str) -> str | None:
    """`min` or `max` where the name of a response says it, else None."""
    if any(part in response for part in MORE_IS_BETTER):
        return "max"
    return "min" if response.endswith(LESS_IS_BETTER) else None


def goals_of(
    responses: Sequence[str], stated: str | Sequence[str] | Mapping[str, str] | None
) -> dict[str, str | None]:
    """The goal of each response; None where neither the caller nor the name says it.

    stated: one goal for all, one each in the same order, or by name for some of them.

    Raises CompareError for a goal that is neither min nor max, or for a wrong number of them.
    """
    if isinstance(stated, Mapping):
        given = dict(stated)
    else:
        each = [stated] if isinstance(stated, str) else list(stated or ())
        each *= len(responses) if len(each) == 1 else 1
        if each and len(each) != len(responses):
            raise CompareError(
                f"There are {len(responses)} responses and {len(each)} goals; give one, or one each."
            )
        given = dict(zip(responses, each, strict=False))
    for goal in given.values():
        check_known(CompareError, f"The goal is {goal!r}; it must be 'min' or 'max'", goal, GOALS)
    return {response: given.get(response) or known_goal(response) for response in responses}
