"""How often a verdict on a claim is wrong, and how often none is given, by form and by number of
trials.

Curves of the phase model's own kinds and of mechanisms that are none of them (Amdahl's law, a
queue), with known truth; claims drawn at random, true and false by a margin and near the edge;
several of them judged together, as in a study. Accuracy does not depend on how busy the machine is.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from deadzone.analysis.claims.judging import judge
from deadzone.analysis.claims.measured import Measured
from deadzone.study.claims import ClaimSpec

LEVELS = (1, 2, 3, 4, 6, 8, 12, 16)
TRIALS = (3, 5, 10)
NOISES = (0.01, 0.05, 0.15)
TOGETHER = 6
"""Claims of a study that are judged at once."""

FORMS = (
    "better",
    "same",
    "scaling",
    "best",
    "nothing_to_gain_beyond",
    "holds",
    "somewhere",
    "not_worse",
    "phase",
    "why",
)
"""somewhere: `holds` without a setting, as objectives are."""

SHARES = (0.0, 0.2, 0.4, 0.45, 0.55, 0.6, 0.8, 1.0)
"""How much of a change of ln(wall time) is one of CPU time: from one half on, the job does less
work."""

MARGINS = (-0.5, -0.2, -0.05, -0.01, 0.01, 0.05, 0.2, 0.5)
"""How far the edge of a claim lies from the truth, on the scale of logarithms: negative where the
claim is true."""

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "claims.md"


def curves(rng: np.random.Generator) -> tuple[Callable[[float], float], int | None]:
    """A true curve, drawn, and the level at which it bends from in proportion to flat, where it
    does."""
    kind = rng.integers(4)
    if kind == 0:
        serial = rng.uniform(0.02, 0.5)
        return (lambda x: 10 * (serial + (1 - serial) / x)), None
    if kind == 1:
        knee = int(rng.choice(LEVELS[2:-2]))
        return (lambda x: 10 / min(x, knee)), knee
    if kind == 2:
        least = rng.choice(LEVELS[2:-1])
        return (lambda x: 10 / min(x, least) * (max(x, least) / least) ** 0.3), None
    load = rng.uniform(0.5, 0.95)
    return (lambda x: 1 / (x - load)), None


def claims(
    rng: np.random.Generator,
    truth: Callable[[float], float],
    knee: int | None,
    cpu: Callable[[float], float],
) -> list[tuple[str, dict, bool]]:
    """Claims of one study, each with its form and whether it is true."""
    drawn = []
    for _ in range(TOGETHER):
        low, high = sorted(rng.choice(LEVELS, 2, replace=False).tolist())
        gain, margin = float(np.log(truth(low) / truth(high))), float(rng.choice(MARGINS))
        form = rng.choice(FORMS)
        if form == "better":
            edge = max(0.0, gain + margin)
            document = {
                "at": {"threads": high},
                "than": {"threads": low},
                "by_at_least": float(np.exp(edge)),
            }
            drawn.append((form, {form: document}, gain > edge))
        elif form == "same":
            within = float(np.expm1(max(abs(gain) - margin, 0.01)))
            if within >= 1:
                continue
            document = {"at": {"threads": high}, "as": {"threads": low}, "within": within}
            drawn.append((form, {form: document}, abs(gain) < np.log1p(within)))
        elif form == "scaling":
            edge = (gain + margin) / np.log(high / low)
            drawn.append((form, {form: {"from": low, "to": high, "at_least": edge}}, margin < 0))
        elif form == "best":
            best = min(LEVELS, key=truth)
            drawn.append(
                (
                    form,
                    {form: {"threads": high}},
                    truth(high) == truth(best)
                    and sum(truth(x) == truth(best) for x in LEVELS) == 1,
                )
            )
        elif form == "nothing_to_gain_beyond" and high < LEVELS[-1]:
            beyond = min(truth(x) for x in LEVELS if x > high)
            drawn.append((form, {form: high}, np.log(truth(high) / beyond) < np.log1p(0.03)))
        elif form == "holds":
            bound = truth(high) * float(np.exp(-margin))
            drawn.append(
                (form, {form: {"wall_s": {"at_most": bound}}, "at": {"threads": high}}, margin < 0)
            )
        elif form == "somewhere":
            bound = min(map(truth, LEVELS)) * float(np.exp(-margin))
            drawn.append((form, {"holds": {"wall_s": {"at_most": bound}}}, margin < 0))
        elif form == "why":
            cause = str(rng.choice(["less_work", "more_cores"]))
            work = float(np.log(cpu(low) / cpu(high)))
            true = (
                work > max(gain / 2, 0.0) if cause == "less_work" else gain > 0 and work < gain / 2
            )
            drawn.append((form, {form: {"from": low, "to": high, "is": cause}}, true))
        elif form == "phase" and knee and (high <= knee or low >= knee):
            label = str(rng.choice(["linear", "plateau", "dead_zone"]))
            true = label == ("linear" if high <= knee else "plateau")
            drawn.append((form, {form: {"from": low, "to": high, "is": label}}, true))
        elif form == "not_worse":
            worse = -gain
            allowed = float(np.expm1(max(worse - margin, 0.0)))
            drawn.append(
                (
                    form,
                    {form: {"by_at_most": allowed}, "from": low, "to": high},
                    worse < np.log1p(allowed),
                )
            )
    return drawn  # fmt: skip


def one_study(rng: np.random.Generator, trials: int, noise: float) -> list[tuple[str, bool, str]]:
    """Form, truth and verdict of the claims of one simulated study."""
    truth, knee = curves(rng)
    share = float(rng.choice(SHARES))
    cpu = lambda level: truth(level) ** share  # noqa: E731
    drawn = claims(rng, truth, knee, cpu)
    x = np.repeat(LEVELS, trials)
    scatter = np.exp(noise * rng.standard_normal(len(x)))
    work = (
        np.array([cpu(level) for level in x])
        * scatter**share
        * np.exp(noise / 3 * rng.standard_normal(len(x)))
    )
    y = np.array([truth(level) for level in x]) * scatter
    numbers = range(1, len(x) + 1)
    frame = pd.DataFrame(
        {"threads": x, "wall_s": y, "user_s": work, "sys_s": 0.0, "trial": numbers}
    )

    measured = Measured(frame, "wall_s", "min", "threads", {"threads": LEVELS})
    judged = judge([ClaimSpec.model_validate(document) for _, document, _ in drawn], measured)
    return [(form, true, one.verdict) for (form, _, true), one in zip(drawn, judged, strict=True)]


def table(studies: int, seed: int) -> str:
    """The page: wrong verdicts and undecided ones, by form and by number of trials."""
    counted: Counter[tuple[str, int, str]] = Counter()
    families: Counter[tuple[int, bool]] = Counter()
    rng = np.random.default_rng(seed)
    for trials in TRIALS:
        for noise in NOISES:
            for _ in range(studies):
                found = one_study(rng, trials, noise)
                wrongs = [v == ("contradicted" if true else "supported") for _, true, v in found]
                families[trials, any(wrongs)] += 1
                for (form, _, verdict), wrong in zip(found, wrongs, strict=True):
                    decided = verdict in ("supported", "contradicted")
                    counted[form, trials, "wrong" if wrong else "right" if decided else "open"] += 1
    lines = [
        "# Claims: wrong verdicts, and verdicts not given", "",
        f"`python benchmarks/claims.py --studies {studies} --seed {seed}`: {studies} studies for " f"each of {len(TRIALS)} numbers of trials and "  # noqa: E501
        f"{len(NOISES)} noises ({', '.join(f'{n:.0%}' for n in NOISES)}), up to {TOGETHER} claims " f"each, edges {MARGINS[0]} to {MARGINS[-1]} from the truth "  # noqa: E501
        "(logarithms). Claims near their edge are meant to stay open. Measured on a machine with " "other work, on which no figure here depends.", "",  # noqa: E501
        "| form | trials | verdicts | wrong | share wrong | claims left open or in part |", "| --- | ---: | ---: | ---: " "| " "---: " "| " "---: " "|",  # noqa: E501
    ]  # fmt: skip
    for form in sorted({form for form, _, _ in counted}):
        for trials in TRIALS:
            wrong, right, left = (
                counted[form, trials, what] for what in ("wrong", "right", "open")
            )
            given = wrong + right
            lines.append(
                f"| {form} | {trials} | {given} | {wrong} | {wrong / max(given, 1):.1%} | "
                f"{left / max(given + left, 1):.0%} |"
            )
    lines += ["", "| trials | studies | with any wrong verdict |", "| ---: | ---: | ---: |"]
    for trials in TRIALS:
        n = families[trials, True] + families[trials, False]
        lines.append(f"| {trials} | {n} | {families[trials, True] / n:.1%} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20)
    given = parser.parse_args()
    PAGE.write_text(table(given.studies, given.seed), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))
