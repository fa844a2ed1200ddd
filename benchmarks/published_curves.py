"""Score the answers of `deadzone fit` on sweeps that people published; write the table.

    python benchmarks/published_curves.py
    python benchmarks/published_curves.py --alone          # without the peers; writes nothing
    python benchmarks/published_curves.py --show failing   # or the name of a case

The sweeps, their judgement and its rules lie in data/reference/published-curves. Each goes through
the command, as a user's file does, in this process. Writes docs/benchmarks/published_curves.md;
nothing in it is typed by hand.
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import math
import platform
import re
import statistics
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

import peers

from deadzone import __version__
from deadzone.cli.main import deadzone

ROOT = Path(__file__).parents[1]
CURVES = ROOT / "data" / "reference" / "published-curves"
PAGE = ROOT / "docs" / "benchmarks" / "published_curves.md"

FEW = 2
"""A finding names a level if it is about at most so many; one that lists many says nothing of
any."""

SCORES = ("right", "honestly tied", "grey", "wrong: setting", "wrong: tied set", "none")
GOOD = ("right", "honestly tied")

NO_LIMIT = {"none", "unlimited", "no limit", "inf"}


@dataclass(frozen=True)
class Case:
    """A published sweep and its judgement; levels are as typed. trials: of each level, in the order
    of levels."""

    row: dict[str, str]
    trials: dict[str, list[float]]

    @property
    def name(self) -> str:
        """Its name in the index."""
        return self.row["name"]

    @property
    def medians(self) -> dict[str, float]:
        """The value of each level."""
        return {level: statistics.median(values) for level, values in self.trials.items()}

    @property
    def losses(self) -> dict[str, float]:
        """How much worse each level is than the best: 0.1 is 10 %."""
        small, medians = self.row["goal"] == "min", self.medians
        best = (min if small else max)(medians.values())
        return {m: value / best - 1 if small else 1 - value / best for m, value in medians.items()}

    def judged(self, column: str) -> list[str]:
        """A column of the index as its parts."""
        return [part for part in self.row[column].split(";") if part]


@dataclass
class Answer:
    """What an engine says of a case. setting: None where it recommends nothing. tied: levels said
    not to be told from the best. off: levels called off. phases: (first, last, label). odd: what no
    answer should hold."""

    setting: Any = None
    tied: list[Any] = field(default_factory=list)
    off: list[Any] = field(default_factory=list)
    phases: list[tuple[float, float, str]] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    reason: str = ""


@dataclass(frozen=True)
class Score:
    """An answer beside the judgement. worst: the loss of what is wrong in it. named: of each level
    judged off whether it is called so. alarms: sound levels called off. labels: judged stretch,
    label said, whether it is the judged one."""

    case: Case
    answer: Answer
    result: str
    worst: float
    tied_wrong: list[Any]
    named: dict[str, bool]
    alarms: list[str]
    labels: list[tuple[str, str | None, bool]]


def cases() -> list[Case]:
    """Every published sweep, in the order of the index."""
    with (CURVES / "index.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [Case(row, _trials(CURVES / "cases" / f"{row['name']}.csv")) for row in rows]


def _trials(path: Path) -> dict[str, list[float]]:
    trials: dict[str, list[float]] = {}
    for level, value in list(csv.reader(path.read_text(encoding="utf-8").splitlines()))[1:]:
        if value:
            trials.setdefault(level, []).append(float(value))
    return dict(sorted(trials.items(), key=lambda one: float(one[0])))


def deadzone_answer(case: Case) -> Answer:
    """What `deadzone fit --json` prints of the file."""
    path, row = CURVES / "cases" / f"{case.name}.csv", case.row
    wanted = ("--knob", row["knob"], "--response", row["response"], "--goal", row["goal"], "--json")
    ran = CliRunner().invoke(deadzone, ["fit", str(path), *wanted])
    answer = Answer()
    if ran.exception and not isinstance(ran.exception, SystemExit):
        answer.odd.append(f"{type(ran.exception).__name__}: {ran.exception}")
    try:
        model = json.loads(ran.stdout)
    except ValueError:
        answer.odd.append(f"no JSON, exit code {ran.exit_code}")
        return answer
    answer.odd += [
        f"{word} in the JSON"
        for word in ("NaN", "Infinity")
        if re.search(rf"\b{word}\b", ran.stdout)
    ]
    advice = model.get("recommendation") or {}
    answer.setting, answer.tied = advice.get("setting"), advice.get("tied") or []
    answer.reason = advice.get("reason") or ""
    if re.search(r"\bnan\b|\binf\b", answer.reason):
        answer.odd.append("nan or inf in the sentence")
    answer.off = [one.get("knob") for one in model.get("outliers") or []]
    for finding in model.get("findings") or []:
        levels = finding.get("levels") or []
        if finding.get("key") != "edge_of_range" and len(levels) <= FEW:
            answer.off += levels
    answer.phases = [
        (float(p["start"]), float(p["stop"]), p["label"]) for p in model.get("phases") or []
    ]
    return answer


def best_value(case: Case) -> Answer:
    """The habit: the level with the best median, with nothing tied."""
    losses = case.losses
    return Answer(setting=min(losses, key=lambda level: losses[level]))


def by_kneed(case: Case) -> Answer:
    """kneed: the one knee of the curve, as the setting."""
    import kneed

    small = case.row["goal"] == "min"
    x, y = [float(level) for level in case.trials], list(case.medians.values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shape = {"curve": "convex", "direction": "decreasing"} if small else {}
        knee = kneed.KneeLocator(x, y, S=1.0, **shape).knee if len(x) > FEW else None
    return Answer(
        setting=None if knee is None else float(knee), phases=_phases(case, peers.by_kneed)
    )


def by_ruptures(case: Case) -> Answer:
    """ruptures: phases alone; it recommends nothing."""
    return Answer(phases=_phases(case, peers.by_ruptures))


def _phases(
    case: Case, labeller: Callable[[np.ndarray, np.ndarray], list[str]]
) -> list[tuple[float, float, str]]:
    """Steps with the same label, put together; none of a curve that a peer cannot take."""
    levels = np.array([float(level) for level in case.trials])
    y = np.array(list(case.medians.values()))
    if levels.min() <= 0 or len(levels) <= FEW:
        return []
    try:
        labels = labeller(levels, y if case.row["goal"] == "min" else 1 / y)
    except (ValueError, IndexError, ZeroDivisionError):
        return []
    found: list[tuple[float, float, str]] = []
    for first, last, label in zip(levels, levels[1:], labels, strict=False):
        if found and found[-1][2] == label:
            found[-1] = (found[-1][0], float(last), label)
        else:
            found.append((float(first), float(last), label))
    return found


ENGINES: dict[str, Callable[[Case], Answer]] = {
    "deadzone": deadzone_answer,
    "best measured value": best_value,
    "kneed": by_kneed,
    "ruptures": by_ruptures,
}


def scored(case: Case, answer: Answer) -> Score:
    """An answer beside the judgement of its case."""
    wrong, good = case.judged("judged_wrong"), case.judged("judged_setting")
    tied_wrong = [level for level in answer.tied if _among(level, wrong)]
    blamed = tied_wrong or ([] if answer.setting is None else [answer.setting])
    off = case.judged("level_off")
    return Score(
        case,
        answer,
        _result(case, answer, good, wrong, tied_wrong),
        max((_loss(case, level) for level in blamed), default=math.nan),
        tied_wrong,
        {level: _among(level, answer.off) for level in off},
        sorted({str(level) for level in answer.off if not _among(level, off)}),
        [_label(stretch, answer.phases) for stretch in case.judged("judged_labels")],
    )


def _result(
    case: Case, answer: Answer, good: list[str], wrong: list[str], tied_wrong: list[Any]
) -> str:
    if case.row["is_work_size"] == "yes":
        return "work size: none" if answer.setting is None else "work size: recommends"
    if answer.setting is None:
        return "none"
    if _among(answer.setting, wrong):
        return "wrong: setting"
    if tied_wrong:
        return "wrong: tied set"
    if _among(answer.setting, good):
        return "right"
    return "honestly tied" if any(_among(level, good) for level in answer.tied) else "grey"


def _label(stretch: str, phases: list[tuple[float, float, str]]) -> tuple[str, str | None, bool]:
    """The label said of a judged stretch: that of the phase which covers most of it, on the axis of
    proportions."""
    span, wanted = stretch.split(":")
    low, high = (float(end) for end in span.split("-"))

    def place(level: float) -> float:
        return math.log(level) if low > 0 else level

    shared = [
        (place(min(stop, high)) - place(max(start, low)), label)
        for start, stop, label in phases
        if min(stop, high) > max(start, low)
    ]
    said = max(shared, key=lambda one: one[0])[1] if shared else None
    return stretch, said, said == wanted


def _among(level: Any, levels: Iterable[Any]) -> bool:
    return any(_same(level, other) for other in levels)


def _same(one: Any, other: Any) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=1e-12)
    except (TypeError, ValueError):
        texts = {str(one).strip().lower(), str(other).strip().lower()}
        return len(texts) == 1 or texts <= NO_LIMIT


def _loss(case: Case, level: Any) -> float:
    return next((loss for other, loss in case.losses.items() if _same(level, other)), math.nan)


def counts_table(of: dict[str, list[Score]]) -> list[list[str]]:
    """What each engine scores over all cases; "-" of what it does not answer at all."""
    rows = [["", *of]]

    def row(
        name: str, answered: Callable[[Answer], Any], cell: Callable[[list[Score]], str]
    ) -> None:
        cells = (
            cell(some) if any(answered(s.answer) for s in some) else "-" for some in of.values()
        )
        rows.append([name, *cells])

    for result in SCORES:
        row(result, _has_setting, lambda some, result=result: str(_number(some, result)))
    row(
        "right or honestly tied",
        _has_setting,
        lambda some: _share(sum(_number(some, r) for r in GOOD), _settings(some)),
    )
    for low, high, said in (
        (0.5, math.inf, "50 % or more"),
        (0.25, 0.5, "25 to 50 %"),
        (0.1, 0.25, "10 to 25 %"),
    ):

        def within(some: list[Score], low: float = low, high: float = high) -> str:
            return str(sum(s.result.startswith("wrong") and low <= s.worst < high for s in some))

        row(f"wrong, the worst by {said}", _has_setting, within)
    row(
        "a setting for a size of work",
        _has_setting,
        lambda some: str(_number(some, "work size: recommends")),
    )
    row(
        "labels as judged",
        _has_phases,
        lambda some: _share(*_right([label[2] for s in some for label in s.labels])),
    )
    row(
        "levels off named",
        _has_off,
        lambda some: _share(*_right([v for s in some for v in s.named.values()])),
    )
    row("sound levels called off", _has_off, lambda some: _share(*_alarms(some)))
    row(
        "answers with something odd",
        lambda answer: True,
        lambda some: str(sum(bool(s.answer.odd) for s in some)),
    )
    return rows


def _has_setting(answer: Answer) -> bool:
    return answer.setting is not None


def _has_phases(answer: Answer) -> bool:
    return bool(answer.phases)


def _has_off(answer: Answer) -> bool:
    return bool(answer.off)


def _alarms(scores: list[Score]) -> tuple[int, int]:
    return sum(len(s.alarms) for s in scores), sum(
        len(s.case.trials) - len(s.named) for s in scores
    )


def _number(scores: list[Score], result: str) -> int:
    return sum(s.result == result for s in scores)


def _settings(scores: list[Score]) -> int:
    return sum(s.case.row["is_work_size"] == "no" for s in scores)


def _right(flags: list[bool]) -> tuple[int, int]:
    return sum(flags), len(flags)


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})" if whole else "-"


def kinds_table(scores: list[Score]) -> list[list[str]]:
    """Right or honestly tied, and labels, of each kind of knob."""
    kinds = collections.Counter(s.case.row["kind"] for s in scores)
    rows = [["kind of knob", "cases", "right or honestly tied", "labels as judged"]]
    for kind, number in kinds.most_common():
        own = [s for s in scores if s.case.row["kind"] == kind]
        good = _share(sum(s.result in GOOD for s in own), _settings(own))
        rows.append(
            [
                kind,
                str(number),
                good,
                _share(*_right([label[2] for s in own for label in s.labels])),
            ]
        )
    return rows


def failures_table(scores: list[Score]) -> list[list[str]]:
    """Each case whose setting or tied set is not what the judgement holds."""
    rows = [["case", "result", "said", "tied", "judged", "the worst"]]
    for s in scores:
        if s.result in GOOD or s.result.startswith("work size"):
            continue
        worst = "" if math.isnan(s.worst) else f"{s.worst:.0%} worse"
        said = "-" if s.answer.setting is None else str(s.answer.setting)
        tied, judged = (
            ", ".join(map(str, some)) for some in (s.answer.tied, s.case.judged("judged_setting"))
        )
        rows.append([s.case.name, s.result, said, tied, judged, worst])
    return rows


def labels_table(scores: list[Score]) -> list[list[str]]:
    """Judged stretches that get another label."""
    rows = [["case", "judged", "said"]]
    rows += [
        [s.case.name, stretch, said or "-"]
        for s in scores
        for stretch, said, right in s.labels
        if not right
    ]
    return rows


def off_table(scores: list[Score]) -> list[list[str]]:
    """Levels off that are not named, and sound levels called off."""
    rows = [["case", "off and not named", "sound and called off"]]
    for s in scores:
        missed = [level for level, named in s.named.items() if not named]
        if missed or s.alarms:
            rows.append([s.case.name, ", ".join(missed), ", ".join(s.alarms)])
    return rows


TABLES = (kinds_table, failures_table, labels_table, off_table)


def page(of: dict[str, list[Score]]) -> str:
    """The whole report in Markdown."""
    ours = of["deadzone"]
    works = len(ours) - _settings(ours)
    sections = [
        (
            "Scores",
            "The best measured value alone scores full marks on the settings by construction, and "
            "fails on drawn curves, where the truth is known ([phase model](phase_model.md)). "
            "kneed gives its knee as the setting; ruptures only has labels. Neither takes a level "
            "of 0.",
            counts_table(of),
        ),
        ("Kinds of knob", "Of deadzone.", kinds_table(ours)),
        ("Settings that are not as judged", "Of deadzone.", failures_table(ours)),
        ("Labels that are not as judged", "Of deadzone.", labels_table(ours)),
        ("Levels off", "Of deadzone.", off_table(ours)),
    ]
    text = [
        "# Sweeps that people published",
        "Written by `benchmarks/published_curves.py`; not edited by hand.",
        f"{len(ours)} sweeps of one knob from public issues, pull requests and READMEs: "
        f"{len(ours) - works} of settings, {works} of sizes of work. They were judged by written "
        "rules before any engine saw them; rules, tables and sources lie in "
        "`data/reference/published-curves`.",
        f"deadzone {__version__}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("numpy", "kneed", "ruptures"))
        + ".",
    ]
    for title, said, rows in sections:
        text += [f"## {title}", said, _markdown(rows) if len(rows) > 1 else "None."]
    return "\n\n".join(text) + "\n"


def _markdown(rows: list[list[str]]) -> str:
    return "\n".join(
        "| " + " | ".join(row) + " |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:])
    )


def _shown(score: Score) -> str:
    losses = score.case.losses
    levels = ", ".join(f"{m}: {v:g} ({losses[m]:.0%})" for m, v in score.case.medians.items())
    phases = "; ".join(f"{a:g}-{b:g} {label}" for a, b, label in score.answer.phases)
    return "\n".join(
        (
            f"{score.case.name}: {score.result}; said {score.answer.setting}, tied "
            f"{score.answer.tied}",
            f"  {score.case.row['response']} by {score.case.row['knob']}: {levels}",
            f"  judged [{score.case.row['judged_setting']}], wrong "
            f"[{score.case.row['judged_wrong']}]",
            f"  phases: {phases}; labels: {score.labels}",
            f"  off: {score.named}, alarms {score.alarms}; odd: {score.answer.odd}",
            f"  {score.answer.reason}",
        )
    )


def main() -> int:
    """Score, and write the page or show what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--show", metavar="NAME", help="print what is said of one case ('failing': of each)"
    )
    parser.add_argument(
        "--alone", action="store_true", help="print the scores of deadzone; write nothing"
    )
    parser.add_argument("--page", type=Path, default=PAGE, help="where to write")
    arguments = parser.parse_args()
    every = cases()
    if arguments.alone:
        ours = [scored(case, deadzone_answer(case)) for case in every]
        for table in (counts_table({"deadzone": ours}), *(make(ours) for make in TABLES)):
            print(_markdown(table), end="\n\n")
        return 0
    if arguments.show:
        for case in every:
            if arguments.show in (case.name, "failing"):
                score = scored(case, deadzone_answer(case))
                missed = not all(label[2] for label in score.labels) or not all(
                    score.named.values()
                )
                if (
                    case.name == arguments.show
                    or score.result not in (*GOOD, "work size: none")
                    or missed
                ):
                    print(_shown(score), end="\n\n", flush=True)
        return 0
    text = page(
        {name: [scored(case, engine(case)) for case in every] for name, engine in ENGINES.items()}
    )
    arguments.page.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
