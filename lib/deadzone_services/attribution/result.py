"""What the attribution of a slowdown found: as data, in words, as a page and as a figure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from deadzone.analysis import waterfall as chart
from deadzone.analysis.hypothesis_tests.ranks import least_trials
from deadzone.analysis.page import Page, Paged
from deadzone.analysis.phases.quantities import capital, percent, setting
from deadzone.analysis.records import plain, records
from deadzone.language.formats import exact, number, p_value
from deadzone.language.messages import N_, join, say
from deadzone.language.tabling import Tabled
from deadzone.plugins import Message, _, listing
from deadzone_services.attribution import parts
from deadzone_services.attribution.hypotheses import (
    ABOUT,
    CLIENT,
    CONFIRMED,
    CPU_LIMIT,
    HYPOTHESES,
    Margin,
    Roles,
)

CAUSES = (N_("CPU limit"), N_("network"), N_("disk"), N_("memory"), N_("client"))
NAMES = dict(zip(HYPOTHESES, CAUSES, strict=True))
"""What may make a service slow."""

PARTS = {
    "dns_s": N_("looking up the name"),
    "connect_s": N_("connecting"),
    "upload_s": N_("uploading"),
    "network_s": N_("outside the service"),
    "throttled_s": N_("stopped by the CPU limit"),
    "memory_s": N_("waiting for memory"),
    "faults_s": N_("major faults, at 10 ms each"),
    "disk_s": N_("waiting for the disk"),
    "disk_bytes_s": N_("bytes of the disk, at 100 MB/s"),
    "client_cpu_s": N_("CPU time of the client"),
    "work_s": N_("CPU work of the service"),
    "rest_s": N_("not accounted for"),
}
"""The parts of a response time."""

VERDICTS = {
    "confirmed": (N_("confirmed"), N_("Confirmed: {names}.")),
    "excluded": (N_("excluded"), N_("Excluded: {names}.")),
    "undecided": (N_("undecided"), N_("Undecided: {names}.")),
}
"""In a table, and in a sentence on all hypotheses of that verdict."""

LARGEST = N_('No hypothesis is confirmed; the largest part of the slowdown is "{part}": {share}.')
TOO_FEW = N_(
    'As measured, the largest part of the slowdown is "{part}": {share}; {n} trial of an '
    "environment cannot prove it, {least} can (-r {least}, design.replicates).",
    'As measured, the largest part of the slowdown is "{part}": {share}; {n} trials of an '
    "environment cannot prove it, {least} can (-r {least}, design.replicates).",
)
"""Where no hypothesis is confirmed, and where no test could show any."""

UNDECIDED_FOR = {
    "unmeasured": N_("Undecided: {what}."),
    "few": N_(
        "Undecided: with {n} trial in an environment no test can show anything, in either "
        "direction. Measure at least {least} in each.",
        "Undecided: with {n} trials in an environment no test can show anything, in either "
        "direction. Measure at least {least} in each.",
    ),
    "throttled_without": N_(
        "Undecided: the service was throttled in {fast} too, so no environment is without a limit."
    ),
    "not_restored": N_(
        "Undecided: the limit costs time, but its removal ({restored}) is not shown to bring all "
        "of it back."
    ),
    "no_dose": N_(
        "Undecided: the limit costs time, but the time is not shown to fall as the limit is raised."
    ),
    "events": N_(
        "Undecided: memory was reclaimed or an allocation failed in {slow} during the requests."
    ),
    "near_limit": N_("Undecided: memory came near its limit in {slow}."),
    "outside": N_(
        "Undecided: time passed in which the service neither ran nor stood still. It does not say "
        "how long it had the request (header Server-Timing), so the network and a wait within the "
        "service cannot be told apart."
    ),
    "machine": N_(
        "Undecided: it was counted for the whole machine only, whose other programs wait too."
    ),
    "no_slowdown": N_("Undecided: a slowdown that could be explained is not shown."),
    "open": N_(
        "Undecided: not shown to be under the margin of {margin}, nor above. More trials may tell."
    ),
}
"""Why a hypothesis is undecided."""

UNMEASURED = {
    "cpu_limit": N_("throttling was not counted"),
    "network": N_(
        "nothing says how much of the time until the first byte was spent outside the service. "
        "That needs the accounts of the service's control group, or its Server-Timing header; "
        "equal times of connecting are not enough"
    ),
    "disk": N_("waits for the disk were not measured"),
    "memory": N_("neither waits for memory nor major faults were measured"),
    "client": N_("the client's CPU time was not measured"),
}
"""What was not measured of a hypothesis."""

DECIDED = N_(
    "A hypothesis is confirmed where its time is shown to differ by more than the margin, here "
    "{margin}. It is excluded where two one-sided tests (TOST) show that it differs by less. For "
    "the time outside the service one test shows that it is not longer. A difference that is "
    "merely not significant excludes nothing. All are rank tests between the environments; their "
    "{n} p-values are corrected together by Holm's method, at the level {level}. Differences are "
    "means over the middle half of the trials with a bootstrap interval "
    "({confidence:exact_percent}), so that the parts add up to the slowdown exactly."
)

CLOCK_MS = 0.1
"""A clock of a request is good to a tenth of a millisecond: two digits of that are shown."""


def duration(seconds: float, signed: bool = False) -> str:
    """A time with its unit: `148.8 s` is `149 s`, `0.0123` is `12.3 ms`; with its sign where asked
    for."""
    if not math.isfinite(seconds):
        return "-"
    sign = "+" if signed and seconds >= 0 else ""
    if abs(seconds) < 1:
        return f"{sign}{number(1000 * seconds, CLOCK_MS)} ms"
    return f"{sign}{number(seconds)} s"


def share_text(row: pd.Series) -> str:
    """The share of the slowdown with its interval: `97 % (93 % to 101 %)`; a dash where it is not
    known."""
    if math.isnan(row["share"]):
        return "-"
    shares = row[["share", "share_low", "share_high"]]
    return _with_interval(*(percent(one) if not one > 3 else _times(one) for one in shares))


def _times(share: float) -> str:
    return say(N_("{share:exact_percent}"), share=float(f"{share:.3g}"))


def difference_text(row: pd.Series) -> str:
    """A difference with its interval: `+1.2 s (1.1 s to 1.3 s)`; without the interval where there
    is none."""
    low, high = map(duration, row[["low_s", "high_s"]])
    return _with_interval(duration(row["difference_s"], signed=True), low, high)


def _with_interval(value: str, low: str, high: str) -> str:
    return _("{value} ({low} to {high})", value=value, low=low, high=high) if low != "-" else value


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
        same = _(
            "{slow} and {fast} respond equally fast, within {margin}: there is nothing to explain.",
            **{**facts, "margin": floor},
        )
        slower = _(
            "{slow} takes {ratio} times as long as {fast}: {difference}.",
            **facts,
            ratio=number(self.ratio),
            difference=difference_text(self.slowdown),
        )
        sentences = [same if self.is_same else slower]
        if not (self.is_slower or self.is_same):
            sentences.append(_("{slow} is not shown to be slower than {fast}.", **facts))
        if self.is_slower and not self.confirmed:
            sentence = TOO_FEW if (self.hypotheses["why"] == "few").any() else LARGEST
            named = {"part": say(PARTS[self.largest["part"]]), "share": share_text(self.largest)}
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
                "That the response falls as the limit rises, over {n} limits, has {p:p_equals}.",
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

    def summary(self) -> str:
        """Everything as a page of text."""
        return str(self)

    def plot(self) -> "Figure":
        """Waterfall: a row for the fast environment, for each part of the difference, and for the
        slow one.

        A whisker is the interval of a part's difference. Returns a matplotlib figure, which the
        caller closes.
        """
        table, ends = self.waterfall, self.slowdown[["fast_s", "slow_s"]]
        parts = [say(PARTS[part]) for part in table["part"]]
        differences = [duration(value, signed=True) for value in table["difference_s"]]
        fast, slow = map(duration, ends)
        part, share = capital(say(PARTS[self.largest["part"]])), share_text(self.largest)
        title = _("{part}: {share} of the slowdown", part=part, share=share)
        if not self.is_slower:
            title = _("{slow} against {fast}: no slowdown is shown", **self._facts())
        return chart.draw(
            float(ends["fast_s"]),
            table["difference_s"].to_numpy(float),
            table[["low_s", "high_s"]].to_numpy(float),
            names=[self.roles.fast, *parts, self.roles.slow],
            texts=[fast, *differences, slow],
            title=title,
            axis=_(
                "time of the request (s); whiskers: {confidence:exact_percent} interval",
                confidence=self.confidence,
            ),
        )

    def page(self) -> Page:
        """Everything as a page."""
        keys = self.hypotheses["hypothesis"]
        names: list[str] = [say(NAMES[name]) for name in keys]
        decided = {"n": self.tests, "level": exact(1 - self.confidence)}
        method = say(DECIDED, margin=duration(self.margin_s), confidence=self.confidence, **decided)
        notes: dict[str, list[str]] = {
            _("Found"): [self.verdict()],
            _("Evidence"): [f"{say(NAMES[name])}: {self.evidence(name) or '-'}" for name in keys],
            _("Read this first"): list(self.warnings),
            _("How it was decided"): [method],
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
