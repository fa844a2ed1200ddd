"""An attribution as a page: plain text for a terminal, HTML for a notebook.

The waterfall of a slowdown: from the fast response, part by part, to the slow one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deadzone.analysis import waterfall as chart
from deadzone.analysis.page import Page
from deadzone.analysis.phases.quantities import capital, setting
from deadzone.language.formats import p_value
from deadzone.language.messages import N_, say
from deadzone.language.tabling import Layout, Tabled, tabled
from deadzone.plugins import _
from deadzone_services.attribution import wording
from deadzone_services.attribution.result import AttributionResult

ROLES = {
    "slow": N_("slow"),
    "fast": N_("fast"),
    "restored": N_("limit removed"),
}


ENVIRONMENTS_TABLE = Layout(
    columns={
        N_("environment"): "{name}",
        N_("CPU limit"): "{limit}",
        N_("trials"): "{n}",
        N_("median response"): "{median}",
        N_("role"): "{role}",
    },
    caption=N_("The environments"),
    numeric=(2, 3),
)

HYPOTHESES_TABLE = Layout(
    columns={
        N_("hypothesis"): "{hypothesis}",
        N_("verdict"): "{verdict}",
        N_("share of the slowdown"): "{share}",
        N_("p (excluded)"): "{p_excluded}",
        N_("p (confirmed)"): "{p_confirmed}",
    },
    caption=N_("The hypotheses"),
    ids="{name}",
    numeric=(2, 3, 4),
)

PARTS_TABLE = Layout(
    columns={
        N_("part"): "{part}",
        "{fast_name}": "{fast}",
        "{slow_name}": "{slow}",
        N_("difference"): "{difference}",
        N_("share of the slowdown"): "{share}",
    },
    caption=N_("From fast to slow, part by part"),
    ids="{name}",
    numeric=(1, 2, 3, 4),
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def environments(result: AttributionResult) -> Tabled:
    """One row an environment: its limit, trials, median response, and what part it plays."""
    roles = result.roles
    parts = {roles.slow: "slow", roles.fast: "fast", roles.restored: "restored"}
    rows = [
        {
            "name": name,
            "limit": _limit(result, name),
            "n": n,
            "median": wording.duration(result.medians[name]),
            "role": say(ROLES[parts[name]]) if name in parts else "-",
        }
        for name, n in result.sizes.items()
    ]
    return tabled(ENVIRONMENTS_TABLE, rows)


def hypotheses(result: AttributionResult) -> list[dict[str, str]]:
    """One row a hypothesis, in words: verdict, share of the slowdown, p-values, evidence."""
    return [
        {
            "name": row["hypothesis"],
            "hypothesis": say(wording.HYPOTHESES[row["hypothesis"]]),
            "verdict": wording.verdict_name(row),
            "share": wording.share_text(row),
            "p_excluded": p_value(row["p_excluded_adjusted"]),
            "p_confirmed": p_value(row["p_confirmed_adjusted"]),
            "evidence": wording.evidence_of(result, row["hypothesis"]),
        }
        for _, row in result.hypotheses.iterrows()
    ]


def hypotheses_table(result: AttributionResult) -> Tabled:
    """The hypotheses without their evidence, which takes more room."""
    return tabled(HYPOTHESES_TABLE, hypotheses(result))


def parts(result: AttributionResult) -> Tabled:
    """One row a part of the slowdown, in the order of the waterfall."""
    rows = [
        {
            "name": row["part"],
            "part": say(wording.PARTS[row["part"]]),
            "fast": wording.duration(row["fast_s"]),
            "slow": wording.duration(row["slow_s"]),
            "difference": wording.difference_text(row["low_s"], row["difference_s"], row["high_s"]),
            "share": wording.share_text(row),
        }
        for _, row in result.waterfall.iterrows()
    ]
    names = {"fast_name": result.roles.fast, "slow_name": result.roles.slow}
    return tabled(PARTS_TABLE, rows, **names)


def attribution_page(result: AttributionResult) -> Page:
    """The page of an attribution."""
    tables = (environments(result), hypotheses_table(result), parts(result))
    notes: dict[str, list[str]] = {
        _("Found"): [wording.verdict(result)],
        _("Evidence"): [
            f"{row['hypothesis']}: {row['evidence'] or '-'}" for row in hypotheses(result)
        ],
        _("Read this first"): list(result.warnings),
        _("How it was decided"): [wording.method(result)],
    }
    return Page(_("Why is it slow?"), tables, notes)


def _limit(result: AttributionResult, name: str) -> str:
    if name not in result.roles.limits:
        return _("not known")
    if result.roles.is_unlimited(name):
        return _("no limit")
    return setting(result.roles.limits[name], "cpu_limit")


def waterfall(result: AttributionResult) -> Figure:
    """A row for the fast environment, for each part of the difference, and for the slow one.

    A whisker is the interval of a part's difference. Returns a matplotlib figure, which the caller
    closes.
    """
    table = result.waterfall
    parts = [say(wording.PARTS[part]) for part in table["part"]]
    return chart.draw(
        result.slowdown.fast,
        table["difference_s"].to_numpy(float),
        table[["low_s", "high_s"]].to_numpy(float),
        names=[result.roles.fast, *parts, result.roles.slow],
        texts=[
            wording.duration(result.slowdown.fast),
            *(wording.duration(value, signed=True) for value in table["difference_s"]),
            wording.duration(result.slowdown.slow),
        ],
        title=headline(result),
        axis=_(
            "time of the request (s); whiskers: {confidence:percent} interval",
            confidence=result.confidence,
        ),
    )


def headline(result: AttributionResult) -> str:
    """The largest part of the slowdown, as the figure's title."""
    if not result.is_slower:
        return _(
            "{slow} against {fast}: no slowdown is shown",
            slow=result.roles.slow,
            fast=result.roles.fast,
        )
    part, share = result.largest["part"], wording.share_text(result.largest)
    return _("{part}: {share} of the slowdown", part=capital(say(wording.PARTS[part])), share=share)
