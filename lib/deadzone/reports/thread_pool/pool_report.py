"""The report of a load test of a pool.

It says which pool to set at which rate, and how sure that is. Of a run that tests connections it says how many new ones a
second are borne, or how many are held until the server gives up.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.capacity.connections import Held, Spike, held_connections, spike
from deadzone.explaining.phases.quantities import listing, number
from deadzone.language.catalogue import join, say
from deadzone.reports.document.display import Block, Claim, Evidence, Prose, Table, section
from deadzone.reports.document.regression import regression
from deadzone.reports.figures import curves
from deadzone.reports.sweep import prose, tables
from deadzone.reports.sweep.measured_live import run_of
from deadzone.reports.sweep.run_report import RunReport
from deadzone.reports.sweep.source import Source, load_source
from deadzone.reports.thread_pool import run_tables as drawn
from deadzone.reports.thread_pool import run_words as words
from deadzone.reports.thread_pool.pool_run import PoolRun, analyse_pools
from deadzone.reports.thread_pool.run_tables import settings_rows

Mode = Literal["spike", "ramp"]

SAFE_SHARE = 0.8
"""Connections are allowed up to this share of the least number that was held: memory is not the same every day."""

MEBI = 2**20


@dataclass(frozen=True, eq=False)
class ConnectionRun(RunReport):
    """A run of a spike test or of ramps of held connections."""

    mode: Mode
    spike: Spike | None
    held: tuple[Held, ...]

    def title(self) -> list[Block]:
        """Title, what was found, and the doubts that come first."""
        said = self.found()
        return [prose.head(self.source, (Claim(said, (Evidence("connections"),)),), self.source.doubts, said)]

    def found(self) -> str:
        """What the run says, in a few sentences."""
        if self.spike is not None:
            return _spike_found(self.spike)
        return _held_found(self.held) if self.held else say("connection_run.no_answer")

    def response(self) -> list[Block]:
        """The curve of a spike test."""
        if self.spike is None or self.spike.model is None:
            return []
        figure = curves.curve_figure(self.spike.model, self.spike.model.recommend(), "response", is_face=True)
        return [section("connection_run.spike"), figure]

    def connections(self) -> list[Block]:
        """One row a rate of a spike test, or one a ramp."""
        if self.mode == "ramp":
            return [section("connection_run.ramp"), Prose((self.found(),)), _ramp_table(self.held)]
        return [] if self.spike is None else [_spike_table(self.spike)]

    def guideline(self) -> list[Block]:
        """What to allow."""
        rows = []
        if self.held:
            allowed = f"{np.floor(SAFE_SHARE * min(one.connections for one in self.held)):,.0f}"
            said = say("connection_run.advise", n=allowed, share=SAFE_SHARE)
            rows.append((say("connection_run.most_connections"), allowed, said))
        if self.spike is not None and self.spike.knee is not None:
            knee = f"{self.spike.knee:,g}"
            rows.append((say("connection_run.most_rate"), knee, say("connection_run.why_knee")))
        table = Table.of("thread_pool.allowed", settings_rows(rows), "settings")
        return [section("pool_run.settings"), table] if rows else []

    def limits(self) -> list[Block]:
        """What these figures cannot say."""
        return [section("study.limits"), Prose((say("connection_run.limits"), say("pool_run.limits_place")))]

    def details(self) -> list[Block]:
        """The trials that were left out."""
        return [*tables.left_out(self.source)]


def analyse_connections(source: Source, mode: Mode) -> ConnectionRun:
    """The analysis of a run that tests connections."""
    trials = source.analysed
    if mode == "ramp":
        held = tuple(held_connections(trials)) if len(trials) else ()
        return ConnectionRun(source, mode, None, held)
    try:
        found = spike(trials, source.knob) if len(trials) else None
    except PhaseError:
        found = None
    return ConnectionRun(source, mode, found, ())


def _spike_found(found: Spike) -> str:
    failed = found.levels.set_index(found.levels.columns[0])["failed_percent"]
    if found.knee is None:
        said = [say("connection_run.spike_no_knee", largest=f"{failed.index[-1]:,g}")]
    else:
        ends = {"low": f"{found.low:,g}", "high": f"{found.high:,g}"}
        said = [say("connection_run.spike_knee", knee=f"{found.knee:,g}", **ends)]
    if found.failing is None:
        said.append(say("connection_run.spike_no_failing"))
    else:
        share = number(float(failed[found.failing]))
        said.append(say("connection_run.spike_failing", rate=f"{found.failing:,g}", share=share))
    if found.died is not None:
        said.append(say("connection_run.spike_died", rate=f"{found.died:,g}"))
    return join(said)


def _spike_table(found: Spike) -> Table:
    levels = found.levels.rename(columns={found.levels.columns[0]: "level"})
    shown = {str(name): True for name in levels}
    return Table.of("thread_pool.spike", levels.to_dict("records"), "connections", **shown)


def _held_found(held: tuple[Held, ...]) -> str:
    counts = [one.connections for one in held]
    middle = f"{float(np.median(counts)):,.0f}"
    ends = {"least": f"{min(counts):,.0f}", "most": f"{max(counts):,.0f}"}
    key = "connection_run.held_once" if len(held) == 1 else "connection_run.held"
    said = [say(key, n=middle, trials=len(held), **ends)]
    outcomes = pd.Series([one.outcome for one in held]).value_counts()
    named = [
        say("connection_run.outcome_count", outcome=say(f"connection_run.outcome_{name}"), n=int(n))
        for name, n in outcomes.items()
    ]
    said.append(say("connection_run.how", outcomes=listing(named)))
    costs = [one.memory_a_connection for one in held if np.isfinite(one.memory_a_connection)]
    if costs:
        said.append(say("connection_run.a_connection", size=f"{np.median(costs) / 1024:,.0f} KiB"))
    return join(said)


def _ramp_table(held: tuple[Held, ...]) -> Table:
    memory = [f"{one.memory_bytes / MEBI:,.0f} MiB" if np.isfinite(one.memory_bytes) else "-" for one in held]
    rows = [{**asdict(one), "memory": text} for one, text in zip(held, memory, strict=True)]
    return Table.of("thread_pool.ramp", rows, "connections")


@dataclass(frozen=True, eq=False)
class PoolRunReport(RunReport):
    """What is shown and said of a run of a load test."""

    run: PoolRun

    def title(self) -> list[Block]:
        """Title, what was found with its evidence, and the doubts that come first."""
        source = self.source
        abstract = (
            Claim(words.smallest_sentence(self.run), (Evidence("map"), Evidence("answers"))),
            Claim(words.reversal_sentence(self.run), (Evidence("answers"),)),
        )
        doubts = (*source.doubts, *self.run.left_out, *words.doubts(self.run))
        return [prose.head(source, abstract, doubts, words.verdict(self.run), n=len(source.analysed))]

    def conclusions(self) -> list[Block]:
        """The answers, rate by rate."""
        return [section("pool_run.answers"), drawn.rates_table(self.run), *self.claims()]

    def response(self) -> list[Block]:
        """The heat map with the feasible region, and the curves."""
        found: list[Block] = [section("pool_run.map"), drawn.map_figure(self.run)]
        if self.run.models is None:
            return [*found, Prose((say("pool_run.not_fitted", reason=self.run.problem),), style="warnings")]
        found += [section("pool_run.curves", 3), drawn.curves(self.run)]
        if self.run.why:
            said = (
                Claim(one, (Evidence("time"), Evidence("answers"))) for one in words.why_sentences(self.run)
            )
            found += [section("pool_run.time", 3), drawn.time_figure(self.run), Prose(tuple(said))]
        return [*found, Prose((say("pool_run.two_ways"),))] if self._two_ways() else found

    def _two_ways(self) -> bool:
        """Whether the trials show that more hurts at a rate whose phases do not."""
        assert self.run.models is not None
        there = [one.rate for one in self.run.turning if one.start is not None]
        return any(self.run.models[rate].phases.iloc[-1]["label"] != "reversal" for rate in there)

    def capacity(self) -> list[Block]:
        """How much each pool bears, and Little's law."""
        found: list[Block] = []
        if self.run.feasible is not None:
            found += [section("pool_run.capacity"), drawn.capacity_table(self.run, self.run.feasible)]
            found.append(Prose((say("pool_run.capacity_text"),)))
        if len(self.run.law):
            found += [section("pool_run.law"), Prose(words.law_sentences(self.run))]
            found.append(drawn.law_table(self.run))
        return found

    def cold_start(self) -> list[Block]:
        """How long the service warms up, and whether it matters."""
        found: list[Block] = [section("pool_run.warmup"), Prose(words.warmup_sentences(self.run))]
        return [*found, drawn.warmup_table(self.run)] if drawn.warming(self.run.cold) else found

    def guideline(self) -> list[Block]:
        """What to set."""
        return [section("pool_run.settings"), drawn.settings_table(self.run)]

    def limits(self) -> list[Block]:
        """What these figures cannot say."""
        return [section("study.limits"), Prose(words.limits(self.run))]

    def details(self) -> list[Block]:
        """Every cell, the trials that were left out, and the fit as a statistician expects it."""
        found: list[Block] = [section("pool_run.details"), drawn.cells_table(self.run)]
        found += tables.left_out(self.source)
        if self.run.models is not None and self.run.judged_rate in self.run.models:
            name = say("pool_run.load_other", rate=words.rate_text(self.run.judged_rate))
            fitted = self.run.models[self.run.judged_rate]
            found += [section("study.summary"), regression(fitted, "regression", name)]
        return found


def load(source: str, lang: str = "en") -> PoolRunReport | ConnectionRun:
    """A run of a load test; see `deadzone.reports.sweep.measured_live.run_of`."""
    return load_run(run_of(source, lang, "thread-pool"))


def load_run(name: str) -> PoolRunReport | ConnectionRun:
    """A run of a load test: of pools over rates, or of connections.

    Raises StoreError if there is none, TableError if its trials have neither a rate nor connections.
    """
    source = load_source(name)
    mode: Any = getattr(source.study.workload, "mode", "constant") if source.study else "constant"
    if mode in get_args(Mode):
        return analyse_connections(source, mode)
    found = analyse_pools(source)
    return PoolRunReport(found.source, found)
