"""hyperfine: `--export-json`, one row a run; `--export-csv` is a table that fit reads."""

from collections.abc import Iterator
from typing import Any

from deadzone.store.imports.formats import json_format


def _runs(document: Any) -> Iterator[dict[str, Any]]:
    """Each run of each command; a command whose runs are left out, as old releases did, itself."""
    for result in document["results"]:
        if result.get("times") is None:
            yield result
            continue
        treatment = {key: result.get(key) for key in ("command", "parameters", "parameter")}
        codes, sizes = (result.get(key) or [] for key in ("exit_codes", "memory_usage_byte"))
        for i, time in enumerate(result["times"]):
            code = codes[i] if i < len(codes) else 0
            yield {
                **treatment,
                "time": time,
                "memory": sizes[i] if i < len(sizes) else None,
                "run": {
                    "replicate": i + 1,
                    "exit_code": code if codes and isinstance(code, int) else None,
                    "status": "ok" if code == 0 else "failed",  # null stands for a signal
                },
            }


read_hyperfine = json_format("hyperfine", rows=_runs, more=lambda entry: entry.get("run") or {})
