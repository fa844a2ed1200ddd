"""What would decide where the data cannot: how many more trials at which levels, and how long they take.

The time is that of the trials themselves, from the wall times measured at each level, and the pauses
between them; a trial repeated because it was disturbed comes on top.
"""

import numpy as np

from deadzone.explaining.phases.candidates import level_text, place_of
from deadzone.explaining.phases.doubts import UNSURE
from deadzone.explaining.phases.quantities import listing
from deadzone.language.catalogue import say
from deadzone.reports.document.display import Claim, Evidence
from deadzone.reports.sweep.analysis import Analysis, Slice
from deadzone.reports.sweep.tables import positions

TIMES_THE_TRIALS = 4
"""An interval shrinks with the root of the trials: four times as many halve it."""

MINUTE_S, HOUR_S = 60.0, 3600.0


def what_would_decide(analysis: Analysis) -> list[Claim]:
    """One claim for the recommendation, if settings are tied, and one for each doubtful phase."""
    return [*_for_the_setting(analysis), *(claim for s in analysis.slices for claim in _for_phases(s))]


def _for_the_setting(analysis: Analysis) -> list[Claim]:
    advice = analysis.advice
    if advice is None or advice.replicates is None or not advice.replicates.replicates:
        return []
    if len(analysis.slices) != 1:
        return []
    s = analysis.slices[0]
    knob = s.model.knob
    own = [value[knob] if isinstance(value, dict) else value for value in advice.tied]
    levels = [level for value in own if (level := place_of(s.model, value)) is not None]
    replicates = advice.replicates.replicates
    seconds = _seconds(s, levels, replicates)
    if seconds is None:
        return []
    text = say(
        "report.decide_setting", replicates=replicates, n=replicates * len(levels), duration=duration(seconds)
    )
    evidence = (Evidence(s.anchor("treatments")),)
    return [Claim(text, evidence)]


def _for_phases(s: Slice) -> list[Claim]:
    claims = []
    for position, phase in enumerate(s.model.phases.to_dict("records"), start=1):
        if float(phase["probability"]) >= UNSURE:
            continue
        inside = s.model.levels[s.model.levels["level"].between(phase["start"], phase["stop"])]
        levels = [float(level) for level in inside["level"]]
        more = (TIMES_THE_TRIALS - 1) * max(int(inside["n"].max()), 1)
        seconds = _seconds(s, levels, more)
        names = listing([level_text(s.model, level) for level in levels])
        key = "report.decide_phase" if seconds is not None else "report.decide_phase_untimed"
        text = say(
            key,
            n=more,
            levels=names,
            start=level_text(s.model, float(phase["start"])),
            stop=level_text(s.model, float(phase["stop"])),
            duration=duration(seconds or 0.0),
        )
        claims.append(Claim(text, (Evidence(f"{s.anchor('phases')}-{position}"),)))
    return claims


def _seconds(s: Slice, levels: list[float], replicates: int) -> float | None:
    """How long so many trials at each of the levels take [s]; None where no wall time was measured."""
    trials = s.source.analysed
    if "wall_s" not in trials:
        return None
    at, wall = positions(s.model, trials), trials["wall_s"].to_numpy(float)
    each = [float(np.median(wall[at == level])) for level in levels if np.any(at == level)]
    if len(each) < len(levels):
        return None
    pause = s.source.study.design.cooldown_s if s.source.study else 0.0
    return replicates * (sum(each) + pause * len(levels))


def duration(seconds: float) -> str:
    """A duration in words, rounded up to what a person plans with."""
    if seconds < 2 * MINUTE_S:
        return say("report.seconds", n=int(np.ceil(seconds)))
    if seconds < 2 * HOUR_S:
        return say("report.minutes", n=int(np.ceil(seconds / MINUTE_S)))
    return say("report.hours", n=int(np.ceil(seconds / HOUR_S)))
