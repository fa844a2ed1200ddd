"""What the attribution of a slowdown found, in words, as a page and as a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from deadzone.analysis import waterfall as chart
from deadzone.analysis.page import Page, Paged
from deadzone.analysis.phases.quantities import capital, setting
from deadzone.analysis.records import plain, records
from deadzone.language.formats import p_value
from deadzone.language.messages import say
from deadzone.language.tabling import Tabled
from deadzone.plugins import Message, _
from deadzone_services.attribution import wording
from deadzone_services.attribution.result import AttributionData

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Attribution(AttributionData, Paged):
    """Why the slow environment is slow, hypothesis by hypothesis; its fields and tables are those
    of `AttributionData`."""

    def verdict(self) -> Message:
        """The whole verdict in a sentence or two."""
        return wording.verdict(self)

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
        parts = [say(wording.PARTS[part]) for part in table["part"]]
        differences = [wording.duration(value, signed=True) for value in table["difference_s"]]
        fast, slow = map(wording.duration, ends)
        if self.is_slower:
            part = capital(say(wording.PARTS[self.largest["part"]]))
            share = wording.share_text(self.largest)
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
        names: list[str] = [say(wording.NAMES[name]) for name in self.hypotheses["hypothesis"]]
        evidence = [wording.evidence_of(self, name) for name in self.hypotheses["hypothesis"]]
        notes: dict[str, list[str]] = {
            _("Found"): [wording.verdict(self)],
            _("Evidence"): [f"{n}: {said or '-'}" for n, said in zip(names, evidence, strict=True)],
            _("Read this first"): list(self.warnings),
            _("How it was decided"): [wording.method(self)],
        }
        return Page(_("Why is it slow?"), (*self._tables(names),), notes)

    def _tables(self, names: list[str]) -> list[Tabled]:
        """The environments, the verdicts on the hypotheses, and the parts of the waterfall."""
        hypotheses, table = self.hypotheses, self.waterfall
        environments = {
            _("environment"): [*self.sizes],
            _("CPU limit"): [self._limit(name) for name in self.sizes],
            _("trials"): [str(n) for n in self.sizes.values()],
            _("median response"): [wording.duration(self.medians[name]) for name in self.sizes],
        }
        verdicts = {
            _("hypothesis"): names,
            _("verdict"): [say(wording.VERDICTS[word][0]) for word in hypotheses["verdict"]],
            _("share of the slowdown"): hypotheses.apply(wording.share_text, axis=1),
            _("p (excluded)"): hypotheses["p_excluded_adjusted"].map(p_value),
            _("p (confirmed)"): hypotheses["p_confirmed_adjusted"].map(p_value),
        }
        waterfall = {
            _("part"): [say(wording.PARTS[part]) for part in table["part"]],
            self.roles.fast: table["fast_s"].map(wording.duration),
            self.roles.slow: table["slow_s"].map(wording.duration),
            _("difference"): table.apply(wording.difference_text, axis=1),
            _("share of the slowdown"): table.apply(wording.share_text, axis=1),
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
