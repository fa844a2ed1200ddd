"""A comparison as plain data for JSON: numbers in the unit of the profile, nothing rounded."""

from dataclasses import asdict
from typing import Any

from deadzone.explaining.profiles.attribution import Ablations, Attribution
from deadzone.explaining.profiles.comparison import Comparison, method_text
from deadzone.explaining.profiles.projection import Projection
from deadzone.explaining.records import records


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """Value, unit, total, functions, packages, method, notes and doubts; unknown numbers are None."""
    pair = comparison.pair
    return {
        "value": pair.value.name,
        "unit": pair.unit,
        "identical": comparison.identical,
        "method": comparison.method,
        "method_text": method_text(comparison.method),
        "profiles": {
            side: [one.source for one in getattr(pair, side).profiles] for side in ("before", "after")
        },
        "total": records(comparison.total)[0],
        "packages": records(comparison.packages),
        "functions": records(comparison.functions),
        "notes": list(pair.notes),
        "warnings": list(comparison.doubts),
    }


def attribution_data(attribution: Attribution) -> dict[str, Any]:
    """The causes, the naive sum, and the overlaps."""
    return {
        "rule": attribution.rule,
        "unit": attribution.unit,
        "total_change": float(attribution.total),
        "naive_sum": float(attribution.naive_sum),
        "counted_more_than_once": float(attribution.counted_twice),
        "causes": records(attribution.table),
        "overlaps": records(attribution.overlaps),
    }


def ablation_data(ablations: Ablations) -> dict[str, Any]:
    """The single effects, their stacks, and the interaction."""
    return {
        "unit": ablations.unit,
        "options": records(ablations.table),
        "by_cause": {str(option): row for option, row in ablations.by_cause.to_dict("index").items()},
        "total_change": ablations.total,
        "interaction": ablations.interaction,
    }


def projection_data(projection: Projection, unit: str) -> dict[str, Any]:
    """The projection with its unit."""
    lists = {"loads": list(projection.loads), "doubts": list(projection.doubts)}
    return {**asdict(projection), **lists, "unit": unit}
