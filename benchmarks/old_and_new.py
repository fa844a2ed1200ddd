"""Two engines on the same fresh curves, paired: which is better, by how much, and how sure that is.

    python benchmarks/old_and_new.py --old main --count 20 python benchmarks/old_and_new.py --old
    8787da5 --new ../other-checkout --tiers cliff teeth --count 100 python benchmarks/old_and_new.py
    --old v0.1.0 --count 2000 --page docs/benchmarks/old_and_new.md

    python benchmarks/old_and_new.py --old HEAD --tables      # published tables, record by record

`--old` and `--new` are commits or folders that hold `lib`; the new engine is this folder by
default. Each is imported in processes of its own. Answers are kept in `build/old_and_new` by what
the engine's files hold, so that the same command goes on where it was ended and an engine that did
not change is not fitted again. Without `--seed` the curves are fresh. `--tables` fits every table
of `data/reference` and every published curve by command and in Python, and names what differs:
keys, settings, labels, numbers beyond nine digits; sentences apart. It fails where anything does.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import math
import os
import pickle
import secrets
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))

import scoring
from synthetic.curves import OTHER_TIERS, TIERS, Curve, draw_tier
from synthetic.hard_curves import EQUAL_RATIOS, HARD_TIERS, draw_equal, draw_hard

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "old_and_new"
WORKER = Path(__file__).with_name("engine_worker.py")
TABLE_WORKER = Path(__file__).with_name("table_worker.py")

CHUNK = 25
"""Curves a process: its start costs less than a hundredth of that."""

RESAMPLES = 4000
RESAMPLING_SEED = 20261127

CLAIM = 1e-6
"""A setting is claimed to be worse if its loss is said to be at least this much more than it really
is."""

MOST_SLICES = 8
ABSENT = "<absent>"

Answers = list[dict[str, Any]]


@contextmanager
def engine_folder(named: str) -> Iterator[Path]:
    """The folder `lib` of a commit, checked out for as long as it is needed, or of a folder."""
    if (Path(named) / "lib" / "deadzone").is_dir():
        yield (Path(named) / "lib").resolve()
        return
    with tempfile.TemporaryDirectory(prefix="engine-") as folder:
        checkout = str(Path(folder) / "checkout")
        subprocess.run(
            ("git", "worktree", "add", "--quiet", "--detach", checkout, named), cwd=ROOT, check=True
        )
        try:
            yield Path(checkout) / "lib"
        finally:
            subprocess.run(("git", "worktree", "remove", "--force", checkout), cwd=ROOT, check=True)


def engine_key(lib: Path) -> str:
    """What the engine's files hold, as a name: of two that say the same it is the same."""
    digest = hashlib.sha256(WORKER.read_bytes())
    for path in sorted(lib.rglob("*")):
        if path.suffix in (".py", ".toml"):
            digest.update(str(path.relative_to(lib)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def answers_of(lib: Path, name: str, curves: Sequence[Curve], words: bool, jobs: int) -> Answers:
    """What an engine says of each curve; kept under `name`."""
    plain = [{"x": curve.x, "y": curve.y, "words": words} for curve in curves]
    return kept_answers(WORKER, lib, name, plain, CHUNK, jobs)


def kept_answers(
    worker: Path, lib: Path, name: str, cases: Sequence[Any], chunk: int, jobs: int
) -> Answers:
    """What a worker tells of cases with the engine in `lib`, so many a process; kept under
    `name`."""
    kept = KEPT / engine_key(lib) / f"{name}.pkl"
    if kept.exists():
        stored: Answers = pickle.loads(kept.read_bytes())
        return stored
    parts = [cases[first : first + chunk] for first in range(0, len(cases), chunk)]
    with ThreadPoolExecutor(jobs) as pool:
        told = [
            one for part in pool.map(lambda part: _worked(worker, lib, part), parts) for one in part
        ]
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(pickle.dumps(told))
    return told


def _worked(worker: Path, lib: Path, cases: Sequence[Any]) -> Answers:
    with tempfile.TemporaryDirectory() as folder:
        given, told = Path(folder) / "cases", Path(folder) / "answers"
        given.write_bytes(pickle.dumps(cases))
        variables = {
            **os.environ,
            "PYTHONPATH": str(lib),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        subprocess.run(
            (sys.executable, str(worker), str(given), str(told)), env=variables, check=True
        )
        engine, *answers = pickle.loads(told.read_bytes())
    if not Path(engine["engine"]).is_relative_to(lib):
        raise SystemExit(f"{engine['engine']} was imported instead of the engine in {lib}.")
    return answers


def table_cases() -> list[dict[str, str]]:
    """What is asked of the published tables: either of the first two columns as the knob, each
    other column of numbers as the response, over all and, where the other one has few values, split
    by it."""
    reference = ROOT / "data" / "reference"
    index = pd.read_csv(reference / "published-curves" / "index.csv", dtype=str)
    cases = [
        {
            "table": str(reference / "published-curves" / "cases" / f"{row.name}.csv"),
            "knob": row.knob,
            "response": row.response,
            "goal": row.goal,
            "by": "",
        }
        for row in index.itertuples(index=False)
    ]
    for path in sorted(reference.glob("*/*.csv")):
        table = pd.read_csv(path)
        for knob, other in itertools.permutations(table.columns[:2], 2):
            splits = [""] + [other] * (2 <= table[other].nunique() <= MOST_SLICES)
            cases += [
                {"table": str(path), "knob": knob, "response": response, "goal": "min", "by": by}
                for response in table.select_dtypes("number").columns.difference([knob, other])
                for by in splits
                if table[knob].nunique() > 1
            ]
    return cases


def differences(old: Any, new: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two records differ, and both values there; numbers beyond nine digits."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() | new.keys():
            yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (a, b) in enumerate(zip(old, new, strict=True)):
            yield from differences(a, b, f"{where}[{number}]")
    elif isinstance(old, float) and isinstance(new, float):
        if not (math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12) or (old != old and new != new)):
            yield where, old, new
    elif old != new:
        yield where, old, new


def compare_tables(libs: Sequence[Path], jobs: int) -> int:
    """Print where the records of two engines differ; in how many places by more than sentences."""
    cases, counted = table_cases(), Counter[str]()
    old, new = (kept_answers(TABLE_WORKER, lib, "tables", cases, 4 * CHUNK, jobs) for lib in libs)
    for case, a, b in zip(cases, old, new, strict=True):
        asked = f"{Path(case['table']).stem} {case['knob']} {case['response']} {case['by']}"
        for where, before, after in differences(a, b):
            are_said = all(isinstance(value, str) and " " in value for value in (before, after))
            counted["sentences" if are_said else "records"] += 1
            print(f"{asked} {where}", f"{before!r}", f"{after!r}", sep="\n  ")
    print(len(cases), "cases;", dict(counted) or "nothing differs")
    return counted["records"]


def joint_counts(curve: Curve, answer: dict[str, Any]) -> tuple[int, int, int]:
    """Joints found that are true, found, and true; an engine without phases finds none."""
    found = scoring.knots(answer.get("labels", ()))
    return scoring.matched(found, curve.knots), len(found), len(curve.knots)


def f1(counts: np.ndarray) -> float:
    """Of summed counts (shape (3,)): true found, found, true."""
    return float(2 * counts[0] / max(counts[1] + counts[2], 1))


def paired_difference(old: list[np.ndarray], new: list[np.ndarray]) -> tuple[float, float, float]:
    """New less old F1 over all curves, and its 95 % interval: curves are drawn again within each
    tier, both engines alike (paired bootstrap; Efron and Tibshirani 1993, chapter 8). old, new:
    counts of a tier, shape (curves, 3)."""
    rng = np.random.default_rng(RESAMPLING_SEED)
    told = [np.zeros((RESAMPLES, 3)), np.zeros((RESAMPLES, 3))]
    for tier in zip(old, new, strict=True):
        often = rng.multinomial(len(tier[0]), np.full(len(tier[0]), 1 / len(tier[0])), RESAMPLES)
        for total, counts in zip(told, tier, strict=True):
            total += often @ counts
    drawn = [f1(b) - f1(a) for a, b in zip(*told, strict=True)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return (
        f1(sum(c.sum(axis=0) for c in new)) - f1(sum(c.sum(axis=0) for c in old)),
        float(low),
        float(high),
    )


def _fitted(curve: Curve, answer: dict[str, Any]) -> scoring.Fitted | None:
    if "phases" not in answer:
        return None
    model: Any = SimpleNamespace(
        phases=answer["phases"], steps=answer["steps"], step_labels=answer["labels"]
    )
    return scoring.Fitted(curve, model, answer["seconds"], np.nan)


def decided_well(curve: Curve, answer: dict[str, Any]) -> bool:
    """Whether a setting is recommended, and a good one."""
    return answer.get("setting") is not None and scoring.good_setting(
        curve, float(answer["setting"])
    )


def holds_best(curve: Curve, answer: dict[str, Any]) -> bool:
    """Whether the setting that is truly best is among the tied ones."""
    best = curve.levels[int(np.argmin(curve.log_settings))]
    return any(float(level) == best for level in answer.get("tied", ()))


def bounds_fail(curve: Curve, answer: dict[str, Any]) -> bool:
    """Whether the bound of any setting says that it is worse than the best by more than it is."""
    truth = np.expm1(curve.log_settings - curve.log_settings.min())
    true = {_named(level): loss for level, loss in zip(curve.levels, truth, strict=True)}
    return any(low > true[_named(m)] + CLAIM for m, low in answer.get("loss_low", {}).items())


def says_falsely(curve: Curve, answer: dict[str, Any]) -> bool:
    """The same of the settings that are told from the best alone: these are what the sentence calls
    worse."""
    tied = set(map(_named, answer.get("tied", ())))
    apart = {m: low for m, low in answer.get("loss_low", {}).items() if _named(m) not in tied}
    return bounds_fail(curve, {"loss_low": apart})


def _named(level: Any) -> str:
    return level if isinstance(level, str) else f"n{level:g}"


def _share(of: Sequence[bool]) -> str:
    return f"{np.mean(of):.1%}" if len(of) else "-"


def tier_row(name: str, curves: Sequence[Curve], old: Answers, new: Answers) -> list[str]:
    """A line of the table: of each measure the old engine's figure, then the new one's."""
    row = [name]

    def both(measure: Callable[[Answers], str]) -> None:
        a, b = measure(old), measure(new)
        row.append(a if a == b else f"{a} → {b}")

    def each(measure: Callable[[Curve, dict[str, Any]], bool]) -> Callable[[Answers], str]:
        return lambda told: _share([measure(c, a) for c, a in zip(curves, told, strict=True)])

    def fits(told: Answers) -> list[scoring.Fitted]:
        return [fit for c, a in zip(curves, told, strict=True) if (fit := _fitted(c, a))]

    both(lambda told: f"{f1(sum_counts(curves, told).sum(axis=0)):.3f}")
    both(each(decided_well))
    both(each(lambda curve, answer: answer.get("setting") is None))
    both(each(holds_best))
    both(lambda told: f"{np.median([len(answer.get('tied', ())) for answer in told]):g}")
    both(lambda told: f"{scoring.phase_coverage(fits(told))[0]:.1%}")
    both(lambda told: f"{scoring.step_coverage(fits(told)):.1%}")
    both(each(says_falsely))
    both(each(bounds_fail))
    both(lambda told: f"{1000 * np.median([answer.get('seconds', np.nan) for answer in told]):.0f}")
    return row


HEAD = [
    "tier",
    "joint F1",
    "good settings",
    "no verdict",
    "tied set holds the best",
    "its median size",
    "90 % interval holds (phases)",
    "(steps)",
    "false claims",
    "bounds that fail",
    "ms",
]


def sum_counts(curves: Sequence[Curve], told: Answers) -> np.ndarray:
    """Joint counts of each curve; shape (curves, 3)."""
    return np.array([joint_counts(c, a) for c, a in zip(curves, told, strict=True)])


def draw(tier: str, count: int, seed: int) -> list[Curve]:
    """Curves of any tier."""
    return draw_hard(tier, count, seed) if tier in HARD_TIERS else draw_tier(tier, count, seed)


def page(libs: Sequence[Path], given: argparse.Namespace) -> str:
    """The comparison in Markdown; a line is printed as soon as its tier is done."""
    old_counts, new_counts, rows = [], [], []
    errors: dict[str, int] = {}
    for tier in given.tiers:
        curves = draw(tier, given.count, given.seed)
        old, new = (
            answers_of(lib, f"{tier}-{given.count}-{given.seed}", curves, False, given.jobs)
            for lib in libs
        )
        old_counts.append(sum_counts(curves, old))
        new_counts.append(sum_counts(curves, new))
        rows.append(tier_row(tier, curves, old, new))
        print("  ".join(rows[-1]), flush=True)
        for answer in new:
            if "error" in answer:
                errors[answer["error"]] = errors.get(answer["error"], 0) + 1
    text = [
        "# The engine beside the one before",
        f"Written by `benchmarks/old_and_new.py --old {given.old} --count {given.count} --seed "
        f"{given.seed}`; not edited by hand.",
        f"{given.count} curves a tier, the same for both. Where two figures stand, the first is "
        "the old engine's. False claims: curves on which a setting is told from the best and its "
        "loss is said to be more (95 %) than it is; bounds that fail: the same of every setting "
        "in the table, the tied ones too.",
        _markdown([HEAD, *rows]),
    ]
    if rows:
        difference, low, high = paired_difference(old_counts, new_counts)
        text.append(
            f"Joint F1 over all tiers, new less old: {difference:+.4f} (paired 95 % interval "
            f"{low:+.4f} to {high:+.4f})."
        )
    if given.equal:
        text += ["## Equal settings that scatter differently", EQUAL, equal_table(libs, given)]
    if errors:
        text += [
            "## Curves that the new engine refuses",
            *(f"{n} times: {said}" for said, n in errors.items()),
        ]
    return "\n\n".join(text) + "\n"


EQUAL = (
    "Two to twelve settings of equal value, three to twenty trials each. Share of draws in which "
    "any setting is told from the best and said to be worse (claims), and in which any setting, "
    "tied or not, has a bound above nothing (bounds); 5 % is allowed."
)


def equal_table(libs: Sequence[Path], given: argparse.Namespace) -> str:
    """False claims at equal settings, by the ratio of scatters, of a knob with an order and of
    words."""
    rows = [
        [
            "ratio of scatters",
            *(f"{knob}: {what}" for knob in ("numbers", "words") for what in ("claims", "bounds")),
        ]
    ]
    for ratio in EQUAL_RATIOS:
        curves, row = draw_equal(ratio, given.equal, given.seed), [str(ratio)]
        for words in (False, True):
            name = f"equal_{ratio}-{'words' if words else 'numbers'}-{given.equal}-{given.seed}"
            told = [answers_of(lib, name, curves, words, given.jobs) for lib in libs]
            for fails in (says_falsely, bounds_fail):
                shares = [
                    _share([fails(c, a) for c, a in zip(curves, some, strict=True)])
                    for some in told
                ]
                row.append(shares[0] if shares[0] == shares[1] else " → ".join(shares))
        rows.append(row)
        print("  ".join(row), flush=True)
    return _markdown(rows)


def _markdown(rows: list[list[str]]) -> str:
    return "\n".join(
        "| " + " | ".join(row) + " |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:])
    )


def main() -> int:
    """Compare, and print the page."""
    every = [*TIERS, *OTHER_TIERS, *HARD_TIERS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--old", required=True, help="commit, or folder that holds lib")
    parser.add_argument("--new", default=str(ROOT), help="the same; by default this folder")
    parser.add_argument("--count", type=int, default=20, help="curves a tier")
    parser.add_argument(
        "--equal", type=int, default=100, help="draws of equal settings a ratio; 0 leaves them out"
    )
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(10**6), help="of the curves; fresh by default"
    )
    parser.add_argument(
        "--tiers", nargs="*", default=every, choices=every, metavar="TIER", help="only these"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--page", type=Path, help="file to write as well")
    parser.add_argument("--tables", action="store_true", help="published tables in place of curves")
    given = parser.parse_args()
    with ExitStack() as stack:
        libs = [stack.enter_context(engine_folder(named)) for named in (given.old, given.new)]
        if given.tables:
            return 1 if compare_tables(libs, given.jobs) else 0
        text = page(libs, given)
    print("\n" + text)
    if given.page:
        given.page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
