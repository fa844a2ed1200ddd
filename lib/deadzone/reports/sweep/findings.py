"""What is wrong with the experiment behind a source, and what follows for its verdict."""

from typing import Any

from deadzone.explaining.findings.examining import barred_levels, examine
from deadzone.explaining.findings.experiment import Experiment
from deadzone.explaining.findings.finding import Finding
from deadzone.explaining.phases.model import PhaseModel
from deadzone.reports.sweep.source import Source


def findings_of(source: Source, model: PhaseModel | None = None) -> tuple[Finding, ...]:
    """The findings about a source, the gravest first. model: its phases, if one curve could be fitted."""
    return examine(_experiment(source, model), source.study.accept if source.study else None)


def barred_by_failures(source: Source) -> tuple[Any, ...]:
    """Levels of the knob at which too many trials did not end well to fit or recommend them."""
    return barred_levels(_experiment(source))


def _experiment(source: Source, model: PhaseModel | None = None) -> Experiment:
    return Experiment(
        source.trials,
        source.knob,
        source.response,
        source.goal,
        by=source.by,
        cores=source.provenance.get("cores_usable"),
        model=model,
        serves=source.study is not None and source.study.has_service,
    )
