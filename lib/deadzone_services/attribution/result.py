"""What the attribution of a slowdown found: as data, in words, as a page and as a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from deadzone.analysis import waterfall as chart
from deadzone.analysis.hypothesis_tests.ranks import least_trials
from deadzone.analysis.page import Page, Paged
from deadzone.analysis.phases.quantities import capital, setting
from deadzone.analysis.records import plain, records
from deadzone.language.formats import exact, number, p_value
from deadzone.language.messages import join, say
from deadzone.language.tabling import Tabled
from deadzone.plugins import Message, _, listing
from deadzone_services.attribution import parts
from deadzone_services.attribution.environments import Roles
from deadzone_services.attribution.hypotheses import ABOUT, CLIENT, CONFIRMED, CPU_LIMIT
from deadzone_services.attribution.side_by_side import Margin
from deadzone_services.attribution.wording import (
    DECIDED,
    LARGEST,
    NAMES,
    PARTS,
    TOO_FEW,
    UNDECIDED_FOR,
    UNMEASURED,
    VERDICTS,
    difference_text,
    duration,
    share_text,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Attribution(Paged):
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

    def verdict(self) -> Message:
        """How much slower, why, and what is excluded or open."""
        facts, floor = self._facts(), duration(self.margin.floor_s)
        if self.is_same:
            text = _(
                "{slow} and {fast} respond equally fast, within {margin}: there is nothing to "
                "explain.",
                **{**facts, "margin": floor},
            )
            sentences = [text]
        else:
            text = _(
                "{slow} takes {ratio} times as long as {fast}: {difference}.",
                **facts,
                ratio=number(self.ratio),
                difference=difference_text(self.slowdown),
            )
            sentences = [text]
            if not self.is_slower:
                sentences.append(_("That {slow} is slower than {fast} is not shown.", **facts))
        if self.is_slower and not self.confirmed:
            largest = self.largest
            sentence = TOO_FEW if (self.hypotheses["why"] == "few").any() else LARGEST
            named = {"part": say(PARTS[largest["part"]]), "share": share_text(largest)}
            sentences.append(say(sentence, **named, **facts))
        if (name := self.least_limit) is not None:
            limit = self.roles.limits[name]
            best = _(
                "Set cpu_limit {limit}: the median there is {time}, within {margin} of the "
                "fastest, and that of no smaller limit is.",
                limit=f"{limit:g}",
                time=duration(self.medians[name]),
                margin=floor,
            )
            none = _("Each CPU limit that was measured costs more than {margin}.", margin=floor)
            sentences.append(none if math.isinf(limit) else best)
        for kind, (_word, sentence) in VERDICTS.items():
            if names := [say(NAMES[name]) for name in self.named(kind)]:
                sentences.append(say(sentence, n=len(names), names=listing(names)))
        return join(sentences)

    def evidence(self, name: str) -> Message:
        """What speaks for the verdict on a hypothesis, as sentences."""
        sentences = [
            _measured(part, self.measures.T[part])
            for part in ABOUT[name].shown
            if math.isfinite(self.measures["difference_s"][part])
        ]
        if name == CPU_LIMIT and self.roles.restored:
            text = _(
                "Without the limit ({restored}): {time}, in {fast} {other}; that the two are the "
                "same within the margin has {p:p_equals}.",
                restored=self.roles.restored,
                fast=self.roles.fast,
                time=duration(self.medians[self.roles.restored]),
                other=duration(self.medians[self.roles.fast]),
                p=self.removal,
            )
            sentences.append(text)
        if name == CPU_LIMIT and (doses := self.roles.doses):
            text = _(
                "Over {n} limits the response falls as the limit rises ({p:p_equals}).",
                n=len({self.roles.limits[dose] for dose in doses}),
                p=self.dose,
            )
            sentences.append(text)
        if name == CLIENT and self.is_bounded:
            text = _(
                "All of it together is under the margin in every request, so it cannot be the "
                "cause, whatever a test says."
            )
            sentences.append(text)
        if why := self.of(name)["why"]:
            sentences.append(say(UNDECIDED_FOR[why], what=say(UNMEASURED[name]), **self._facts()))
        return join(sentences)

    def _facts(self) -> dict[str, object]:
        """What sentences name: the environments, the margin, and how many trials each has at least
        (n), and must have for a test to show anything (least)."""
        roles = self.roles
        return {
            **{role: getattr(roles, role) or "" for role in ("slow", "fast", "restored")},
            "n": min(self.sizes[roles.slow], self.sizes[roles.fast]),
            "least": least_trials(max(self.tests, 1), self.confidence, sides=1),
            "margin": duration(self.margin_s),
        }

    def _method(self) -> Message:
        """How it was decided, with the margin and the correction."""
        return say(
            DECIDED,
            margin=duration(self.margin_s),
            n=self.tests,
            level=exact(1 - self.confidence),
            confidence=self.confidence,
        )

    def summary(self) -> str:
        """Everything as a page of text."""
        return str(self)

    def plot(self) -> Figure:
        """Waterfall: a row for the fast environment, for each part of the difference, and for the
        slow one.

        A whisker is the interval of a part's difference. Returns a matplotlib figure, which the
        caller closes.
        """
        table, ends = self.waterfall, self.slowdown[["fast_s", "slow_s"]]
        parts = [say(PARTS[part]) for part in table["part"]]
        differences = [duration(value, signed=True) for value in table["difference_s"]]
        fast, slow = map(duration, ends)
        if self.is_slower:
            part = capital(say(PARTS[self.largest["part"]]))
            share = share_text(self.largest)
            title = _("{part}: {share} of the slowdown", part=part, share=share)
        else:
            named = {"slow": self.roles.slow, "fast": self.roles.fast}
            title = _("{slow} against {fast}: no slowdown is shown", **named)
        return chart.draw(
            float(ends["fast_s"]),
            table["difference_s"].to_numpy(float),
            table[["low_s", "high_s"]].to_numpy(float),
            names=[self.roles.fast, *parts, self.roles.slow],
            texts=[fast, *differences, slow],
            title=title,
            axis=_(
                "time of the request (s); whiskers: {confidence:percent} interval",
                confidence=self.confidence,
            ),
        )

    def page(self) -> Page:
        """Everything as a page."""
        names: list[str] = [say(NAMES[name]) for name in self.hypotheses["hypothesis"]]
        evidence = [self.evidence(name) for name in self.hypotheses["hypothesis"]]
        notes: dict[str, list[str]] = {
            _("Found"): [self.verdict()],
            _("Evidence"): [f"{n}: {said or '-'}" for n, said in zip(names, evidence, strict=True)],
            _("Read this first"): list(self.warnings),
            _("How it was decided"): [self._method()],
        }
        return Page(_("Why is it slow?"), (*self._tables(names),), notes)

    def _tables(self, names: list[str]) -> list[Tabled]:
        """The environments, the verdicts on the hypotheses, and the parts of the waterfall."""
        hypotheses, table = self.hypotheses, self.waterfall
        environments = {
            _("environment"): [*self.sizes],
            _("CPU limit"): [self._limit(name) for name in self.sizes],
            _("trials"): [str(n) for n in self.sizes.values()],
            _("median response"): [duration(self.medians[name]) for name in self.sizes],
        }
        verdicts = {
            _("hypothesis"): names,
            _("verdict"): [say(VERDICTS[word][0]) for word in hypotheses["verdict"]],
            _("share of the slowdown"): hypotheses.apply(share_text, axis=1),
            _("p (excluded)"): hypotheses["p_excluded_adjusted"].map(p_value),
            _("p (confirmed)"): hypotheses["p_confirmed_adjusted"].map(p_value),
        }
        waterfall = {
            _("part"): [say(PARTS[part]) for part in table["part"]],
            self.roles.fast: table["fast_s"].map(duration),
            self.roles.slow: table["slow_s"].map(duration),
            _("difference"): table.apply(difference_text, axis=1),
            _("share of the slowdown"): table.apply(share_text, axis=1),
        }
        shown: list[tuple[str, Any, int]] = [
            (_("The environments"), environments, 2),
            (_("The hypotheses"), verdicts, 2),
            (_("From fast to slow, part by part"), waterfall, 1),
        ]
        return [
            Tabled(caption, pd.DataFrame(columns), [*columns][words:])
            for caption, columns, words in shown
        ]

    def _limit(self, name: str) -> str:
        if name not in self.roles.limits:
            return _("not known")
        if self.roles.is_unlimited(name):
            return _("no limit")
        return setting(self.roles.limits[name], "cpu_limit")

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON; a number that is unknown or infinite is None."""
        slowdown = {name: plain(value) for name, value in self.slowdown.items()}
        return {
            **{role: getattr(self.roles, role) for role in ("slow", "fast", "restored")},
            "response": self.response,
            "trials": dict(self.sizes),
            "medians_s": dict(self.medians),
            "ratio": plain(self.ratio),
            "slowdown_s": slowdown["difference_s"],
            **{f"slowdown_{end}_s": slowdown[f"{end}_s"] for end in ("low", "high")},
            "is_slower": self.is_slower,
            "is_same": self.is_same,
            "margin": self.margin.share,
            "margin_s": plain(self.margin_s),
            "confidence": self.confidence,
            "hypotheses": records(self.hypotheses),
            "waterfall": records(self.waterfall),
            "warnings": [str(warning) for warning in self.warnings],
        }


def _measured(name: str, measure: pd.Series) -> Message:
    part = capital(say(PARTS[name]))
    if not measure[["slow_s", "fast_s"]].any():
        return _("{part}: none in either.", part=part)
    return _(
        "{part}: {slow} against {fast}, {difference}.",
        part=part,
        slow=duration(measure["slow_s"]),
        fast=duration(measure["fast_s"]),
        difference=difference_text(measure),
    )
