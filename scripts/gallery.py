"""Write the page of each study of the gallery from its latest run: question, what a newcomer typed
first, curve, phases, setting, cost, what surprised.

Used as: .venv/bin/python scripts/gallery.py
"""

from __future__ import annotations

from pathlib import Path

from deadzone.errors import StoreError, TableError
from deadzone.language.formats import duration
from deadzone.report.sweep.analysis import Source, analyse
from deadzone.report.sweep.source import load_source
from deadzone.report.sweep.terminal import Terminal, in_terminal
from deadzone.study.loading import load_study

ROOT = Path(__file__).parent.parent
STUDIES = ROOT / "notebooks" / "studies" / "gallery"
PAGES = ROOT / "docs" / "gallery"

LEAST_TRUSTED = 0.5
"""A run of which fewer trials can be trusted shows the machine's other work [share]."""

QUIET = 0.95
"""A run of which more trials can be trusted was made on a quiet machine [share]."""

NO_RUN = (
    "No run of it on a quiet machine is at hand, so no figure is shown; the line above makes one."
)


def comments(path: Path, mark: str) -> list[str]:
    """The comments of a study that begin with a word."""
    lines = [
        line.removeprefix("# ") for line in path.read_text().splitlines() if line.startswith("# ")
    ]
    return [line.removeprefix(mark).strip() for line in lines if line.startswith(mark)]


def cost(source: Source) -> str:
    """What a run took, where, and how far it can be believed."""
    trials, facts = source.trials, source.provenance
    trusted = int(trials["distrust_reason"].isna().sum())
    took = duration(float(trials["wall_s"].sum()))
    machine = f"{facts.get('cpu_model', 'unknown CPU')}, {facts.get('cores_usable', '?')} cores"
    busy = (
        " The machine was busy with other work: take the shape from this, and no figure."
        if trusted < QUIET * len(trials)
        else ""
    )
    made = (facts.get("packages") or {}).get("deadzone", "?")
    return (
        f"{len(trials)} trials, {took} of measuring by deadzone {made}, on {machine}; {trusted} of "
        f"{len(trials)} can be trusted.{busy}"
    )


def shown_before(path: Path) -> str:
    """The run that the page shows already, for a machine without one."""
    kept = PAGES / f"{path.stem}.md"
    _, mark, run = (kept.read_text() if kept.exists() else "").partition("## One run of it")
    return f"{mark}{run}".strip() or NO_RUN


def page(path: Path) -> str:
    """The page of a study, with what its latest run found where there is one."""
    study = load_study(path)
    parts = [f"# {study.title}", study.question, " ".join(["Needs", *comments(path, "Needs")])]
    parts.append(f"```sh\ndeadzone run notebooks/studies/gallery/{path.name}\n```")
    parts += typed(path)
    parts += (
        ["## What to watch out for", *comments(path, "Note:")] if comments(path, "Note:") else []
    )
    return "\n\n".join([*parts, latest_run(study.study) or shown_before(path)]) + "\n"


def typed(path: Path) -> list[str]:
    """The lines that somebody typed who had never seen the tool, with the tries and minutes."""
    lines = comments(path, "Typed:")
    fence = "```sh\n" + "\n".join(lines) + "\n```"
    return (
        ["## As it was typed first", fence, f"It took {comments(path, 'Took:')[0]}"]
        if lines
        else []
    )


def latest_run(study: str) -> str:
    """What the latest run of a study found; empty where there is none to be trusted."""
    try:
        source = load_source(f"{study}/latest")
    except (StoreError, TableError):  # there is none, or none of its trials ended
        return ""
    if source.trials["distrust_reason"].isna().mean() < LEAST_TRUSTED:
        return ""
    shown = in_terminal(analyse(source), Terminal(width=96, coloured=False))
    return "\n\n".join(["## One run of it", f"```text\n{shown}\n```", cost(source)])


def main() -> None:
    """Write every page, and the list of them."""
    PAGES.mkdir(exist_ok=True)
    paths = sorted(STUDIES.glob("*.yaml"))
    for path in paths:
        (PAGES / f"{path.stem}.md").write_text(page(path), encoding="utf-8")
    rows = [f"| [{path.stem}]({path.stem}.md) | {load_study(path).question} |" for path in paths]
    head = (
        "# Studies of programs people run\n\nMade from the studies in "
        "`notebooks/studies/gallery` by `scripts/gallery.py`.\n\n"
    )
    text = f"{head}| study | question |\n| --- | --- |\n" + "\n".join(rows) + "\n"
    (PAGES / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
