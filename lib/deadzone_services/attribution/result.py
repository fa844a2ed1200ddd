"""What the attribution of a slowdown found, as data."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from deadzone_services.attribution import parts
from deadzone_services.attribution.environments import Roles
from deadzone_services.attribution.hypotheses import ABOUT, CONFIRMED, CPU_LIMIT
from deadzone_services.attribution.side_by_side import Margin


@dataclass(frozen=True, eq=False, repr=False)
class AttributionData:
    """Why the slow environment is slow, hypothesis by hypothesis.

    roles: the environments. response: column of the elapsed time [s]. margin: between next to
    nothing and what matters. is_slower: whether a slowdown that matters is shown. is_same: whether
    one is ruled out. sizes, medians: trials and median response [s] of each environment. removal,
    dose: p-values of the response without the limit, and of less time with a higher limit; nan
    where neither was measured. is_bounded: whether all CPU time of the client is under the margin.
    warnings: sentences.

    hypotheses: one row a hypothesis (cpu_limit, network, disk, memory, client). Columns:
    hypothesis, slow_s, fast_s, difference_s, low_s, high_s (the time it would take, means over the
    middle half of the trials, bootstrap interval), share, share_low, share_high (of the slowdown),
    p_excluded, p_excluded_adjusted, p_confirmed, p_confirmed_adjusted (for all tests of all
    hypotheses, `hypothesis_tests.holm`; nan untested), verdict, why (of an undecided one).

    waterfall: parts that add up to the slowdown exactly, the last one what nothing accounts for.
    Columns: part, fast_s, slow_s, difference_s, low_s, high_s, share, share_low, share_high.

    measures: the same of every part, whether it adds up or not, by its name; without those trials
    in which it was not measured, and with the p-values before any correction.
    """

    roles: Roles
    response: str
    margin: Margin
    confidence: float
    is_slower: bool
    is_same: bool
    sizes: Mapping[str, int]
    medians: Mapping[str, float]
    removal: float
    dose: float
    is_bounded: bool
    measures: pd.DataFrame
    hypotheses: pd.DataFrame
    waterfall: pd.DataFrame
    warnings: tuple[str, ...]

    @property
    def slowdown(self) -> pd.Series:
        """The response: fast_s, slow_s, difference_s, low_s, high_s."""
        return self.measures.T[parts.TOTAL]

    @property
    def ratio(self) -> float:
        """How many times as long the slow environment takes as the fast one, by their medians."""
        return self.medians[self.roles.slow] / self.medians[self.roles.fast]

    @property
    def margin_s(self) -> float:
        """The margin for the slowdown as measured [s]."""
        return self.margin.seconds(self.slowdown["difference_s"])

    @property
    def largest(self) -> pd.Series:
        """The part that takes most of the slowdown, as a row of the waterfall."""
        return self.waterfall.sort_values("difference_s").iloc[-1]

    @property
    def least_limit(self) -> str | None:
        """The environment with the smallest CPU limit whose median is no slower than the fastest by
        more than the margin's floor; None where the limit is not the cause, as far as is measured,
        or two limits were not compared."""
        limits = {name: limit for name, limit in self.roles.limits.items() if name in self.medians}
        is_cause = CPU_LIMIT in self.confirmed or (
            self.is_slower and self.largest["part"] == ABOUT[CPU_LIMIT].part
        )
        if not is_cause or len(limits) < 2:
            return None
        longest_s = min(self.medians[name] for name in limits) + self.margin.floor_s
        enough = [name for name in limits if self.medians[name] <= longest_s]
        return min(enough, key=limits.__getitem__)

    def of(self, name: str) -> pd.Series:
        """A hypothesis by its name, as a row of the table."""
        return self.hypotheses[self.hypotheses["hypothesis"] == name].iloc[0]

    def named(self, verdict: str) -> tuple[str, ...]:
        """The hypotheses with a verdict: confirmed, excluded or undecided."""
        rows = self.hypotheses
        return tuple(rows.loc[rows["verdict"] == verdict, "hypothesis"])

    @property
    def tests(self) -> int:
        """How many tests were made of all hypotheses."""
        return int(self.hypotheses[["p_excluded", "p_confirmed"]].notna().to_numpy().sum())

    @property
    def confirmed(self) -> tuple[str, ...]:
        """The hypotheses that are confirmed."""
        return self.named(CONFIRMED)
