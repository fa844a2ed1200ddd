"""Recognising a server that works for the trials by itself: foreign CPU that is there in each trial
and gone between them.

After each of the first disturbed trials the machine is looked at while no trial runs. What worked
in all of these trials and rested in all of these looks belongs to them; what works steadily, or at
times of its own, stays a disturbance. A program that works half of the time whatever the trials do
passes LOOKS such looks by chance once in a thousand times.
"""

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deadzone.plugins import Measurement, TargetError
from deadzone.run.sweep.measuring import Measuring
from deadzone.run.sweep.progress import Progress
from deadzone.run.targets.limits.base import start_ticks
from deadzone.run.targets.processes import below, listening, names_of
from deadzone.run.trust import foreign_cpu
from deadzone.study.coresident_specs import CoresidentSpec

LOOKS = 5
"""So many disturbed trials, each with a look after it, decide."""

BEGINNINGS = 2
"""A server may have work of its own in one look, such as to clear up after the data were loaded;
then it is begun again."""

LOOK_S, SHORTEST_LOOK_S, FEW_CORES = 0.4, 0.1, 0.2
"""Long enough for a core that is kept busy to be counted to a fortieth, by the kernel's tick [s].
Of what used more than FEW_CORES in the trial, fewer ticks tell whether it rests."""

WORKS = 0.05
"""What uses less in some trial is left to the neighbours [cores]."""

RESTS = 0.2
"""What uses less than this share of its part in the trial, while none runs, is at rest."""


class CoresidentDetection:
    """Of one sweep: sees every attempt until it is decided. looks: so many disturbed trials
    decide."""

    looks = LOOKS

    def __init__(self, measuring: Measuring, progress: Progress, most: float) -> None:
        """most: what others may use beside a trial that is trusted [cores]."""
        self._measuring, self._progress, self._most = measuring, progress, most
        self._candidates: set[str] | None = None
        self._looks, self._begun = 0, 1
        self._since = time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")

    @property
    def is_open(self) -> bool:
        """Whether something may belong to the trials, and more of them are to tell."""
        return bool(self._candidates) and self._looks < LOOKS

    def asks_again(self, measured: Measurement) -> bool:
        """Whether a repeat of this attempt helps to decide: only what ran to its end shows whom it
        has work for."""
        return self.is_open and measured.status == "ok" and self._is_disturbed(measured)

    def _is_disturbed(self, measured: Measurement) -> bool:
        return bool(foreign_cpu(measured.interference, self._most))

    def go_on(self, records: list[dict[str, Any]]) -> None:
        """Count what an earlier part of the run recognised."""
        recorded = [keys for record in records for keys in record.get("recognised", ())]
        for keys in {str(keys): keys for keys in recorded}.values():
            try:
                self._measuring.coresident_processes.add(CoresidentSpec.model_validate(keys))
            except TargetError as error:
                self._progress.note(
                    f"{error} It was recognised as the trials' in an earlier part of this run."
                )

    def see(self, measured: Measurement) -> tuple[Measurement, list[dict[str, Any]]]:
        """The attempt, in the last that decides without the CPU of what belongs to it, and what
        that is; none before."""
        seen = measured.interference
        if not self._is_disturbed(measured) or self._candidates == set() or self._looks >= LOOKS:
            return measured, []
        at_work = {name: cores for name, cores in seen.processes if cores >= WORKS}
        expected = at_work.keys() if self._candidates is None else self._candidates & at_work.keys()
        least = min((at_work[name] for name in expected), default=math.inf)
        look_s = max(LOOK_S * min(FEW_CORES / least, 1.0), SHORTEST_LOOK_S)
        between = self._measuring.target.others_between_trials(look_s)
        if between is None:
            return measured, []
        self._candidates = {
            name for name in expected if between.get(name, 0.0) <= RESTS * at_work[name]
        }
        self._looks += 1
        if expected and not self._candidates and self._begun < BEGINNINGS:
            self._candidates, self._looks, self._begun = None, 0, self._begun + 1
        if not self._candidates or self._looks < LOOKS:
            return measured, []
        named = {name: cores for name, cores in seen.processes if name in self._candidates}
        accepted = [spec for name, cores in named.items() if (spec := self._accepted(name, cores))]
        counted = sum(named.values()) if accepted else 0.0
        theirs = replace(seen, foreign_cpu=max(0.0, seen.foreign_cpu - counted))
        keys = [spec.model_dump(exclude_none=True) for spec in accepted]
        return replace(measured, interference=theirs), keys

    def _accepted(self, name: str, cores: float) -> CoresidentSpec | None:
        """What a name stands for, from now on counted as the trials'; None where it is not, or
        no user wants that. One that listens nowhere was up before the sweep: the commands that
        others run come and go, and one of them would soon be missed."""
        at_work = self._measuring.target.at_work(name)
        spec, port = _spec_of(name, at_work)
        if not port and not any((start_ticks(pid) or self._since) < self._since for pid in at_work):
            return None
        listens = f", listening on port {port}," if port else ""
        written = ", ".join(
            f"{key}: {value}" for key, value in spec.model_dump(exclude_none=True).items()
        )
        sentence = (
            f"{name}{listens} used {cores:.2f} cores in each of {LOOKS} trials and none between "
            "them"
        )
        if not self._progress.agrees(f"{sentence}. Count it as the trials'?"):
            return None
        try:
            self._measuring.coresident_processes.add(spec)
        except TargetError:
            return None
        self._progress.note(
            f"{sentence}: it is counted as the trials'. Write `belongs: [{{{written}}}]` in the "
            f"study, or `--belongs {spec.way}={getattr(spec, spec.way)}`."
        )
        return spec


def _spec_of(name: str, at_work: Sequence[int]) -> tuple[CoresidentSpec, int | None]:
    """What to write for a program: the port that it listens on, of several of its kind the one
    whose process, or a descendant of it, comes first in at_work, else its name; and that port. Of a
    server and what started it, which may listen too, the server has the fewer descendants."""
    places = {pid: place for place, pid in enumerate(at_work)}
    first: dict[int, tuple[int, int]] = {}
    for listened, pids in sorted(listening().items()):
        if any(name in names_of(pid)[:1] for pid in pids):
            members = {*pids, *below(*pids)}
            place = min(places.get(pid, len(places)) for pid in members)
            first[listened] = (place, len(members))
    port: int | None = min(first, key=first.__getitem__, default=None)
    keys: Mapping[str, Any] = {"port": port} if port else {"process": name}
    label = CoresidentSpec(name=None, process=name).label
    return CoresidentSpec.model_validate({"name": label, **keys}), port
