"""Trials that fail, level by level: which levels are not tried again, and when a sweep is
stopped."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from deadzone.errors import SweepError, UnsearchableError
from deadzone.run.sweep.printed import ERROR_WORDS
from deadzone.study.design import Treatment
from deadzone.study.plan import Plan

FAILURES_IN_A_ROW = 3
"""After so many failed trials one after the other, at all levels, the next ones would fail too; so
would those that are lost."""

FAILURES_OF_A_LEVEL = 2
"""A level that failed so often and never ended well is not tried again."""

BY_CHANCE = 0.05
"""Trials that fail last of all with less than this probability, if any of them could have failed,
fail with time."""

SHOWN_OUTPUT, SHOWN_LINE = 1_000, 80
"""How much of a failing program's output is shown [characters]: where the sweep stops, and of one
level."""

Record = Mapping[str, Any]


class Failures:
    """Which levels fail in a sweep. Of what a resumed run holds already only those count that ended
    well, so that levels which failed there are tried again."""

    def __init__(self, plan: Plan, records: Iterable[Record]) -> None:
        self._plan = plan
        self._works = {_label(record) for record in records if record["status"] == "ok"}
        self._failures: Counter[str] = Counter()
        self._row: list[str] = []
        self._well = 0

    @property
    def hopeless(self) -> set[str]:
        """Labels of the levels that are not tried again. An adaptive sweep chooses its trials by
        what failed, and of a single level there is nothing else to try."""
        if self._plan.is_adaptive or len(self._plan.treatments) < 2:
            return set()
        often = {label for label, n in self._failures.items() if n >= FAILURES_OF_A_LEVEL}
        return often - self._works

    def add(self, last: Record, printed: str) -> str:
        """Take account of a trial, its last attempt and what it printed; what to say of its level,
        often nothing.

        Raises SweepError where no level has ended well, or none does any more.
        """
        label, before = _label(last), self.hopeless
        if last["status"] == "ok":
            self._well += 1
            self._works.add(label)
            self._row.clear()
            return ""
        self._row.append(label)
        self._failures[label] += last["status"] != "lost"
        fails = self._failures[label] >= FAILURES_OF_A_LEVEL and label not in self._works
        first = self._plan.treatments[0].label()
        if self._plan.study.design.kind == "search" and label == first and fails:
            raise UnsearchableError(f"The baseline fails: {_failed(last, printed, 'again')}")
        if self._none_ends_well():
            raise SweepError(
                f"The last {len(self._row)} trials failed, the last one with: {last['error']}. "
                f"The sweep was stopped.{self._with_time()}\n"
                f"The program printed: {_ends_of(printed) or 'nothing'}"
            )
        if label in self.hopeless - before:
            times = f"{FAILURES_OF_A_LEVEL} times of {FAILURES_OF_A_LEVEL}"
            return _failed(last, printed, times) + " It is not tried again, the other levels go on."
        return _failed(last, printed, "in its warm-up") if last["warmup"] else ""

    def _none_ends_well(self) -> bool:
        """Whether no level ends well, or none does any more."""
        if len(self._row) < FAILURES_IN_A_ROW:
            return False
        labels, is_adaptive = set(self._row), self._plan.is_adaptive
        # An adaptive sweep begins with about half of its levels, and looks for the edge of where
        # trials fail.
        if not self._works and self._plan.study.design.kind == "search":
            return self._plan.treatments[0].label() in labels  # the baseline, with which it begins
        if not self._works:
            return len(labels) >= len(self._plan.treatments) / (2 if is_adaptive else 1)
        is_sure = len(self._works) > 1 or self._is_no_chance()
        return self._works <= labels and is_sure and not is_adaptive

    def _is_no_chance(self) -> bool:
        """Whether trials that failed in any order would hardly fail last of all."""
        return math.comb(self._well + len(self._row), len(self._row)) * BY_CHANCE >= 1

    def _with_time(self) -> str:
        """A sentence where trials ended well and since a time none does; else nothing."""
        if not self._well or not self._is_no_chance():
            return ""
        return (
            f" {self._well} trials ended well and none after them: it fails with time, not with "
            f"{self._plan.study.knob_name}. Look for what it uses up or leaves behind."
        )


def _ends_of(printed: str) -> str:
    """The first line that a program printed, where many say what was wrong before they tell how
    they are used, and the end."""
    if len(printed) <= SHOWN_OUTPUT:
        return printed
    first, _, rest = printed.partition("\n")
    return f"{first[:SHOWN_OUTPUT]}\n...\n{rest[-SHOWN_OUTPUT:]}"


def _label(record: Record) -> str:
    return Treatment(record["levels"]).label()


def _failed(last: Record, printed: str, when: str) -> str:
    """What to say of a level that failed."""
    lines = printed.splitlines()
    named = [line for line in lines if ERROR_WORDS.search(line) or "Error" in line]
    said = f"; it printed {(named or lines)[-1].strip()[:SHOWN_LINE]!r}" if lines else ""
    return f"{_label(last)} failed {when}: {last['error']}{said}."
