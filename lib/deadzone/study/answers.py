"""What kind of answer a study will give, said before anything is measured."""

from collections.abc import Sequence

from deadzone.errors import StudyError
from deadzone.language.catalogue import Message, join, say
from deadzone.study.design import Treatment
from deadzone.study.factors import FactorSpec
from deadzone.study.scales import RATIO, WORDS, KnobScale, scale_of
from deadzone.study.spec import Study

FITTED_HERE = "phases"
"""The notebook whose answer is foretold; those of the other questions say in their own studies what they answer."""


def coming_answer(study: Study, treatments: Sequence[Treatment]) -> Message:
    """The answer of a resolved study in words: phases or settings, on which scale, a curve for each of what."""
    if study.analysis_notebook != FITTED_HERE:
        return say("answer.of_notebook", notebook=study.analysis_notebook)
    if len(treatments) < 2:
        return say("answer.alone", treatment=treatments[0].label())
    knob = study.knob_name
    written = study.factors.get(knob) or FactorSpec()
    scale = scale_of([t.levels[knob] for t in treatments], written.scale, written.at)
    others = [
        name
        for name in study.factor_names()
        if name != knob
        and len({(t.levels[knob], t.levels[name]) for t in treatments})
        > len({t.levels[knob] for t in treatments})
    ]
    best = say("answer.settings", n=len(treatments), response=study.response.name)
    each = say("answer.each", factors=" x ".join(others)) if others else ""
    return join([_curve(knob, scale), each if scale.has_phases else "", best])


def refuse_unanswerable(study: Study, treatments: Sequence[Treatment]) -> None:
    """Refuse to analyse what is only to be measured, such as one side of a later comparison. Raises StudyError."""
    if study.analysis_notebook == FITTED_HERE and len(treatments) < 2:
        raise StudyError(
            f"{study.study}: there is one treatment, {treatments[0].label()}, and nothing to compare it with. Give a factor "
            "a second level, or measure it alone with deadzone sweep."
        )


def _curve(knob: str, scale: KnobScale) -> Message:
    if scale.kind == WORDS:
        return say("answer.words", knob=knob)
    if not scale.has_phases:
        return say("answer.few", knob=knob, n=len(scale.positions))
    levels = len(set(scale.positions.values()))
    curve = say("answer.ratio" if scale.kind == RATIO else "answer.interval", knob=knob, levels=levels)
    return join([curve, say("answer.apart", levels=", ".join(scale.apart)) if scale.apart else ""])
