"""The report of a published study: what `published.yaml` beside its code lays out, made from facts.

The layout names, section by section, what is shown: headings, sentences, tables, and blocks that a method of the study's
class draws (its bare name, or `drawn` with the part that it is `of`). `facts` are formulas over the published tables and
over what the class worked out (see `formulas`); every sentence of the catalogue is said with all of them. A table has
`rows` (of a published table, of a fact, or a list of names), figures `with` each row, and columns (see
`deadzone.language.tabling`).

The conclusions of a published document, as its `claims.yaml` says, judged by the document's own tables.

An entry has a `name`, what the author `says` (in both languages), the `found` sentence, its `figures` (formulas over the
tables, see `formulas`), the `verdict` and the `evidence`. A verdict, or a sentence, that depends on the figures is told case
by case; the first case whose formula holds counts. `of` names a part of the facts whose names the entry uses directly.

Measuring on the spot for a notebook with `source = "live"`: the bundled study is swept by the public command.

Reports explain and never measure, so the sweep is a process of its own; what it measured is a run like any other.

`Published` is a study under report: its tables, and where they come from.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pandas as pd
import yaml

from deadzone.errors import ReportError, TableError
from deadzone.explaining.claims.judging import Judged
from deadzone.language.catalogue import say, written
from deadzone.language.tabling import laid_out
from deadzone.reports.document.display import (
    Block,
    Claim,
    Command,
    Evidence,
    Paragraph,
    Prose,
    Table,
    Title,
    section,
)
from deadzone.reports.document.speaking import use_language
from deadzone.reports.published import arithmetic, claims
from deadzone.reports.published.formulas import Formulas
from deadzone.store.reference import load_reference, reference_folder, reference_package

REFERENCE = "reference"
"""The value of a notebook's `source` that means the published tables."""


@dataclass(frozen=True)
class Published:
    """One of the published studies. name: of its folder under `data/reference`. package: what that says of itself."""

    name: str
    package: dict[str, Any]

    def table(self, name: str) -> pd.DataFrame:
        """A table of the study by its name; see `deadzone.store.reference.load_reference`."""
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


LIVE = "live"
"""The value of a notebook's `source` that means: measure first."""

SHOWN = 1_000
"""How much of a failed sweep's words is repeated [characters]."""

CLAIMS_FILE = "claims.yaml"
"""Beside the tables of a study: what its author concludes."""

REPORTS = Path(__file__).resolve().parent.parent
LAYOUT = "published.yaml"
"""Beside the code of a question: the layout of its published study's report."""

R = TypeVar("R")


def measure_live(study: str) -> str:
    """Sweep a study on this machine; the name of the run, STUDY/RUN_ID.

    Raises ReportError, with the sweep's own words, if it fails; what was measured is kept.
    """
    command = (sys.executable, "-m", "deadzone.cli.main", "sweep", study, "--json")
    swept = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if swept.returncode:
        said = swept.stderr.strip()[-SHOWN:] or "nothing was said"
        raise ReportError(f"The sweep of {study} ended with code {swept.returncode}: {said}")
    answer = json.loads(swept.stdout.strip().splitlines()[-1])
    return f"{study}/{answer['run_id']}"


def judge_conclusions(study: str, facts: Mapping[str, Any]) -> tuple[Judged, ...]:
    """Every conclusion of a study's document, in its order. facts: what its report worked out, by name.

    Raises TableError if the file is missing or wrong.
    """
    path = reference_folder() / study / CLAIMS_FILE
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))["claims"]
        return tuple(_judged(study, entry, facts) for entry in entries)
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise TableError(f"{path} cannot be used: {error!r}. Restore it from the repository.") from error


def _judged(study: str, entry: Mapping[str, Any], facts: Mapping[str, Any]) -> Judged:
    names = {**facts, **facts.get(entry.get("of", ""), {})}
    figures = {name: Formulas(study, names).evaluate(text) for name, text in entry.get("figures", {}).items()}
    formulas = Formulas(study, {**names, **figures})
    verdict, found = entry["verdict"], entry["found"]
    if isinstance(verdict, Mapping):
        verdict = next(name for name, when in verdict.items() if formulas.evaluate(when))
    if isinstance(found, list):
        found = next(case for case in found if formulas.evaluate(case.get("when", 1)))
    claim, shown = (written(text, {**names, **figures}) for text in (entry["says"], found))
    return Judged(entry["name"], claim, shown, verdict, tuple(entry.get("evidence", ())))


@dataclass(frozen=True, eq=False)
class PublishedReport:
    """A published study; every section of its layout, and every method, gives the blocks of one section.

    FOLDER: of its code and layout. known: what was worked out for the layout's formulas, by name.
    """

    FOLDER: ClassVar[str]
    published: Published
    known: Mapping[str, Any] = field(kw_only=True, default_factory=dict)

    @cached_property
    def layout(self) -> dict[str, Any]:
        """The layout as it is written."""
        found: dict[str, Any] = yaml.safe_load((REPORTS / self.FOLDER / LAYOUT).read_text(encoding="utf-8"))
        return found

    def facts(self, **changed: Any) -> dict[str, Any]:
        """Everything that sentences and tables may name. changed: facts that are to be others than they are."""
        names = {**self.known, **changed}
        for name, formula in self.layout["facts"].items():
            if name not in changed:
                names[name] = self._value(formula, names)
        return names

    def _value(self, formula: str | Mapping[str, str], names: Mapping[str, Any]) -> Any:
        if isinstance(formula, Mapping):
            return self._said(formula["say"], names)
        return Formulas(self.published.name, names).evaluate(formula)

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """The author's conclusions, judged."""
        return judge_conclusions(self.published.name, self._facts)

    @cached_property
    def _facts(self) -> dict[str, Any]:
        return self.facts()

    def said(self, name: str, of: str = "", **changed: Any) -> str:
        """A sentence of the layout, or of the catalogue by its key; of several the first whose condition holds.

        of: the fact whose own facts it is said with. changed: see `facts`.
        """
        facts = self.facts(**changed) if changed else self._facts
        return self._said(name, {**facts, **facts[of]} if of else facts)

    def _said(self, name: str, facts: Mapping[str, Any]) -> str:
        formulas = Formulas(self.published.name, facts)
        cases = self.layout.get("sentences", {}).get(name, [{"say": name}])
        key = next(case["say"] for case in cases if formulas.evaluate(case.get("when", 1)))
        return say(self._key(key), **facts)

    def _key(self, key: str) -> str:
        """A key of the catalogue; one without a section is of the layout's own."""
        return key if "." in key else f"{self.layout['words']}.{key}"

    def _paragraph(self, entry: str | Mapping[str, Any]) -> Paragraph:
        if isinstance(entry, str):
            return self.said(entry)
        pointers = [Evidence(one, say("claims.row")) if one.startswith("claims-") else Evidence(one)
                    for one in entry["evidence"]]  # fmt: skip
        return Claim(self.said(entry["say"], entry.get("of", "")), tuple(pointers))

    def title(self) -> list[Block]:
        """Title, findings with their evidence, and the doubt that comes first."""
        study, abstract = self.published, tuple(map(self._paragraph, self.layout["abstract"]))
        title, subtitle, doubt, verdict = map(self.said, ("title", "subtitle", "doubt", "verdict"))
        about = study.facts(), study.date, study.name, REFERENCE
        return [Title(title, subtitle, abstract, (doubt,), *about, verdict=verdict)]

    def table(self, name: str) -> Table:
        """A table of the layout."""
        entry = self.layout["tables"][name]
        values = {**self._facts, **self._facts.get(entry.get("of", ""), {})}
        rows = [{**values, **row} for row in self._rows(entry["rows"])]
        for row in rows:
            for fact, formula in entry.get("with", {}).items():
                row[fact] = self._value(formula, row)
        return Table.shown(laid_out(entry, rows, values), name)

    def _rows(self, wanted: str | list[Any]) -> list[dict[str, Any]]:
        if isinstance(wanted, list):
            named = (one if isinstance(one, dict) else {"name": one} for one in wanted)
            return [{key: written(text, self._facts) for key, text in one.items()} for one in named]
        found: list[Any] = self._facts.get(wanted) or self.published.table(wanted).to_dict("records")
        return found

    def _block(self, entry: Any) -> list[Block]:
        match entry:
            case {"section": key}:
                return [section(self._key(key), entry.get("level", 2))]
            case {"prose": said}:
                return [Prose(tuple(map(self._paragraph, said)), style=entry.get("style", ""))]
            case {"table": name}:
                return [self.table(name)]
            case {"drawn": name, "of": part}:
                return [getattr(self, name)(part)]
        drawn: Block | list[Block] = getattr(self, str(entry))()
        return drawn if isinstance(drawn, list) else [drawn]

    def __getattr__(self, name: str) -> Callable[[], list[Block]]:
        """A section of the layout by its name."""
        if name.startswith("_") or name not in self.layout["sections"]:
            raise AttributeError(name)
        return partial(self._section, name)

    def _section(self, name: str) -> list[Block]:
        return [block for entry in self.layout["sections"][name] for block in self._block(entry)]

    def conclusions(self) -> list[Block]:
        """The author's conclusions, judged."""
        return [section("study.claims"), claims.claims_table(self.judged), claims.evidence_of(self.judged)]

    claims = conclusions

    def arithmetic(self) -> list[Block]:
        """The document's arithmetic."""
        return arithmetic.arithmetic(self.published.name)

    def origin(self) -> list[Block]:
        """Which tables the report rests on, and how to make it again."""
        study, resources = self.published, self.published.package["resources"]
        rows = [{"path": table["path"], "rows": len(study.table(table["name"]))} for table in resources]
        return [
            section("study.origin"),
            Prose((say("study.origin_text"),)),
            Table.of("published.tables", rows, study=study.name, n=len(rows)),
            Command((f"deadzone publish --reference {study.name}",), heading=say("study.reproduce")),
        ]


S = TypeVar("S", bound=PublishedReport)


def load_report(
    study: str, source: str, lang: str, published: Callable[[Published], S],
    run: Callable[[str], R] | None = None, bundled: str = "",
) -> S | R:  # fmt: skip
    """The report of a published study, or of a run.

    source: "reference" for the published tables, "live" to measure the bundled study first, or a run: its id, its
    folder, or STUDY/latest. lang: language of the report, "en" or "ko". published, run: make the one and the other; without
    `run` there are only the published tables.

    Raises ReportError for an unknown language or source, or a sweep that failed, StoreError for an unknown run, TableError if it
    is a run of another kind, or a published table is missing.
    """
    use_language(lang)
    if source == REFERENCE:
        return published(Published(study, reference_package(study)))
    if run is None:
        raise ReportError(say("study.no_such_source", source=source, reference=REFERENCE))
    return run(measure_live(bundled) if source == LIVE else source)
