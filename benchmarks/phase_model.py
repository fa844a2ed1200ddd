"""Measure the phase model and its peers on synthetic and published curves; write the table.

    python benchmarks/phase_model.py --count 200 --peer-count 25 --seed 1 --fits build/phase_model

Writes docs/benchmarks/phase_model.md. Nothing in that file is typed by hand. Fits are kept in the
folder `--fits`, a file a tier, so that the same command goes on where it was ended; `--before`
names such a folder of an earlier version, made with PYTHONPATH set to it, whose figures then stand
beside the new ones.
"""

from __future__ import annotations

import argparse
import pickle
import platform
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))

import peers
import scoring
from synthetic.curves import OTHER_TIERS, TIERS, Curve, draw_tier
from synthetic.hard_curves import HARD_TIERS, draw_hard
from synthetic.mechanism_curves import MECHANISMS, draw_mechanism

from deadzone import __version__, load_reference
from deadzone.analysis.phases.fit import fit_phases

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "phase_model.md"

LOOKED_AT = (1, 7, 11, 41, 42, 991, 5501, 31337)
"""Seeds on which something of the model was decided; every other one is drawn for its page alone,
after the last change."""

SIXTEEN_CORES = load_reference("ffmpeg-threads", "limit-equals-threads")["wall_s"].to_numpy()
"""Seconds on 1 ... 16 cores with as many threads: the published table of data/reference."""

AUTHORS_PHASES = [
    (1, 4, "linear"),
    (4, 6, "dead_zone"),
    (6, 10, "linear"),
    (10, 12, "breakthrough"),
    (12, 16, "plateau"),
]
JITTER = 0.02

Fits = dict[str, list[scoring.Fitted]]
"""The fits of each tier."""

Draw = Callable[[str, int, int], list[Curve]]
"""Curves of a tier: so many, of a seed."""


def tier_table(fits: Fits) -> pd.DataFrame:
    """Accuracy, coverage, calibration and time of the phase model on each tier."""
    rows = []
    for tier, results in fits.items():
        f1, right = scoring.accuracy((fit.curve, fit.model.step_labels) for fit in results)
        phases, count = scoring.phase_coverage(results)
        stated, true = scoring.calibration(results)
        chance, near = scoring.joint_calibration(results)
        rows.append(
            {
                "tier": tier,
                "joint F1": f"{f1:.3f}",
                "step accuracy": f"{right:.3f}",
                "90 % interval holds (phases)": f"{phases:.1%} of {count}",
                "90 % interval holds (steps)": f"{scoring.step_coverage(results):.1%}",
                "stated >= 0.95": f"{stated:.0%}",
                "of these right": f"{true:.1%}",
                "joint within one level: stated, true": f"{chance:.1%}, {near:.1%}",
                "ms a curve": f"{1000 * np.median([fit.seconds for fit in results]):.0f}",
            }
        )
    return pd.DataFrame(rows)


def _fits(
    folder: Path | None, tier: str, draw: Draw, count: int, seed: int
) -> list[scoring.Fitted]:
    """The fits of a tier, from the folder where they lie there already."""
    if folder and (kept := _file(folder, tier, count, seed)).exists():
        return _kept(kept)
    fits = scoring.fit_all(draw(tier, count, seed))
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(fits))
    return fits


def _file(folder: Path, tier: str, count: int, seed: int) -> Path:
    """Fits of other curves have another name, so that none are taken for these."""
    return folder / f"{tier}-{count}-{seed}.pkl"


def _kept(file: Path) -> list[scoring.Fitted]:
    kept: list[scoring.Fitted] = pickle.loads(file.read_bytes())
    return kept


def _beside(table: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """A table with the cells of an earlier one in parentheses, where they differ; times are left as
    they are, and what an earlier version did not state."""
    same = (table == before) | (before == "nan%") | np.isin(table.columns, ["ms a curve"])[None, :]
    return table.where(same, table.astype(str) + " (" + before.astype(str) + ")")


def smooth_table(fits: Fits) -> pd.DataFrame:
    """Probability of the smooth laws, and how often the interval of a step holds where no phases
    were planted."""
    return pd.DataFrame(
        {
            "tier": tier,
            "smooth laws' probability": f"{np.mean([fit.model.smooth_probability for fit in results]):.1%}",  # noqa: E501
            "above 0.95": f"{np.mean([fit.model.smooth_probability > 0.95 for fit in results]):.1%}",  # noqa: E501
            "90 % interval holds (steps)": f"{scoring.step_coverage(results):.1%}",
        }
        for tier, results in fits.items()
    )


def outlier_table(fits: Fits) -> pd.DataFrame:
    """Precision and recall of the outlier flags where trials were spoiled."""
    rows = []
    for tier, results in fits.items():
        precision, recall, spoiled = scoring.outlier_scores(results)
        if spoiled:
            rows.append(
                {
                    "tier": tier,
                    "spoiled": spoiled,
                    "precision": f"{precision:.3f}",
                    "recall": f"{recall:.3f}",
                }
            )
    return pd.DataFrame(rows)


def _sagging(fits: Fits) -> float:
    """The share of the steps with another label that are of a plateau and called a reversal."""
    wrong = [
        (found, true)
        for results in fits.values()
        for fit in results
        for found, true in zip(fit.model.step_labels, fit.curve.step_labels, strict=True)
        if found != true
    ]
    return wrong.count(("reversal", "plateau")) / max(len(wrong), 1)


def recommendation_table(fits: Fits) -> pd.DataFrame:
    """How often the recommended setting is good, beside the level with the smallest mean."""
    rows = []
    for tier, results in fits.items():
        has_setting = [fit for fit in results if not np.isnan(fit.setting)]
        ours = [scoring.good_setting(fit.curve, fit.setting) for fit in has_setting]
        habit = [
            scoring.good_setting(fit.curve, scoring.smallest_mean(fit.curve)) for fit in results
        ]
        stated = np.nanmean([fit.stated for fit in results])
        rows.append(
            {
                "tier": tier,
                "recommended": np.mean(ours),
                "stated": stated,
                "left open": 1 - len(has_setting) / len(results),
                "smallest mean": np.mean(habit),
            }
        )
    table = pd.DataFrame(rows).set_index("tier")
    table.loc["all"] = table.mean()
    return table.map("{:.1%}".format).reset_index()


def peer_table(count: int, seed: int) -> pd.DataFrame:
    """The peers and the phase model on the same curves: joint F1 / step accuracy, and
    milliseconds."""
    rows = []
    for tier in (*TIERS, *HARD_TIERS):
        curves = draw_tier(tier, count, seed) if tier in TIERS else draw_hard(tier, count, seed)
        row = {"tier": tier, "deadzone": _score(_labels, curves)}
        row |= {name: _score(peer, curves) for name, peer in peers.PEERS.items()}
        rows.append(row)
    return pd.DataFrame(rows)


def knee_table(count: int, seed: int) -> pd.DataFrame:
    """Curves with the one knee that kneed looks for: paying, then a plateau."""
    rows = []
    for tier in ("typical", "noisy", "single", "real"):
        curves = [
            c
            for c in draw_tier(tier, 12 * count, seed)
            if len(c.knots) == 1 and (c.step_labels[0], c.step_labels[-1]) == ("linear", "plateau")
        ]
        row = {"tier": tier, "curves": len(curves), "deadzone": _score(_labels, curves)}
        rows.append(row | {"kneed": _score(peers.by_kneed, curves)})
    return pd.DataFrame(rows)


def _labels(x: np.ndarray, y: np.ndarray) -> list[str]:
    return list(fit_phases(pd.DataFrame({"knob": x, "wall_s": y}), "knob", "wall_s").step_labels)


def _score(labeller: scoring.Labeller, curves: list[Curve]) -> str:
    begin = perf_counter()
    f1, right = scoring.accuracy([(curve, labeller(curve.x, curve.y)) for curve in curves])
    return (
        f"{f1:.2f} / {right:.2f} ({1000 * (perf_counter() - begin) / max(len(curves), 1):.0f} ms)"
    )


def jitter(draws: int, seed: int) -> float:
    """Share of draws of the jittered 16-core curve that keep the author's phases within one
    level."""
    rng = np.random.default_rng(seed)
    kept = []
    for _ in range(draws):
        y = SIXTEEN_CORES * np.exp(JITTER * rng.standard_normal(16))
        frame = pd.DataFrame({"cpu_limit": np.arange(1, 17), "wall_s": y})
        phases = fit_phases(frame, "cpu_limit", "wall_s").phases
        found = list(phases[["start", "stop", "label"]].itertuples(index=False, name=None))
        kept.append(
            len(found) == len(AUTHORS_PHASES)
            and all(
                a[2] == b[2] and abs(a[0] - b[0]) <= 1 and abs(a[1] - b[1]) <= 1
                for a, b in zip(found, AUTHORS_PHASES, strict=True)
            )
        )
    return float(np.mean(kept))


def speed_table(seed: int) -> pd.DataFrame:
    """Seconds of a whole fit with all intervals; the peer with its own bootstrap on the same
    curve."""
    rng = np.random.default_rng(seed)
    rows = []
    for levels, replicates in ((16, 5), (500, 3)):
        frame = _knee_with_noise(rng, levels, replicates)
        ours = _best_time(lambda frame=frame: fit_phases(frame, "knob", "wall_s"), 5)
        rows.append({"what": f"deadzone, {levels} levels x {replicates}", "seconds": f"{ours:.3f}"})
        if levels == 16:
            quick, same = ours, frame
    theirs = _best_time(lambda: _bootstrapped_peer(same), 1)
    rows.append(
        {
            "what": "piecewise-regression, 16 levels x 5, joints refitted on 1,000 resamples",
            "seconds": f"{theirs:.1f}",
        }
    )
    rows.append({"what": "ratio of the two", "seconds": f"{theirs / quick:.0f} times"})
    chosen = _best_time(lambda: _bootstrapped_peer(same, choose=True), 1)
    rows.append(
        {
            "what": "the same, choosing among 0 to 4 joints as the phase model does",
            "seconds": f"{chosen:.1f}",
        }
    )
    rows.append({"what": "ratio of the two", "seconds": f"{chosen / quick:.0f} times"})
    return pd.DataFrame(rows)


def _knee_with_noise(rng: np.random.Generator, levels: int, replicates: int) -> pd.DataFrame:
    x = np.tile(np.arange(1.0, levels + 1), replicates)
    y = 60.0 / np.minimum(x, levels / 2) ** 0.8 * np.exp(0.02 * rng.standard_normal(len(x)))
    return pd.DataFrame({"knob": x, "wall_s": y, "block": np.repeat(np.arange(replicates), levels)})


def _bootstrapped_peer(frame: pd.DataFrame, choose: bool = False) -> None:
    """piecewise-regression with the 1,000 resamples of a usual bootstrap; given one joint, or
    choosing."""
    import contextlib
    import io

    import piecewise_regression

    x, y = np.log(frame["knob"].to_numpy()), np.log(frame["wall_s"].to_numpy())
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if choose:
            piecewise_regression.ModelSelection(x, y, max_breakpoints=4, n_boot=1000)
        else:
            piecewise_regression.Fit(x, y, n_breakpoints=1, n_boot=1000)


def _best_time(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        work()
        times.append(perf_counter() - begin)
    return min(times)


def page(arguments: argparse.Namespace) -> str:
    """The whole report in Markdown."""
    count, seed, few = arguments.count, arguments.seed, arguments.other_count
    kept, before = arguments.fits, arguments.before
    own = {tier: _fits(kept, tier, draw_tier, count, seed) for tier in TIERS}
    other = {tier: _fits(kept, tier, draw_tier, few, seed) for tier in OTHER_TIERS}
    hard = {tier: _fits(kept, tier, draw_hard, few, seed) for tier in HARD_TIERS}
    laws = {law: _fits(kept, law, draw_mechanism, count, seed) for law in MECHANISMS}

    def beside(make: Callable[[Fits], pd.DataFrame], fits: Fits) -> pd.DataFrame:
        if not before:
            return make(fits)
        return _beside(
            make(fits),
            make({tier: _kept(_file(before, tier, len(f), seed)) for tier, f in fits.items()}),
        )

    sections = [
        (
            "Tiers it was developed on",
            f"{count} curves a tier, seed {seed}. The truth is told step by step; Deadzone calls "
            "a plateau that sags by more than 3 % in all a reversal. That is "
            f"{_sagging(own):.0%} of the steps here that have another label.",
            beside(tier_table, own),
        ),
        (
            "Curves of other laws",
            f"{few} curves a tier. `other_smooth` has no joints at all: the Universal Scalability "
            "Law, whose elasticity fades, cut into labels at the thresholds. It is one of the "
            "laws that the model averages over.",
            beside(tier_table, other),
        ),
        (
            "Curves with what real sweeps have",
            f"{few} curves a tier: levels with lasting effects of their own, cliffs, gaps, one "
            "trial a level, levels that scatter differently (the number: the noisiest over the "
            "quietest), slow gains and losses, saw teeth. The labels are those of the law "
            "beneath.",
            beside(tier_table, hard),
        ),
        (
            "Outlier flags",
            "Trials spoiled by a factor of 1.5 to 4, either way.",
            outlier_table(own),
        ),
        (
            "Recommended settings",
            "Share of curves whose setting costs at most 7 % more than the true best and is at "
            "most 1.25 times, or one level above, the smallest within 3 % of it, of the curves "
            "that have a setting; beside it the mean of the probabilities stated that it is a "
            "good one, and the share of curves left open, for a level that is to be measured "
            "again.",
            beside(recommendation_table, own | other | hard),
        ),
        (
            "Recommended settings on curves drawn from mechanisms",
            f"{count} curves a mechanism: no phases were planted, noise is skewed, levels have "
            "effects of their own, runs drift, trials are spoiled; half are to minimise, half to "
            "maximise.",
            beside(recommendation_table, laws),
        ),
        (
            "Smooth laws",
            "Probability of Amdahl's law and the Universal Scalability Law together, against "
            "chains of pieces. `other_smooth` and the first two mechanisms are such laws, "
            "`batches` is Amdahl's law in other words where no cache is outgrown; a further "
            "mechanism is neither, and levels of a mechanism have effects of their own, so that "
            "its steps are not quite the law's.",
            smooth_table(own | other | laws),
        ),
        (
            "Peers on the same curves",
            f"{arguments.peer_count} curves a tier: joint F1 / step accuracy (time a curve). Each "
            "peer gets level medians on log-log axes and chooses its number of joints by BIC "
            "(ruptures: by a tuned penalty); settings in benchmarks/peers.py.",
            peer_table(arguments.peer_count, seed),
        ),
        (
            "One knee",
            "Only curves that pay and then stop paying.",
            knee_table(arguments.peer_count, seed),
        ),
        ("Speed", "One core, import excluded, best of five (peer: one run).", speed_table(seed)),
    ]
    held = jitter(arguments.jitter_draws, seed)
    text = [
        "# How well the phase model does",
        f"Written by `benchmarks/phase_model.py --count {count} --other-count {few} --seed "
        f"{seed}`; not edited by hand."
        + (" In parentheses: the version before, on the same curves." if before else ""),
        f"Seed {seed} was "
        f"{'used while the model was developed' if seed in LOOKED_AT else 'not used while the model was developed'}.",  # noqa: E501
        f"deadzone {__version__}, Python {platform.python_version()}, "
        + ", ".join(
            f"{name} {version(name)}"
            for name in ("numpy", "scipy", "pandas", *peers.PEERS, "kneed")
        )
        + ".",
    ]
    for title, said, table in sections:
        text += [f"## {title}", said, markdown(table)]
    text += [
        "## The published 16-core curve, jittered",
        f"Each point moved by {JITTER:.0%} (one standard deviation), {arguments.jitter_draws} "
        f"draws: the author's five phases are found, each end within one level, in {held:.1%} of "
        "the draws.",
    ]
    return "\n\n".join(text) + "\n"


def markdown(table: pd.DataFrame) -> str:
    """A table in Markdown, without another package."""
    rows = [
        list(table.columns),
        ["---"] * len(table.columns),
        *table.astype(str).to_numpy().tolist(),
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200, help="curves a tier")
    parser.add_argument("--other-count", type=int, default=60, help="curves a tier of other laws")
    parser.add_argument("--fits", type=Path, help="folder that keeps the fits")
    parser.add_argument(
        "--before", type=Path, help="folder of an earlier version's fits of the same curves"
    )
    parser.add_argument("--peer-count", type=int, default=20, help="curves a tier for the peers")
    parser.add_argument("--jitter-draws", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path, default=PAGE, help="where to write")
    arguments = parser.parse_args()
    text = page(arguments)
    arguments.page.parent.mkdir(parents=True, exist_ok=True)
    arguments.page.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
