"""A finding explained on a page, made from the catalogue: what it means, what to change, how it is tested."""

import inspect
from collections.abc import Callable

from deadzone.errors import StudyError, check_known
from deadzone.explaining.findings.examining import CATALOGUE
from deadzone.language.catalogue import say

WITHOUT_EXAMPLE = ("selected_by_trust",)
"""A sweep of Deadzone's no longer selects by trust: this is of tables that others made."""


def page(key: str) -> str:
    """The page of a finding as Markdown, in the language spoken.

    Raises StudyError for a key that is none.
    """
    check_known(StudyError, f"There is no finding {key!r}", key, CATALOGUE, "Findings are")
    severity, check = CATALOGUE[key]
    accepted = f"```yaml\naccept:\n  {key}: why it is meant\n```"
    parts = (
        f"# {key}",
        f"{say(f'findings.{severity}')}. {say(f'means.{key}')}",
        f"## {say('findings.page_mend')}\n\n{say(f'mend.{key}', add='...')}",
        f"## {say('findings.page_accept')}\n\n{say('findings.page_accept_words')}\n\n{accepted}",
        f"## {say('findings.page_tested')}\n\n{tested(check)}",
    )
    return "\n\n".join(parts) + "\n"


def tested(check: Callable[..., object]) -> str:
    """How a check is made: its docstring and those of what it is made of are kept where the statistic is computed."""
    return inspect.cleandoc(check.__doc__ or "")


def pages() -> dict[str, str]:
    """Every page by the name of its file, and the index of them, README.md."""
    rows = [
        f"| [`{key}`]({key}.md) | {say(f'findings.{severity}')} | {say(f'means.{key}')} |"
        for key, (severity, _) in CATALOGUE.items()
    ]
    table = "\n".join([say("findings.index_head"), "| --- | --- | --- |", *rows])
    index = f"# {say('findings.index_title')}\n\n{say('findings.index_intro')}\n\n{table}\n"
    return {"README.md": index, **{f"{key}.md": page(key) + _example(key) for key in CATALOGUE}}


def _example(key: str) -> str:
    """The picture of a run in which the mistake was made, that scripts/finding_examples.py draws."""
    if key in WITHOUT_EXAMPLE:
        return ""
    title, said = say("findings.page_example"), say("findings.page_example_words")
    return f"\n## {title}\n\n![{key}](examples/{key}.png)\n\n{said}\n"
