"""The report of a run that tests connections: new ones a second, or held ones until the server gives up."""

from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import pandas as pd

from deadzone.errors import PhaseError
from deadzone.explaining.capacity.connections import Held, Spike, held_connections, spike
from deadzone.explaining.phases.quantities import listing, number
from deadzone.language.catalogue import join, say
from deadzone.reports.document.display import Block, Claim, Evidence, Prose, Table, section
from deadzone.reports.figures.curves import curve_figure
from deadzone.reports.sweep import prose, tables
from deadzone.reports.sweep.claims import claims_section
from deadzone.reports.sweep.source import Source
from deadzone.reports.thread_pool.run_tables import settings_rows

Mode = Literal["spike", "ramp"]

SAFE_SHARE = 0.8
"""Connections are allowed up to this share of the least number that was held: memory is not the same every day."""

MEBI = 2**20


@dataclass(frozen=True, eq=False)
class ConnectionRun:
    """A run of a spike test or of ramps of held connections; every method gives the blocks of one section."""

    source: Source
    mode: Mode
    spike: Spike | None
    held: tuple[Held, ...]

    def title(self) -> list[Block]:
        """Title, what was found, and the doubts that come first."""
        source = self.source
        said = self.found()
        return [prose.head(source, (Claim(said, (Evidence("connections"),)),), source.doubts, said)]

    def found(self) -> str:
        """What the run says, in a few sentences."""
        if self.mode == "spike":
            return say("connection_run.no_answer") if self.spike is None else _spike_found(self.spike)
        return _held_found(self.held) if self.held else say("connection_run.no_answer")

    def conclusions(self) -> list[Block]:
        """What was claimed of the run; the answer itself is in the table of connections."""
        return claims_section(self.source)

    def response(self) -> list[Block]:
        """The curve of a spike test."""
        if self.spike is None or self.spike.model is None:
            return []
        figure = curve_figure(self.spike.model, self.spike.model.recommend(), "response", is_face=True)
        return [section("connection_run.spike"), figure]

    def capacity(self) -> list[Block]:
        """Nothing: connections have no pool."""
        return []

    def connections(self) -> list[Block]:
        """One row a rate of a spike test, or one a ramp."""
        if self.mode == "ramp":
            return [section("connection_run.ramp"), Prose((self.found(),)), _ramp_table(self.held)]
        return [] if self.spike is None else [_spike_table(self.spike)]

    def cold_start(self) -> list[Block]:
        """Nothing: connections are counted from the first one on."""
        return []

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

    def origin(self) -> list[Block]:
        """The circumstances of the run, and the command that makes it again."""
        return [section("pool_run.origin"), *prose.origin(self.source)]


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
