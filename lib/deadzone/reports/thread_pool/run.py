"""The report of a run of a load test: which pool to set at which rate, and how sure that is."""

from dataclasses import dataclass

from deadzone.language.catalogue import say
from deadzone.reports.document.display import Block, Claim, Evidence, Prose, section
from deadzone.reports.document.regression import regression
from deadzone.reports.sweep import prose, tables
from deadzone.reports.sweep.claims import claims_section
from deadzone.reports.thread_pool import run_tables as drawn
from deadzone.reports.thread_pool import run_words as words
from deadzone.reports.thread_pool.pool_run import PoolRun


@dataclass(frozen=True, eq=False)
class PoolRunReport:
    """What is shown and said of a run of a load test; every method gives the blocks of one section."""

    run: PoolRun

    def title(self) -> list[Block]:
        """Title, what was found with its evidence, and the doubts that come first."""
        source = self.run.source
        abstract = (
            Claim(words.smallest_sentence(self.run), (Evidence("map"), Evidence("answers"))),
            Claim(words.reversal_sentence(self.run), (Evidence("answers"),)),
        )
        doubts = (*source.doubts, *self.run.left_out, *words.doubts(self.run))
        return [prose.head(source, abstract, doubts, words.verdict(self.run), n=len(source.analysed))]

    def conclusions(self) -> list[Block]:
        """The answers, rate by rate."""
        return [section("pool_run.answers"), drawn.rates_table(self.run), *claims_section(self.run.source)]

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

    def connections(self) -> list[Block]:
        """Nothing: connections are tested by studies of their own."""
        return []

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
        found += tables.left_out(self.run.source)
        if self.run.models is not None and self.run.judged_rate in self.run.models:
            name = say("pool_run.load_other", rate=words.rate_text(self.run.judged_rate))
            fitted = self.run.models[self.run.judged_rate]
            found += [section("study.summary"), regression(fitted, "regression", name)]
        return found

    def origin(self) -> list[Block]:
        """The circumstances of the run, and the command that makes it again."""
        return [section("pool_run.origin"), *prose.origin(self.run.source)]
