"""Run every benchmark, one after the other; each writes its table to docs/benchmarks/."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
BENCHMARKS = (
    "phase_model.py",
    "published_curves.py",
    "adaptive_sweeps.py",
    "harness.py",
    "long_sweep.py",
    "emulated_limits.py",
    "reports.py",
    "profiles.py",
    "comparisons.py",
    "attribution.py",
    "mechanisms.py",
    "load.py",
    "capacity.py",
    "trend.py",
    "history.py",
    "pull_requests.py",
    "search.py",
    "claims.py",
    "findings.py",
    "settings.py",
    "table_findings.py",
    "work_findings.py",
    "knob_names.py",
    "directions.py",
    "disk.py",
)


def main() -> int:
    """Run what there is; ends with 1 if one failed."""
    failed = []
    for name in BENCHMARKS:
        print(f"== {name}", flush=True)
        began = time.monotonic()
        if subprocess.run((sys.executable, str(HERE / name)), check=False).returncode:
            failed.append(name)
        print(f"== {name}: {time.monotonic() - began:.0f} s", flush=True)
    print(f"failed: {', '.join(failed)}" if failed else "tables written to docs/benchmarks/")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
