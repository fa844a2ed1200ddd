"""A published study under report: its tables, and where they come from."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from deadzone.errors import ReportError
from deadzone.language.catalogue import say
from deadzone.reports.document.speaking import use_language
from deadzone.reports.published.reference import load_reference, reference_package

REFERENCE = "reference"
"""The value of a notebook's `source` that means the published tables."""


@dataclass(frozen=True)
class Published:
    """One of the published studies. name: of its folder under `data/reference`. package: what that says of itself."""

    name: str
    package: dict[str, Any]

    def table(self, name: str) -> pd.DataFrame:
        """A table of the study by its name; see `deadzone.reports.published.reference.load_reference`."""
        return load_reference(self.name, name)

    @property
    def date(self) -> str:
        """When the document was published (ISO 8601), or an empty string where it does not say."""
        return str(self.package["sources"][0].get("date") or "")

    def facts(self) -> tuple[tuple[str, str], ...]:
        """Where the figures come from, for the head of the report."""
        document = self.package["sources"][0]
        author = document.get("author") or document.get("series") or say("study.not_stated")
        return (
            (say("study.document"), str(document["title"])),
            (say("study.author"), str(author)),
            (say("study.date"), say("study.day", day=self.date) if self.date else say("study.not_stated")),
        )


def open_published(name: str, source: str, language: str) -> Published:
    """The published study of a name, in a language to be spoken from here on.

    source: the notebook's parameter. Raises ReportError for any other source than the published tables, or
    for a language without a catalogue.
    """
    use_language(language)
    if source != REFERENCE:
        raise ReportError(say("study.no_such_source", source=source, reference=REFERENCE))
    return Published(name, reference_package(name))
