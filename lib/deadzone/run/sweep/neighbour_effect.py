"""Whether neighbours do harm in this run, learned while it goes on from attempts of the same level
beside more and fewer of them.

The response of one attempt has no say in whether that attempt is trusted: it is judged by those
before it.
"""

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

HARMLESS = 0.05
"""Neighbours that surely change the response by less than this make no difference that matters
[ln]."""

SURE = 2.5
"""Standard errors on either side of what neighbours do: 98 % of Student's t with FEWEST degrees of
freedom, one side."""

FEWEST = 10
"""With fewer attempts beyond one a level the scatter itself is not known."""


STEADY, STEADY_CORES, LATEST = 0.25, 0.1, 6
"""What others use hardly varies where so many latest attempts lie within this share of the most, or
this many cores, of each other: two steps of the kernel's tick over half a second."""


class NeighbourEffect:
    """Of the neighbours of one sweep. response: whose attempts are set side by side."""

    def __init__(self, response: str) -> None:
        self._response = response
        self._means: dict[str, tuple[int, np.ndarray]] = {}
        self._within, self._freedom = np.zeros((2, 2)), -1
        self._latest = deque[float](maxlen=LATEST)

    def add(self, record: Mapping[str, Any]) -> None:
        """Learn from a line of the journal: sums of squares and products within levels, updated
        (Welford 1962, Technometrics 4, 419-420), so that the last trial of many costs what the
        first did."""
        value = record["responses"].get(self._response, record.get(self._response)) or 0.0
        foreign = record.get("foreign_cpu")
        self._latest.append(foreign or 0.0)
        if record["status"] == "ok" and not record["warmup"] and value > 0 and foreign is not None:
            level = str(record["levels"])
            seen, mean = self._means.get(level, (0, np.zeros(2)))
            apart = np.array((foreign, math.log(value))) - mean
            self._means[level] = seen + 1, mean + apart / (seen + 1)
            self._within += np.outer(apart, apart) * seen / (seen + 1)
            self._freedom += seen > 0

    @property
    def is_steady(self) -> bool:
        """Whether others use about the same at all times: a repeat is then disturbed like the
        attempt before, and tells nothing of the harm that they do."""
        most = max(self._latest, default=0.0)
        apart = most - min(self._latest, default=0.0)
        return len(self._latest) == LATEST and apart <= max(STEADY * most, STEADY_CORES)

    def is_none(self, foreign_cpu: float) -> bool:
        """Whether neighbours that use so many cores make no difference: the slope of ln(response)
        over what they used, within levels (analysis of covariance: Fisher 1932, Statistical Methods
        for Research Workers, section 49.1)."""
        (used, both), (_, response) = self._within.tolist()
        if self._freedom < FEWEST or used <= 0:
            return False
        slope = both / used
        error = math.sqrt(max(response - slope * both, 0.0) / self._freedom / used)
        return (abs(slope) + SURE * error) * foreign_cpu <= HARMLESS
