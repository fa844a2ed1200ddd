"""The trials that an analysis is made of, with what is asked of them and known about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from deadzone.analysis.findings.experiment import Experiment, without_barred
from deadzone.analysis.phases.censored import is_bound
from deadzone.analysis.trial_columns import answering, is_well, marked, measured
from deadzone.language.messages import N_, Message

if TYPE_CHECKING:
    from deadzone.study.spec import Study


FAILED = N_(
    "No trial of {knob} {levels} ended well ({failed:count} tried): this level of the {planned} "
    "planned is missing from everything below.",
    "No trial of {knob} {levels} ended well ({failed:count} tried): these {n} of the {planned} "
    "planned levels are missing from everything below.",
)


@dataclass(frozen=True, eq=False)
class Source(Experiment):
    """An experiment with its circumstances.

    how: the knob and the response are written, see `deadzone.analysis.settings.answering.answer`.
    study, provenance: of a run; None and empty for a plain table. doubts: what a reader
    must know before anything else. folder: of the run, None for a plain table. barred: levels of
    the knob that fail too often to be analysed.
    """

    name: str = ""
    title: str = ""
    question: str = ""
    how: Mapping[str, Any] = field(default_factory=dict)
    study: "Study | None" = None
    run_id: str | None = None
    provenance: dict[str, Any] = field(default_factory=dict)
    doubts: tuple[Message, ...] = ()
    folder: Path | None = None
    barred: tuple[Any, ...] = ()

    @property
    def is_search(self) -> bool:
        """Whether several knobs were searched, and what is asked for is what they were searched
        for."""
        study = self.study
        return (
            study is not None
            and study.design.kind == "search"
            and self.response == study.response.name
            and {*self.factors} == {*study.varied()}
        )

    @property
    def factors(self) -> tuple[str, ...]:
        """The other factors and, last, the knob."""
        return (*self.by, self.knob)

    @property
    def trials(self) -> pd.DataFrame:
        """Every attempt, those at another workload too."""
        if self.others is None:
            return self.table
        return pd.concat([self.table, self.others]).sort_index()

    @property
    def analysed(self) -> pd.DataFrame:
        """The trials that the analysis rests on: measured, not warm-up, trusted, of no barred level
        but those that time-outs bound."""
        return self._without_barred(analysed_trials(self.trials, self.knob, self.response))

    @property
    def fitted(self) -> pd.DataFrame:
        """The trials that are handed to the fit, which says what it leaves out of a plain table."""
        return self.analysed if self.study else self._without_barred(self.trials)

    def _without_barred(self, trials: pd.DataFrame) -> pd.DataFrame:
        return without_barred(trials, self.knob, self.response, self.barred)

    @property
    def untrusted(self) -> pd.DataFrame:
        """The attempts that are not trusted, warm-up left out."""
        return measured(self.trials[~marked(self.trials, "trusted", missing=True)])

    @property
    def failed(self) -> pd.DataFrame:
        """The trials that did not end well."""
        return self.trials[~is_well(self.trials)]


def analysed_trials(trials: pd.DataFrame, knob: str, response: str = "") -> pd.DataFrame:
    """The rows an analysis rests on, time-outs too where they bound the response."""
    kept = answering(trials, knob)
    return kept[is_well(kept) | is_bound(kept, response)]
