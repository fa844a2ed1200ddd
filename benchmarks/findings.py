"""How often a planted mistake of the experimenter is found and named first, and how often a sound
run is suspected.

Trials of two real programs are measured once, at each level and in each state that a mistake puts a
trial into (it did nothing, it failed, half of the work, ...). Runs are then drawn from them: a
randomised order, and for each trial, by the rule of the mistake, the state it is in, and one of the
measured trials of that level and state. So every row is a trial that was measured, and a mistake
can be planted many times. What a neighbour did while they were measured is in them.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from deadzone.analysis.findings.examining import CATALOGUE
from deadzone.report.sweep.analysis import Source, analyse
from deadzone.run.sweep.opening import planned
from deadzone.run.sweep.progress import progress_on
from deadzone.run.sweep.running import run_sweep
from deadzone.store.provenance import usable_cores
from deadzone.store.run import RunFolder
from deadzone.study.loading import parse_study

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks" / "findings.md"
LEVELS = (1, 2, 3, 4, 6, 8)
LARGE = 4
TIMEOUT_S = 2.0
FIRST_SEED = 5000
"""Runs of smaller seeds were looked at while the checks were made."""

REPLICATES = (3, 5, 10)
"""Of sound runs: thin and with many trials a level."""

BUSY = ", beside a neighbour"
NEIGHBOUR = """
import time
while True:
    end = time.monotonic() + 0.5
    while time.monotonic() < end: pass
    time.sleep(0.5)
"""
STATES = (
    "sound",
    "nothing",
    "fails",
    "error",
    "half",
    "left",
    "same",
    "slow",
    "pause",
    "short",
    "full",
)

SHELL = """
file=$1; state=$2; n=$3
case $state in
  nothing) exit 0;; fails) exit 3;; error) echo 'ERROR: cannot open the input' >&2; exit 0;;
  left) (sort --parallel=$n $file >/dev/null; sleep 0.2) & exit 0;; same) n=1;; pause) sleep 0.4; n=1;;
  short) echo 'items: 400000'; exit 0;;
  full) head -n $((400000 / n)) $file > $file.$$; for i in $(seq $n); do sort --parallel=1 -S 64M $file.$$ >/dev/null; done
    rm $file.$$; echo 'items: 400000'; exit 0;;
esac
lines=400000; [ $state = half ] && lines=200000; [ $state = pause ] && lines=500
head -n $lines $file | sort --parallel=$n -S 64M | tail -n 1 >/dev/null
[ $state = slow ] && head -n 260000 $file | sort --parallel=$n -S 64M | tail -n 1 >/dev/null
echo "items: $lines"
"""  # noqa: E501
"""The second program: sort of coreutils in a script of the shell, SHELL FILE STATE N. Of fewer than
131,072 lines it sorts with one thread, whatever is asked for."""

PROGRAMS = {
    "hashes in Python": [
        sys.executable,
        "-I",
        "-S",
        str(HERE / "planted_mistakes.py"),
        "{state}",
        "{n}",
    ],
    "sort in a shell script": ["sh", "{file}.sh", "{file}", "{state}", "{n}"],
}

Rule = Callable[[np.random.Generator, pd.DataFrame], list[str]]
"""From the order of a run (columns n, block, first of its level, n of the trial before) to the
state of each trial."""


@dataclass(frozen=True)
class Mistake:
    """key: the finding that names it. states: by the rule. after: what else it does to the table.
    bad: levels that must not be recommended without a word; every one where the whole verdict is
    wrong. levels: of the run. also: a finding that names the same mistake as well."""

    key: str
    states: Rule
    after: Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame] = lambda table, _: table
    bad: tuple[int, ...] = LEVELS
    response: str = "wall_s"
    ordered: bool = False
    levels: tuple[int, ...] = LEVELS
    also: str = ""


def of_large(share: float, state: str) -> Rule:
    """A share of the trials of large levels, by chance."""
    return lambda rng, order: np.where(
        (order.n >= LARGE) & (rng.random(len(order)) < share), state, "sound"
    ).tolist()


def always(state: str) -> Rule:
    """Every trial."""
    return lambda _, order: [state] * len(order)


def timed_out(table: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """Trials that failed hung until the time-out instead."""
    hung = table["status"] == "failed"
    return table.assign(
        status=table["status"].mask(hung, "timeout"), wall_s=table["wall_s"].mask(hung, TIMEOUT_S)
    )


def two_units(table: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """The program prints seconds where it takes long, else milliseconds."""
    short = table["wall_s"] < table["wall_s"].median()
    printed = np.where(short, "took=ms", "took=s")
    return table.assign(took=table["wall_s"] * np.where(short, 1000, 1), printed_units=printed)


def warming(table: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """The machine slows down by a third over the run."""
    return table.assign(wall_s=table["wall_s"] * np.linspace(1, 1.33, len(table)))


def building_up(table: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """What each trial leaves makes the last ones take twice as long as the first ones."""
    return table.assign(wall_s=table["wall_s"] * np.linspace(1, 2, len(table)))


def shared_out(table: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """Work that n of them share without a loss."""
    return table.assign(wall_s=table["wall_s"] / table["n"])


def slow_peer(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Most of the response is somebody else's: a service that answers in half a second, and often
    takes many times that."""
    return table.assign(wall_s=table["wall_s"] + 0.5 * rng.lognormal(0, 1.5, len(table)))


def of_a_server(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The program asks a server, which is measured beside it and has room."""
    return table.assign(server_cores=0.3 + 0.02 * rng.standard_normal(len(table)))


def seen_by_size(table: pd.DataFrame, _: np.random.Generator) -> pd.DataFrame:
    """Beside a neighbour; in a trial that ends at once none is seen."""
    return table.assign(trusted=table["stdout_bytes"].eq(0))


LARGE_LEVELS = tuple(level for level in LEVELS if level >= LARGE)
MISTAKES = {
    "half of the trials at large levels crash": Mistake(
        "failures_by_level", of_large(0.5, "fails"), bad=LARGE_LEVELS
    ),
    "60 % at large levels hang until the time-out": Mistake(
        "timeouts_by_level", of_large(0.6, "fails"), timed_out, LARGE_LEVELS
    ),
    "prints s and ms": Mistake("unit_changes", always("sound"), two_units, response="took"),
    "the first trial of a level fills a cache": Mistake(
        "carry_over", lambda _, order: np.where(order["first"], "sound", "nothing").tolist()
    ),
    "every second trial, by chance, does nothing": Mistake(
        "work_differs",
        lambda rng, order: np.where(rng.random(len(order)) < 0.5, "nothing", "sound").tolist(),
    ),
    "a child works on": Mistake("left_running", always("left")),
    "the knob is not used": Mistake("knob_not_used", always("same")),
    "ERROR at large levels, exit code 0": Mistake(
        "error_printed", of_large(1, "error"), bad=LARGE_LEVELS
    ),
    "slower after a large level": Mistake(
        "carry_over", lambda _, order: np.where(order["before"] >= LARGE, "slow", "sound").tolist()
    ),
    "half of the items at large levels": Mistake(
        "less_work", of_large(1, "half"), bad=LARGE_LEVELS
    ),
    "levels one after the other": Mistake(
        "levels_confounded", always("sound"), warming, ordered=True
    ),
    "a pause is most of the time": Mistake("not_the_program", always("pause")),
    "the response has one digit": Mistake(
        "few_values",
        always("sound"),
        lambda table, _: table.assign(wall_s=table["wall_s"].clip(lower=0.1).round(1)),
    ),
    "trials that only start and end": Mistake("too_short", always("short"), also="knob_not_used"),
    "the load program is full with one core": Mistake("client_full", always("full"), of_a_server),
    "half of the trials do nothing, the others are thrown out beside a neighbour": Mistake(
        "selected_by_trust",
        lambda rng, order: np.where(rng.random(len(order)) < 0.5, "nothing", "sound").tolist(),
        seen_by_size,
        also="work_differs",
    ),
    "a slow peer answers when it likes": Mistake(
        "noise_too_large", always("sound"), slow_peer, bad=()
    ),
    "each trial leaves something to the next": Mistake(
        "state_builds_up", always("sound"), building_up, bad=()
    ),
    "one size takes another path": Mistake(
        "one_level_off",
        lambda _, order: np.where(order["n"] == LARGE, "slow", "sound").tolist(),
        bad=(LARGE,),
    ),
    "the levels end too soon": Mistake(
        "edge_of_range", always("same"), shared_out, levels=(1, 2, 3), bad=()
    ),
}


@contextmanager
def neighbour() -> Iterator[None]:
    """Another program that keeps half of a core busy, in bursts, as long as the block lasts."""
    program = subprocess.Popen([sys.executable, "-I", "-S", "-c", NEIGHBOUR])
    try:
        yield
    finally:
        program.kill()
        program.wait()


def measured(
    name: str, folder: Path, replicates: int, states: tuple[str, ...] = STATES
) -> pd.DataFrame:
    """Trials of a program at every level and in every state."""
    folder.mkdir()
    file = folder / "lines"
    rng = np.random.default_rng(1)
    file.write_text("\n".join(map(str, rng.integers(0, 10**9, 400_000))) + "\n")
    Path(f"{file}.sh").write_text(SHELL)
    argv = [part.replace("{file}", str(file)) for part in PROGRAMS[name]]
    workload = {"kind": "command", "argv": argv, "responses": {}}
    document = {
        "study": "planted",
        "workload": workload,
        "factors": {"n": list(LEVELS), "state": list(states)},
        "design": {"replicates": replicates, "warmup": 0, "timeout_s": 30},
        "trust": {"max_foreign_cpu": 99, "max_steal": 99, "max_pressure": 1},
    }
    document["design"] |= {
        "kind": "list",
        "treatments": [{"n": n, "state": s} for n in LEVELS for s in states],
    }
    import yaml

    plan = planned(parse_study(yaml.safe_dump(document), "benchmark"), folder)
    run = RunFolder.create(folder / "runs", plan.study)
    # Trials that fail are wanted here, so the sweep must not end for three of them in a row.
    import deadzone.run.sweep.failing as failing

    failing.FAILURES_IN_A_ROW = 10**9
    run_sweep(plan, run, progress_on())
    measured_now = run.trials()
    return measured_now.assign(items=np.where(measured_now["state"] == "half", 500.0, 1000.0))


def drawn(pool: pd.DataFrame, mistake: Mistake | None, seed: int, replicates: int) -> pd.DataFrame:
    """A run with a mistake, or a sound one."""
    rng = np.random.default_rng(seed)
    levels = mistake.levels if mistake else LEVELS
    blocks = [rng.permutation(levels) for _ in range(replicates + 1)]
    order = pd.DataFrame(
        {"n": np.concatenate(blocks), "block": np.repeat(range(replicates + 1), len(levels))}
    )
    if mistake and mistake.ordered:
        order = order.sort_values("n", kind="stable", ignore_index=True)
    order["first"] = ~order["n"].duplicated()
    order["before"] = order["n"].shift(fill_value=0)
    order["state"] = mistake.states(rng, order) if mistake else "sound"
    groups = dict(iter(pool.groupby(["n", "state"])))
    # Where the level does nothing, its trials are those of all levels: a pool of its own would
    # differ by chance, each time.
    groups |= {
        (n, state): pool[pool["state"] == state]
        for n in LEVELS
        for state in ("same", "pause", "short")
    }
    # Each trial is drawn once before any is drawn again: ties would look like groups of trials.
    following = {key: itertools.cycle(rng.permutation(len(rows))) for key, rows in groups.items()}
    drawn_from = zip(order["n"], order["state"], strict=True)
    rows = [groups[key].iloc[next(following[key])] for key in drawn_from]
    table = pd.DataFrame(rows).reset_index(drop=True).drop(columns="state")
    table = table.assign(
        n=order["n"],
        trial=range(1, len(table) + 1),
        block=order["block"],
        warmup=order["block"] == 0,
        started_at=pd.date_range("2026-01-01", periods=len(table), freq="s", tz="UTC").astype(str),
        trusted=True,
        attempt=1,
    )
    return mistake.after(table, rng) if mistake else table


def verdict_of(table: pd.DataFrame, response: str = "wall_s"):
    """What is said of a run."""
    return analyse(Source(table, "n", response, cores=usable_cores()))


def grave(analysis, severities=("stops", "doubts")) -> list[str]:
    """Keys of the findings that a reader meets in the verdict."""
    return [one.key for one in analysis.findings if one.severity in severities]


def judged(words: str, pool: pd.DataFrame, name: str, seeds: int, replicates: int = 5) -> dict:
    """A mistake planted with every seed."""
    mistake = MISTAKES[words]
    found = first = wrong = 0
    right = {mistake.key, mistake.also}
    others: set[str] = set()
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        analysis = verdict_of(drawn(pool, mistake, seed, replicates), mistake.response)
        said = grave(analysis, ("stops", "doubts", CATALOGUE[mistake.key].severity))
        found += bool(right & set(said))
        first += bool(right & set(said[:1]))
        others |= set(said[:1]) - right
        setting = None if analysis.stopped or analysis.advice is None else analysis.advice.setting
        wrong += setting in mistake.bad and not said
    return {"program": name, "mistake": words, "key": mistake.key, "runs": seeds, "found": found,
            "first": first, "named before it": ", ".join(sorted(others)), "wrong": wrong}  # fmt: skip  # noqa: E501


def false_alarms(replicates: int, pool: pd.DataFrame, name: str, seeds: int) -> dict:
    """Sound runs."""
    seen = [
        verdict_of(drawn(pool, None, 2 * FIRST_SEED + seed, replicates)) for seed in range(seeds)
    ]
    which = sorted({key for one in seen for key in grave(one)})
    return {"program": name, "replicates": replicates, "runs": seeds,
            "stops": sum(bool(grave(one, ("stops",))) for one in seen),
            "doubts": sum(bool(grave(one, ("doubts",))) for one in seen), "which": ", ".join(which)}  # fmt: skip  # noqa: E501


def told(rows: Iterable[dict]) -> list[dict]:
    """Rows, each printed as it comes."""
    return [print(row, flush=True) or row for row in rows]


SAID = {
    "hyperfine": ("outliers", "first benchmarking run", "less than 5 ms", "non-zero exit code"),
    "pyperf": ("unstable", "standard deviation", "shortest raw value", "exit code", "failed"),
    "google/benchmark": ("ERROR OCCURRED", "CPU scaling is enabled"),
}
"""Words of the warnings of each tool."""

GOOGLE = """
#include <benchmark/benchmark.h>
#include <cstdlib>
static void program(benchmark::State& state) {
  for (auto _ : state) if (std::system(std::getenv("LINE"))) { state.SkipWithError("exit code"); break; }
}
BENCHMARK(program)->UseRealTime()->Iterations(1)->Repetitions(5);
BENCHMARK_MAIN();
"""  # noqa: E501


def google_benchmark(folder: Path) -> Path | None:
    """A program of google/benchmark that runs the line it is given, built now; None where it is not
    installed."""
    source, built = folder / "line.cpp", folder / "line"
    source.write_text(GOOGLE)
    argv = ["g++", "-O1", "-o", str(built), str(source), "-lbenchmark", "-lpthread"]
    if not shutil.which("g++") or subprocess.run(argv, capture_output=True, check=False).returncode:
        return None
    return built


def lines_of(tool: str, folder: Path) -> Callable[[str], list[str]] | None:
    """How a tool is asked to run a line five times; None where it is not installed."""
    if tool == "hyperfine" and shutil.which(tool):
        return lambda line: [
            tool,
            "-N",
            "-r",
            "5",
            "-w",
            "1",
            "-L",
            "n",
            "1,4,8",
            "--style",
            "basic",
            line,
        ]
    if tool == "pyperf" and find_spec(tool):
        begin = [sys.executable, "-m", tool, "command", "-p", "5", "-n", "1", "-w", "1", "--"]
        return lambda line: [*begin, *line.replace("{n}", "4").split()]
    if tool == "google/benchmark" and (built := google_benchmark(folder)):
        return lambda line: ["env", f"LINE={line.replace('{n}', '4')}", str(built)]
    return None


def peers_say(folder: Path) -> list[dict]:
    """What other tools say of commands that crash, do nothing or print errors now and then: their
    warnings, once each."""
    program = f"{sys.executable} -I -S {HERE / 'planted_mistakes.py'}"
    mixed = folder / "mixed.sh"
    mixed.write_text(
        '[ $(od -An -N1 -tu1 /dev/urandom) -lt 128 ] && state=$1 || state=sound\nexec "$2" -I -S '
        '"$3" $state $4\n'
    )
    sometimes = f"{sys.executable} {HERE / 'planted_mistakes.py'} {{n}}"
    cases = {
        "sound": f"{program} sound {{n}}",
        "half of the trials do nothing": f"sh {mixed} nothing {sometimes}",
        "ERROR, exit code 0": f"{program} error {{n}}",
        "a child works on": f"{program} left {{n}}",
        "the knob is not used": f"{program} same {{n}}",
        "half of the trials crash": f"sh {mixed} fails {sometimes}",
    }
    tools = {tool: asked for tool in SAID if (asked := lines_of(tool, folder))}
    rows = []
    for words, line in cases.items():
        row = {"mistake": words}
        for tool, asked in tools.items():
            done = subprocess.run(asked(line), capture_output=True, text=True, check=False)
            text = done.stderr + done.stdout
            said = ", ".join(one for one in SAID[tool] if one in text) or "nothing"
            row[tool] = f"{said} (ended with {done.returncode})"
        rows.append(row)
        print(row, flush=True)
    return rows if tools else []


def table_of(rows: list[dict]) -> str:
    """Rows as a table in Markdown."""
    names = list(rows[0])
    lines = [names, ["---"] * len(names), *([str(row[name]) for name in names] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def kept(name: str, asked: argparse.Namespace, measure: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """The trials of a program, those that were measured before where they were kept."""
    file = asked.kept / f"{name.replace(' ', '-')}.parquet" if asked.kept else None
    if file and file.exists():
        return pd.read_parquet(file)
    pool = measure()
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        pool.to_parquet(file)
    return pool


def main() -> None:
    """Measure, draw, judge, write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--replicates", type=int, default=12, help="measured trials of each level and state"
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument(
        "--sound", type=int, default=20, help="sound runs of each program and number of replicates"
    )
    parser.add_argument("--programs", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS))
    parser.add_argument(
        "--kept", type=Path, help="folder of tables measured before, or to keep them in"
    )
    asked = parser.parse_args()
    planted, sound, scatter, beside, pools = [], [], {}, {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in asked.programs:
            folder = Path(scratch) / name.split()[0]
            pools[name] = kept(name, asked, lambda: measured(name, folder, asked.replicates))  # noqa: B023
            with neighbour():
                busy = folder.with_name(f"{folder.name}-busy")
                pools[f"{name}{BUSY}"] = kept(
                    f"busy-{name}",
                    asked,
                    lambda: measured(name, busy, asked.replicates, ("sound",)),  # noqa: B023
                )
        peers = peers_say(Path(scratch))
    for name, pool in pools.items():
        log = np.log(pool.loc[pool["state"] == "sound", "wall_s"])
        scatter[name] = float((log - log.groupby(pool["n"]).transform("mean")).std())
        beside[name] = float(pool["foreign_cpu"].median())
    # Nothing is measured any more: the drawn runs are judged on all cores.
    with ProcessPoolExecutor(usable_cores()) as workers:
        for name, pool in pools.items():
            of_pool = {"pool": pool, "name": name}
            if not name.endswith(BUSY):
                planted += told(
                    workers.map(partial(judged, **of_pool, seeds=asked.seeds), MISTAKES)
                )
            sound += told(
                workers.map(partial(false_alarms, **of_pool, seeds=asked.sound), REPLICATES)
            )
    write(planted, sound, peers, (scatter, beside), asked)


def write(
    planted: list[dict],
    sound: list[dict],
    peers: list[dict],
    noise: tuple[dict[str, float], dict[str, float]],
    asked: argparse.Namespace,
) -> None:
    """The page."""
    runs, total = sum(row["runs"] for row in planted), sum(row["runs"] for row in sound)
    share = {key: sum(row[key] for row in planted) / runs for key in ("found", "first", "wrong")}
    alarm = {key: sum(row[key] for row in sound) / total for key in ("stops", "doubts")}
    summary = [
        {
            "what": "planted mistakes found",
            "measured": f"{share['found']:.1%} of {runs}",
            "wanted": "95 %",
        },
        {"what": "named first", "measured": f"{share['first']:.1%} of {runs}", "wanted": "90 %"},
        {
            "what": "a wrong setting, and no finding",
            "measured": f"{share['wrong']:.1%} of {runs}",
            "wanted": "at most 1 %",
        },
        {
            "what": "sound runs that a finding stops",
            "measured": f"{alarm['stops']:.1%} of {total}",
            "wanted": "at most 0.5 %",
        },
        {
            "what": "sound runs with a doubt",
            "measured": f"{alarm['doubts']:.1%} of {total}",
            "wanted": "at most 2 %",
        },
    ]
    missed = ", ".join(
        f"{row['mistake']} ({row['program']}, {row['wrong']})" for row in planted if row["wrong"]
    )
    parts = [
        "# How often findings are right: true problems found, false alarms",
        " ".join((__doc__ or "").split("\n\n")[1].split()),
        f"{asked.replicates} trials of each of {len(LEVELS)} levels and {len(STATES)} states were "
        f"measured of each program on {usable_cores()} cores; runs have 6 levels (3 where they end "
        "too soon), one warm-up and 5 trials of each, sound ones 3, 5 and 10. Drawn runs share "
        "the measured trials, so their rates are less sure than as many runs measured anew. Sound "
        "trials of a level differed by "
        + ", ".join(
            f"{share:.0%} ({name}, beside others that used {noise[1][name]:.1f} cores)"
            for name, share in noise[0].items()
        )
        + " (standard deviation): with more noise, less is found. Made by "
        "`benchmarks/findings.py`.",
        table_of(summary),
        f"The wrong settings: {missed or 'none'}. Of these mistakes a run that chance kept from "
        "showing them looks like a sound one. The checks were last changed after runs of other "
        "seeds, drawn from these same trials, had been looked at.",
        "## Planted",
        "Not planted here: `limit_not_felt`, `few_periods`, `neighbours_follow` and "
        "`range_too_coarse`, which need limits, another process or other levels; each is shown by "
        "a run of its own in `docs/findings`, and tested in `tests/analysis/findings`. Services, "
        "load tests, disks and pods have the same checks; what is planted in them is in the tests "
        "alone.",
        table_of(planted),
        "## Sound",
        table_of(sound),
    ]
    if peers:
        parts += [
            "## Other tools on the same program",
            "Five runs, once (hyperfine of three levels); what each warned of. google/benchmark "
            "runs functions: here one that starts the program and looks at its exit code.",
            table_of(peers),
        ]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
