"""Fit curves with whatever deadzone PYTHONPATH names: `python engine_worker.py CURVES ANSWERS`,
both pickles.

Started by `old_and_new.py`, once for each engine. It imports nothing of the benchmarks, so that an
older engine can be measured by newer curves.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import pandas as pd

import deadzone

try:
    from deadzone.analysis.settings.answering import answer
except ImportError:  # a tree of 0.1.0, where the room had another name
    from deadzone.explaining.settings.answering import answer  # type: ignore[import-untyped, no-redef]

INTERVALS = ["elasticity_low", "elasticity_high"]
PHASES = ["start", "stop", "label", *INTERVALS]


def answered(curve: dict[str, Any]) -> dict[str, Any]:
    """What the engine says of a curve; `error` alone where it says nothing.

    curve: x, y, words (whether the knob is to be names without an order).
    """
    knob = [f"n{level:g}" for level in curve["x"]] if curve["words"] else curve["x"]
    frame = pd.DataFrame({"knob": knob, "wall_s": curve["y"]})
    begin = perf_counter()
    try:
        found = answer(frame, "knob", "wall_s", "min", scale="words" if curve["words"] else None)
        advice = found.recommend()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    told: dict[str, Any] = {"seconds": perf_counter() - begin}
    told |= {"setting": advice.setting, "tied": list(advice.tied), "reason": str(advice.reason)}
    told["loss_low"] = dict(zip(advice.table["setting"], advice.table["loss_low"], strict=True))
    for model in found.models.values():
        told |= {"phases": model.phases[PHASES], "steps": model.steps[INTERVALS]}
        told["labels"] = tuple(model.step_labels)
    return told


def main(curves: Path, answers: Path) -> int:
    """Answer every curve; the first record says which engine it was."""
    given = pickle.loads(curves.read_bytes())
    told = [{"engine": deadzone.__file__}, *(answered(curve) for curve in given)]
    answers.write_bytes(pickle.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
