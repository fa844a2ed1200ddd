"""An attribution as a page: plain text for a terminal, HTML for a notebook."""

import pandas as pd

from deadzone.explaining.attribution import wording
from deadzone.explaining.attribution.result import AttributionResult
from deadzone.explaining.page import Page, Section
from deadzone.explaining.phases.quantities import setting
from deadzone.language.catalogue import say


def environments_frame(result: AttributionResult) -> pd.DataFrame:
    """One row an environment: its limit, trials, median response, and what part it plays."""
    roles = result.roles
    parts = {roles.slow: "slow", roles.fast: "fast", roles.restored: "restored"}
    return pd.DataFrame(
        {
            say("attribution.environment"): list(result.sizes),
            say("attribution.limit"): [_limit(result, name) for name in result.sizes],
            say("attribution.trials"): [str(n) for n in result.sizes.values()],
            say("attribution.median"): [wording.duration(result.medians[name]) for name in result.sizes],
            say("attribution.role"): [
                say(f"attribution.role_{parts[name]}") if name in parts else "-" for name in result.sizes
            ],
        }
    )


def hypotheses_frame(result: AttributionResult) -> pd.DataFrame:
    """One row a hypothesis: verdict, share of the slowdown, p-values, evidence."""
    rows = [row for _, row in result.hypotheses.iterrows()]
    return pd.DataFrame(
        {
            say("attribution.hypothesis"): [wording.hypothesis_name(row["hypothesis"]) for row in rows],
            say("attribution.verdict"): [wording.verdict_name(row) for row in rows],
            say("attribution.share"): [wording.share_text(row) for row in rows],
            say("attribution.p_excluded"): [_p(row["p_excluded_adjusted"]) for row in rows],
            say("attribution.p_confirmed"): [_p(row["p_confirmed_adjusted"]) for row in rows],
            say("attribution.evidence"): [
                wording.evidence_of(result, row["hypothesis"]) or "-" for row in rows
            ],
        }
    )


def waterfall_frame(result: AttributionResult) -> pd.DataFrame:
    """One row a part of the slowdown, in the order of the waterfall."""
    rows = [row for _, row in result.waterfall.iterrows()]
    return pd.DataFrame(
        {
            say("attribution.part"): [wording.part_name(row["part"]) for row in rows],
            result.roles.fast: [wording.duration(row["fast_s"]) for row in rows],
            result.roles.slow: [wording.duration(row["slow_s"]) for row in rows],
            say("attribution.difference"): [
                wording.difference_text(row["low_s"], row["difference_s"], row["high_s"]) for row in rows
            ],
            say("attribution.share"): [wording.share_text(row) for row in rows],
        }
    )


def attribution_page(result: AttributionResult) -> Page:
    """The page of an attribution."""
    hypotheses = hypotheses_frame(result)
    evidence = [f"{row.iloc[0]}: {row.iloc[5]}" for _, row in hypotheses.iterrows()]
    sections = (
        Section(say("attribution.environments"), environments_frame(result)),
        Section(say("attribution.hypotheses"), hypotheses.iloc[:, :5]),
        Section(say("attribution.parts"), waterfall_frame(result)),
    )
    notes: dict[str, list[str]] = {
        say("attribution.found"): [wording.verdict(result)],
        say("attribution.evidence"): evidence,
        say("attribution.first"): list(result.warnings),
        say("attribution.method"): [wording.method(result)],
    }
    return Page(say("attribution.title"), sections, notes)


def _limit(result: AttributionResult, name: str) -> str:
    if name not in result.roles.limits:
        return say("attribution.unknown")
    if result.roles.is_unlimited(name):
        return say("quantity.no_limit")
    return setting(result.roles.limits[name], "cpu_limit")


def _p(value: float) -> str:
    return "-" if pd.isna(value) else f"{value:.2g}"
