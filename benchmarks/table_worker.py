"""Fit tables with whatever deadzone PYTHONPATH names: `python table_worker.py CASES RECORDS`,
pickles both; see `old_and_new.py --tables`."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import deadzone
from deadzone.cli.main import deadzone as command


def by_command(case: dict[str, str]) -> dict[str, Any]:
    """What `deadzone fit --json` prints of a table, and its exit code."""
    options = [
        word
        for key in ("knob", "response", "goal", "by")
        if case[key]
        for word in (f"--{key}", case[key])
    ]
    ran = CliRunner().invoke(command, ["fit", case["table"], *options, "--json"])
    if ran.exception and not isinstance(ran.exception, SystemExit):
        return {"traceback": repr(ran.exception)}
    record = json.loads(ran.stdout) if ran.stdout.startswith("{") else {"sentence": ran.stderr}
    return {"exit_code": ran.exit_code, **record}


def by_python(case: dict[str, str]) -> dict[str, Any]:
    """What `fit_phases` says of it."""
    try:
        model = deadzone.fit_phases(
            deadzone.read_table(case["table"]),
            case["knob"],
            case["response"],
            case["goal"],
            by=case["by"] or None,
        )
        advice = model.recommend()
    except Exception as error:
        return {"error": type(error).__name__, "sentence": str(error)}
    phases = model.phases.to_dict("records")
    findings = [finding.to_dict() for finding in model.findings]
    told = {"phases": phases, "findings": findings, "warnings": list(model.warnings)}
    return {**told, "recommendation": advice.to_dict(), "settings": advice.table.to_dict("records")}


def main(cases: Path, records: Path) -> int:
    """Fit every table both ways; the first record says which engine it was."""
    told = [
        {"command": by_command(case), "python": by_python(case)}
        for case in pickle.loads(cases.read_bytes())
    ]
    records.write_bytes(pickle.dumps([{"engine": deadzone.__file__}, *told]))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
