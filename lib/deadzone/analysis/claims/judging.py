"""Judging the claims of a study, all together: one verdict each, with the figures behind it.

The test of each form of claim.

| form | test |
| --- | --- |
| ratio | Student's t of a difference of means of ln(response) against each bound that the claim has |
| why | the same of CPU time over wall time; of other mechanisms the test that explains phases (`explaining.mechanisms_between`) |
| holds | that of the objectives of a load test (`capacity.confidence`); without a setting, at one level of the knob at least |
| phase | the posterior probability of the label on every step, from the phase model |

A ratio has all spellings of one setting against another (`deadzone.study.claims`). With a bound on
either side it is equivalence by two one-sided tests (Schuirmann 1987, Journal of Pharmacokinetics
and Biopharmaceutics 15, 657-680), against several rivals an intersection-union test (Berger 1982,
Technometrics 24, 295-300), of a change non-inferiority against the margin (Wellek 2010, Testing
Statistical Hypotheses of Equivalence and Noninferiority). Means of logarithms make "twice as fast" a
statement about geometric means.

The verdicts on claims: every claim has a test in each direction, that it holds (the null: it
does not), and that it does not (the null: it does), and all claims of a study are judged together
(`hypothesis_tests.holm`).
"""  # noqa: E501

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from deadzone.analysis.claims.measured import Measured, NotMeasured, missing
from deadzone.analysis.hypothesis_tests.holm import CONFIDENCE, all_of, any_of, judged
from deadzone.analysis.mechanisms.explaining import mechanisms_between
from deadzone.analysis.mechanisms.parts import CAUSES
from deadzone.analysis.objectives.bounds import (
    ERRORS,
    Objective,
    chance_met,
    errors_interval,
    objectives_of,
)
from deadzone.analysis.objectives.estimates import Estimate
from deadzone.analysis.phases.candidates import named_places
from deadzone.analysis.phases.quantities import (
    exact_response,
    level_number,
    number,
    percent,
    plain_name,
    response,
    setting,
)
from deadzone.language.formats import exact, exact_percent
from deadzone.language.messages import N_, _, join, say, spoken
from deadzone.store.table import is_at, rows_at
from deadzone.study.claims import ClaimSpec, PhaseIsSpec, Ratio, WhySpec
from deadzone.study.direction import known_goal
from deadzone.study.levels import Level, format_level, is_number
from deadzone.study.objective_specs import DERIVED, ObjectiveSpec
from deadzone.study.scales import level_name
from deadzone.style import PHASE_STYLES

Verdict = Literal["supported", "partly", "undecided", "contradicted", "not_measured"]
"""supported: the data show it. partly: a part of it, or with a reservation. undecided: the data can
neither show nor refute it. contradicted: the data show otherwise. not_measured: nothing that was
measured speaks of it."""

ASKED: tuple[Verdict, ...] = ("supported", "contradicted", "partly")
"""The verdicts that a test can give, the first that is sure counts."""


@dataclass(frozen=True)
class ClaimTest:
    """What a form's test found.

    p_for: of the null that the claim does not hold; p_against: of the null that it does. p_partly:
    of the null that not even its weaker form holds, None where it has none. found: what the data
    say. reason: why nothing was tested, empty where it was.
    """

    p_for: float = 1.0
    p_against: float = 1.0
    p_partly: float | None = None
    found: str = ""
    reason: str = ""


def verdicts(
    tested: Sequence[ClaimTest], confidence: float = CONFIDENCE
) -> list[tuple[Verdict, float | None]]:
    """The verdict on each of the claims of a study, and the confidence in it; None where nothing
    was tested or decided."""
    raw = [
        (None, None, None) if test.reason else (test.p_for, test.p_against, test.p_partly)
        for test in tested
    ]
    results: list[tuple[Verdict, float | None]] = []
    corrected = judged(np.array(raw, dtype=float).reshape(-1, len(ASKED)))
    for test, chances in zip(tested, corrected.tolist(), strict=True):
        sure = [(way, 1 - p) for way, p in zip(ASKED, chances, strict=True) if p <= 1 - confidence]
        results.append(sure[0] if sure else ("not_measured" if test.reason else "undecided", None))
    return results


WORK = {"less_work": N_("less work"), "more_cores": N_("the same work on more cores")}
"""The causes that CPU time alone tells apart; the others need the account of time."""


def words(text: str | Mapping[Any, str] | None) -> str:
    """What a claim says in the language spoken; in another where it says it in one only."""
    if isinstance(text, Mapping):
        return text.get(spoken()) or next(iter(text.values()), "")
    return text or ""


def settings_text(levels: Mapping[str, Level]) -> str:
    """A setting in words: `threads 4` is `4 threads`."""
    named = [setting(float(v) if is_number(v) else v, k) for k, v in levels.items()]
    return join(named, ", ")


def cause_name(cause: str) -> str:
    """A cause in words."""
    return say(WORK.get(cause) or CAUSES[cause])


def bounds_text(ratio: Ratio) -> str:
    """Between which bounds a ratio is claimed to be: `at least 2 times`."""
    ends = (ratio.low, ratio.high, ratio.low_in_part or 0.0)
    low, high, weaker = (exact(float(f"{math.exp(end):.3g}")) for end in ends)
    if ratio.high < math.inf:
        return _("{low} to {high} times", low=low, high=high)
    if ratio.low_in_part is not None:
        return _("at least {low} times, in part {weaker} times", low=low, weaker=weaker)
    return _("at least {low} times", low=low)


def tested(claim: ClaimSpec, measured: Measured) -> ClaimTest:
    """The test of a claim."""
    try:
        if ratio := measured.ratio_of(claim):
            return _ratio(ratio, claim.given, measured)
        if claim.cannot_be_judged:
            return ClaimTest(reason=words(claim.cannot_be_judged))
        return FORMS[claim.form](getattr(claim, claim.form), claim, measured)
    except NotMeasured as unknown:
        return ClaimTest(reason=_("Not measured here: {what}.", what=unknown.args[0]))


def _above(
    sides: Sequence[tuple[Estimate, float]], found: str, in_part: float | None = None
) -> ClaimTest:
    """A claim that every one of some numbers is above its edge. in_part: p-value of the null that
    not even a weaker claim holds."""
    return ClaimTest(
        p_for=all_of([estimate.p_above(bound) for estimate, bound in sides]),
        p_against=any_of([estimate.p_below(bound) for estimate, bound in sides]),
        p_partly=in_part,
        found=found,
    )


def _ratio(ratio: Ratio, given: Mapping[str, Level], measured: Measured) -> ClaimTest:
    column = ratio.column or measured.response
    cells = measured.cells(column, linear=ratio.is_difference)
    if cells is None:
        raise missing(column, cells)
    if not cells.is_log and not ratio.is_difference:
        raise NotMeasured(
            _(
                "{column}, which was 0 at times: no share of it says by how much it changes; give "
                "the margin in its unit (absolute: true)",
                column=plain_name(column),
            )
        )
    known = measured.goal if column == measured.response else known_goal(column)
    better = -1 if (ratio.goal or known or "min") == "min" else 1
    gains = [
        (change * better, than)
        for than in ratio.than
        if (change := cells.change({**given, **than}, {**given, **ratio.of}, bool(ratio.column)))
    ]
    if not gains:
        raise missing(column, cells)
    sides = [(gain, ratio.low) for gain, _ in gains]
    sides += [(gain * -1, -ratio.high) for gain, _ in gains if ratio.high < math.inf]
    in_part = ratio.low_in_part
    weaker = None if in_part is None else all_of([gain.p_above(in_part) for gain, _ in gains])
    gain, than = min(gains, key=lambda pair: pair[0].distance(ratio.low))
    if ratio.column:
        return _above(sides, _change(ratio, gain * better))
    times, low, high = (number(math.exp(v)) for v in (gain.value, *gain.interval()))
    compared = _(
        "With {at} it is {times} times as good as with {than} ({low} to {high}); claimed: "
        "{bounds}.",
        at=settings_text(ratio.of), times=times, than=settings_text(than), low=low, high=high,
        bounds=bounds_text(ratio),
    )  # fmt: skip
    closest = _("The closest rival is {rival}.", rival=settings_text(than))
    return _above(sides, join([closest, compared]) if len(ratio.than) > 1 else compared, weaker)


def _change(ratio: Ratio, change: Estimate) -> str:
    """The change of a column in words, as a share of it or in its unit."""
    spread = max(2 * change.error, abs(ratio.low) / 100)
    ends = [v if abs(v) > spread / 100 else 0.0 for v in (change.value, *change.interval())]
    value, low, high = (
        [response(ends[0], ratio.column, spread), *(number(v, spread) for v in ends[1:])]
        if ratio.is_difference
        else [percent(math.expm1(v)) for v in ends]
    )
    return _(
        "Change of {column}: {change} ({low} to {high}).",
        column=plain_name(ratio.column), change=value, low=low, high=high,
    )  # fmt: skip


def _holds(holds: Mapping[str, ObjectiveSpec], claim: ClaimSpec, measured: Measured) -> ClaimTest:
    """Of a claim without a setting: that some level of the knob meets all bounds."""
    bounds, _loads = objectives_of(holds)
    anywhere = not claim.at and measured.knob not in claim.given
    levels = measured.factors[measured.knob] if anywhere else ()
    settings = [{measured.knob: level} for level in levels] or [claim.at or {}]
    held = [(at, _held(bounds, {**claim.given, **at}, measured)) for at in settings]
    cases = [(at, *case) for at, case in held if case is not None]
    if not cases:
        raise NotMeasured(join([plain_name(bound.column) for bound in bounds], ", "))
    at, _sure, figures = max(cases, key=lambda case: min(case[1]))
    return ClaimTest(
        any_of([1 - min(sure) for _, sure, _ in cases]),
        all_of([any_of(sure) for _, sure, _ in cases]),
        None,
        _("With {at} it is surest: {figures}.", at=settings_text(at), figures=figures)
        if anywhere
        else _("Measured: {figures}.", figures=figures),
    )


def _held(
    bounds: Sequence[Objective], levels: Mapping[str, Level], measured: Measured
) -> tuple[list[float], str] | None:
    """The confidence that each bound is met at a setting, and what was measured of it; None if it
    was not."""
    sure, parts = [], []
    for bound in bounds:
        cells = measured.cells(bound.column)
        mean = cells.at(levels) if cells else None
        if cells is None or mean is None:
            return None
        there = is_at(cells.trials, levels)
        scale = np.exp if cells.is_log else np.array
        figures = [mean.value, *mean.interval(), *cells.values[there]]
        value, low, high, *each = scale(figures).tolist()
        counted = cells.trials.loc[there].reindex(columns=list(DERIVED[ERRORS])).fillna(0)
        counts = counted.to_numpy(float)
        if bound.column == ERRORS and counts.any():
            low, high = errors_interval(counts)
        sure.append(chance_met(bound, np.array(each), mean, counts, is_log=cells.is_log))
        spread = (high - low) / 4 or None
        parts.append(
            _(
                "{column} {value} ({low} to {high})",
                column=plain_name(bound.column),
                value=response(value, bound.column, spread),
                low=number(low, spread),
                high=number(high, spread),
            )
        )
    return sure, join(parts, "; ")


def _ends(claim: ClaimSpec, measured: Measured) -> dict[str, str]:
    """The levels between which something is claimed, in words."""
    return {
        name: level_number(float(end), measured.knob) if is_number(end) else str(end)
        for name, end in zip(("start", "stop"), claim.ends(), strict=True)
    }


def _phase(phase: PhaseIsSpec, claim: ClaimSpec, measured: Measured) -> ClaimTest:
    model, label = measured.model_of(claim.given), phase.label
    at = named_places(model) if model else {}
    start, stop = (at.get(level_name(end), math.nan) for end in (phase.start, phase.stop))
    steps = model.steps if model else pd.DataFrame(columns=["start", "stop"])
    inside = steps[(steps["start"] >= start) & (steps["stop"] <= stop)]
    if inside.empty:
        raise NotMeasured(_("a curve that phases could be fitted to"))
    likely = inside[f"p_{label}"].to_numpy(float)
    labels = [PHASE_STYLES[str(name)].name for name in dict.fromkeys(inside["label"])]
    found = _(
        "The steps from {start} to {stop} are {labels}; that one is {phase} has a probability of "
        "{low:probability} to {high:probability}.",
        labels=join(labels, ", "),
        phase=PHASE_STYLES[label].name,
        low=float(likely.min()),
        high=float(likely.max()),
        **_ends(claim, measured),
    )
    in_part = float((1 - likely.max()) + likely.min()) if len(likely) > 1 else None
    p_for, p_against = (min(1.0, float(sides.sum())) for sides in (1 - likely, likely))
    return ClaimTest(p_for, p_against, in_part, found)


def _why(why: WhySpec, claim: ClaimSpec, measured: Measured) -> ClaimTest:
    """Whether CPU time falls, and by more than half of what ln(wall time) does; or wall time falls,
    and CPU time by less than half of that: wall = CPU time / cores used."""
    trials = measured.trials
    if why.cause not in WORK:
        return _mechanism(why, claim, measured)
    if not {"wall_s", "user_s", "sys_s"} <= set(trials):
        raise NotMeasured(_("CPU time"))
    cpu = (trials["user_s"] + trials["sys_s"]).to_numpy(float)
    wall = trials["wall_s"].to_numpy(float)
    start, stop = ({**claim.given, measured.knob: end} for end in (why.start, why.stop))
    excess, cpu_falls, wall_falls = (
        column.change(stop, start) if (column := measured.cells("", values)) else None
        for values in (cpu / np.sqrt(wall), cpu, wall)
    )
    if excess is None or cpu_falls is None or wall_falls is None:
        raise NotMeasured(_("CPU time"))
    asked = (excess, cpu_falls) if why.cause == "less_work" else (excess * -1, wall_falls)
    return _above(
        [(estimate, 0.0) for estimate in asked],
        _(
            "From {start} to {stop} the time changes by a factor of {wall}, the CPU time by {cpu}.",
            cpu=number(math.exp(-cpu_falls.value)),
            wall=number(math.exp(-wall_falls.value)),
            **_ends(claim, measured),
        ),
    )


def _mechanism(why: WhySpec, claim: ClaimSpec, measured: Measured) -> ClaimTest:
    """Whether a mechanism is confirmed, or excluded, as where phases are explained: by the account
    of time."""
    rows, ends = rows_at(measured.trials, claim.given), (why.start, why.stop)
    table = mechanisms_between(rows, measured.response, measured.goal, measured.knob, ends)
    row = table.dropna().to_dict("index").get(why.cause)
    if row is None:
        raise NotMeasured(_("the account of time"))
    found = _(
        "From {start} to {stop}, {cause} makes the job take {change} times as long ({low} to "
        "{high}).",
        cause=cause_name(why.cause),
        **{name: number(math.exp(row[name])) for name in ("change", "low", "high")},
        **_ends(claim, measured),
    )
    return ClaimTest(row["p_confirmed"], row["p_excluded"], None, found)


FORMS: dict[str, Callable[[Any, ClaimSpec, Measured], ClaimTest]] = {
    "phase": _phase, "holds": _holds, "why": _why,
}  # fmt: skip
"""The test of each form that bounds no ratio."""


VERDICT_NAMES = {
    "supported": N_("supported"),
    "partly": N_("in part"),
    "undecided": N_("not shown"),
    "contradicted": N_("contradicted"),
    "not_measured": N_("not measured"),
}


def sentence(claim: ClaimSpec, ratio: Ratio | None) -> str:
    """A claim in words, where it says none itself. ratio: that it bounds, if it does."""
    if claim.best:
        return _("{at}: no other setting is better", at=settings_text(claim.best))
    if claim.not_worse and ratio:
        column, least = claim.not_worse.response or "", claim.not_worse.by_at_most
        return _(
            "{response}: at most {margin} worse at {stop} than at {start}",
            response=plain_name(column) if column else _("the response"),
            margin=exact_response(least, column)
            if claim.not_worse.absolute
            else exact_percent(least, spoken()),
            start=format_level(claim.start or 0),
            stop=format_level(claim.stop or 0),
        )
    if claim.nothing_to_gain_beyond is not None and ratio:
        return _("beyond {at} nothing is to be gained", at=settings_text(ratio.of))
    if ratio:
        at, than = settings_text(ratio.of), settings_text(ratio.than[0])
        return _(
            "with {at} it is {bounds} as good as with {than}",
            at=at, bounds=bounds_text(ratio), than=than,
        )  # fmt: skip
    if claim.holds:
        bounds = [
            f"{plain_name(column)} {'≥' if held.at_most is None else '≤'} "
            f"{exact_response(held.value, column)}"
            for column, held in claim.holds.items()
        ]
        if claim.at:
            return _("{bounds}, at {at}", bounds=join(bounds, ", "), at=settings_text(claim.at))
        bounds.append(settings_text(claim.given))
        return _("one setting at least meets {bounds}", bounds=join(bounds, ", "))
    if not claim.ends():
        return _("a claim without words")
    start, stop = map(format_level, claim.ends())
    if claim.phase:
        label = PHASE_STYLES[claim.phase.label].name
        return _("{start} to {stop} is {label}", start=start, stop=stop, label=label)
    assert claim.why is not None
    cause = cause_name(claim.why.cause)
    return _("from {start} to {stop} it is {cause}", start=start, stop=stop, cause=cause)


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim, judged.

    name: of its row. claim: what is claimed. found: what the data say of it. verdict: a `Verdict`.
    confidence: in the verdict, family-wise; None where there is none. added: when the claim was
    made, where that was after the run was measured (ISO 8601), else empty.
    """

    name: str
    claim: str
    found: str
    verdict: Verdict
    confidence: float | None = None
    added: str = ""

    def __str__(self) -> str:
        """The claim, its verdict and its figures in a line of a terminal."""
        named, claim = say(VERDICT_NAMES[self.verdict]), self.claim.removesuffix(".")
        return _("{verdict}: {claim}. {found}", verdict=named, claim=claim, found=self.found)

    def to_dict(self) -> dict[str, Any]:
        """The claim as plain JSON values."""
        return {**asdict(self), "claim": str(self.claim), "found": str(self.found)}


def judge(
    claims: Sequence[ClaimSpec],
    measured: Measured,
    confidence: float = CONFIDENCE,
    added: Sequence[str] = (),
) -> tuple[ClaimVerdict, ...]:
    """The verdict on every claim, in their order.

    confidence: that not one of the verdicts is wrong. added: for each claim when it was made, empty
    for those from before the run.
    """
    tests = [tested(claim, measured) for claim in claims]
    judged = []
    for i, (verdict, sure) in enumerate(verdicts(tests, confidence)):
        claim, test, since = claims[i], tests[i], added[i] if added else ""
        found = f"{test.reason.rstrip('.')}." if test.reason else test.found
        late = _("Claimed after the run was measured ({when}).", when=since) if since else ""
        judged.append(
            ClaimVerdict(
                claim.name or f"claim-{i + 1}",
                words(claim.says) or sentence(claim, measured.ratio_of(claim)),
                join([found, late]),
                verdict,
                sure,
                since,
            )
        )
    return tuple(judged)
