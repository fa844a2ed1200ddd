"""`compare --checkout`: two commits of a git repository, each built in a worktree of its own, and
measured in turns with the first one once more, which shows the noise of no change."""

import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from deadzone.analysis.compare.page import Comparison, change_text
from deadzone.analysis.phases.quantities import plain_name
from deadzone.errors import CompareError, FindingError, SaidAs, refused
from deadzone.language.messages import _, join
from deadzone.run.targets.interrupts import undisturbed
from deadzone.run.targets.limits.base import group_name
from deadzone.run.workloads.base import Place
from deadzone.store.programs import answer_of
from deadzone.study.trying import slug
from deadzone.verbs.comparing import compare
from deadzone.verbs.run import Run
from deadzone.verbs.sweeping import sweep

GIT_TIMEOUT_S, BUILD_TIMEOUT_S = 600, 86_400.0
"""A worktree of a large repository takes minutes, and a build hours."""

LAST_LINES = 20
"""Of the output of a build that failed."""

CHANGE_FOLDER = ("sh", "-c", 'cd -P "$0" && exec "$@"')
"""Runs what follows in the folder that is named first; A again is A to the program."""

A, B, AGAIN = "A", "B", "A again"


def compare_checkouts(
    commits: tuple[str, str],
    command: Sequence[str],
    build: str,
    replicates: int,
    *what: Sequence[str],
    **limits: Any,
) -> tuple[Comparison, Run]:
    """Compare a command at two commits; with the run that measured both.

    commits: A and B, as git names them. command: runs in the worktree, in the folder that
    corresponds to this one. build: a command line that runs there once before. replicates: blocks,
    each with A, B and A again in random order. what, limits: see `compare`.

    Raises CompareError without a repository, for an unknown commit, changes that are not committed,
    or a build that fails; FindingError where A is shown to differ from itself.
    """
    here = _git(
        "git finds no repository here: `cd` into one, or install `git`.",
        *("rev-parse", "--show-prefix"),
    )
    names = [f"{name} ({_commit(name)[:10]})" for name in commits]
    if _git("", "status", "--porcelain", "--untracked-files=no"):
        raise CompareError(
            "The working tree has changes that no commit holds: `git commit` or `git stash` first."
        )
    with _worktrees(commits) as trees:
        for name, place in zip(names, (A, B), strict=True):
            _build(build, trees / place / here, name)
        tree, own = f"{trees}/{{checkout}}/{_literal(here)}", map(_literal, command)
        program = Path(command[0]).name
        study = {
            "study": slug(" ".join([program, *commits])),
            "title": " ".join([program, *names]),
            "workload": {"kind": "command", "argv": [*CHANGE_FOLDER, tree, *own]},
            "factors": {"checkout": [A, B, AGAIN]},
            "design": {"replicates": replicates, "warmup": 1},
            "response": {"name": "wall_s", "unit": "s"},
            "accept": {"knob_not_used": "The commits may be alike."},
        }
        run = sweep(study)
    trials = run.trials.drop(columns="checkout")
    a, b, again = (trials[run.trials["checkout"] == place] for place in (A, B, AGAIN))
    result = compare(a, b, *what, names=(names[0], names[1]), **limits)
    itself = compare(a, again, *what, names=(A, AGAIN), **limits)
    told = [
        f"{plain_name(row['response'])} {change_text(row)}"
        for row in itself.overall.to_dict("records")
    ]
    noise = _(
        "{name} against itself, in the same blocks: {changes}.",
        name=names[0],
        changes=join(told, ", "),
    )
    if itself.has_moved:
        raise FindingError(
            f"{noise} So nothing can be said of the other commit. Stop what else runs here, or "
            f"measure more blocks with `--runs {2 * replicates}`."
        )
    return replace(result, warnings=(noise, *result.warnings)), run


def _literal(text: str) -> str:
    """A text whose braces are its own, as a study writes it."""
    return text.replace("{", "{{").replace("}", "}}")


def _commit(name: str) -> str:
    return _git(
        f"There is no commit {name!r} here: `git branch --all` lists branches, and `git fetch "
        "--unshallow` brings what a shallow clone lacks.",
        *("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"),
    )


def _git(otherwise: str, *words: str) -> str:
    """What git answers. Raises CompareError where it refuses, with a sentence, by default its
    own."""
    answer = answer_of(("git", *words), GIT_TIMEOUT_S)
    if answer.returncode:
        reason = answer.stderr.strip().rstrip(".")
        said = f"`git {words[0]}`: {reason}." if reason else ""
        raise CompareError(*filter(None, (said, otherwise)))
    return answer.stdout.strip()


@contextmanager
def _worktrees(commits: Sequence[str]) -> Iterator[Path]:
    """A folder with the worktrees A and B, and `A again`, which is A; gone in the end."""
    folder = Path(tempfile.mkdtemp(prefix=f"{group_name()}-checkout-"))
    trees = [folder / A, folder / B]
    try:
        for tree, commit in zip(trees, commits, strict=True):
            _git("", "worktree", "add", "--detach", str(tree), commit)
        (folder / AGAIN).symlink_to(A)
        yield folder
    finally:
        with undisturbed():
            for tree in trees:
                # twice: one whose checkout was broken off is locked
                remove = ("git", "worktree", "remove", "--force", "--force", str(tree))
                answer_of(remove, GIT_TIMEOUT_S)
            shutil.rmtree(folder, ignore_errors=True)


def _build(line: str, folder: Path, name: str) -> None:
    if not line.strip():
        return
    place = Place()
    failed = f"{name}: `{line}` cannot be started in {folder}"
    with refused(f"--build {line}: "), SaidAs(CompareError, failed):
        try:
            built = place.run(shlex.split(line), folder, BUILD_TIMEOUT_S)
        finally:
            place.left.end()  # also what went on when it was interrupted
    if built is None:
        raise CompareError(f"{name}: `{line}` takes longer than {BUILD_TIMEOUT_S:g} s.")
    if built.returncode:
        lines = [*built.stdout.splitlines(), *built.stderr.splitlines()]
        printed = "\n".join(lines[-LAST_LINES:])
        raise CompareError(
            f"{name} does not build:\n{printed}\nIn a checkout of it `{line}` ended with exit code "
            f"{built.returncode}."
        )
