"""Execute what pages tell a reader to type: the README, the tutorial, and the how-to pages.

Each page runs in an empty folder with a home of its own, in the order of its blocks: a block of
`sh` in bash, where the block before it ended, as in a reader's shell; a block of `python` after
the earlier ones of the page. A block whose first line names
a file (`# fetch.py`, `# xz.yaml`) is saved under that name. A block of `text` after one that ran
must be part of what it printed, figures apart; a line `...` stands for any lines.

`<!-- not run: REASON -->` before a block leaves it out, for a reason of REASONS. A page that fails
runs once more, for a neighbour can disturb it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "docs" / "tutorial.md"]
PAGES += [page for page in HOW_TO if not page.name.startswith("pod-")]  # these need a cluster
REASONS = ("cluster", "root", "network", "more than 60 s")
MOST_LEFT_OUT = 0.15
"""Share of the blocks that may be left out."""

PATIENCE_S = 300
BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>.+?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
SAVED = re.compile(r"# ([\w.-]+\.(?:py|ya?ml|csv|sh|md|txt))\n")


@dataclass
class Outcome:
    """What the blocks of a page did."""

    ran: int = 0
    left_out: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def form(line: str) -> str:
    """A line without its figures, the id of a run among them, and without its spaces."""
    line = re.sub(r"\d{8}T\d{6}Z-[0-9a-f]{4}", "RUN", line)
    return " ".join(re.sub(r">?[\d.,]*\d", "#", line).split())


def missing_line(shown: str, printed: str) -> str | None:
    """The first line that a page shows and the output lacks, in order."""
    lines = iter([form(line) for line in printed.splitlines()])
    wanted = [line for line in shown.splitlines() if line.strip() not in ("", "...")]
    return next((line for line in wanted if not any(form(line) in other for other in lines)), None)


def execute(page: Path) -> Outcome:
    """Run the blocks of a page in an empty folder, up to the first that fails."""
    outcome, printed, python = Outcome(), "", ""
    markdown = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="deadzone-page-") as name:
        folder, home, place = Path(name, "work"), Path(name, "home"), Path(name, "place")
        folder.mkdir()
        home.mkdir()
        kept = {name: os.environ[name] for name in ("LANG", "TERM", "USER") if name in os.environ}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**kept, "HOME": str(home), "PATH": path}
        for block in BLOCK.finditer(markdown):
            reason, language, text = block["reason"], block["language"], block["text"]
            line = markdown.count("\n", 0, block.start("text")) + 1
            at = f"{page.relative_to(ROOT)}:{line}"
            if reason is not None and reason not in REASONS:
                outcome.failures.append(f"{at}: {reason!r} is no reason to leave a block out")
            saved = SAVED.match(text)
            if reason is not None:
                outcome.left_out.append(reason)
                if "install ." in text:  # the reader has the clone, of which its tables are used
                    tables = Path("data", "reference")
                    shutil.copytree(ROOT / tables, folder / tables, dirs_exist_ok=True)
                printed = ""
            elif saved:
                (folder / saved[1]).write_text(text, encoding="utf-8")
            elif language in ("sh", "python"):
                outcome.ran += 1
                python += text if language == "python" else ""
                shell = ["bash", "-euo", "pipefail", "-c", f"{text}\npwd > {place}"]
                try:
                    done = subprocess.run(
                        shell if language == "sh" else [sys.executable, "-c", python],
                        cwd=folder, env=environment, timeout=PATIENCE_S, text=True,
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    )  # fmt: skip
                except subprocess.TimeoutExpired:
                    outcome.failures.append(f"{at}: runs for more than {PATIENCE_S} s")
                    break
                printed = done.stdout
                if place.exists():
                    folder = Path(place.read_text(encoding="utf-8").rstrip("\n"))
                if done.returncode:
                    outcome.failures.append(f"{at}: exit code {done.returncode}\n{printed[-1500:]}")
                    break
            elif language == "text" and printed:
                lacks = missing_line(text, printed)
                if lacks is not None:
                    outcome.failures.append(f"{at}: not printed: {lacks}\n{printed[-1500:]}")
                    break
                printed = ""
    return outcome


def main() -> int:
    """Run all pages, or those that the arguments name; say what failed."""
    began = time.monotonic()
    pages = [page for page in PAGES if not sys.argv[1:] or page.stem in sys.argv[1:]]
    outcomes = {}
    for page in pages:  # one at a time, for they measure
        started = time.monotonic()
        outcomes[page] = execute(page)
        print(f"{time.monotonic() - started:5.0f} s  {page.relative_to(ROOT)}", flush=True)
    for page in [page for page, outcome in outcomes.items() if outcome.failures]:
        print(f"{page.name} failed and runs once more: {outcomes[page].failures[0]}")
        outcomes[page] = execute(page)
    failures = [failure for outcome in outcomes.values() for failure in outcome.failures]
    left_out = [reason for outcome in outcomes.values() for reason in outcome.left_out]
    ran = sum(outcome.ran for outcome in outcomes.values())
    print(*failures, sep="\n\n")
    counts = ", ".join(f"{reason} {left_out.count(reason)}" for reason in dict.fromkeys(left_out))
    print(
        f"{ran} blocks of {len(pages)} pages ran in {time.monotonic() - began:.0f} s; "
        f"left out {len(left_out)} ({counts or 'none'}); failed {len(failures)}"
    )
    too_many = not sys.argv[1:] and len(left_out) > MOST_LEFT_OUT * (ran + len(left_out))
    if too_many:
        print(f"More than {100 * MOST_LEFT_OUT:.0f} % of the blocks are left out.")
    return int(bool(failures) or too_many)


if __name__ == "__main__":
    sys.exit(main())
