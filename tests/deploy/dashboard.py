"""What the dashboard asks of Prometheus, with its variables filled in as Grafana would."""

import json
from pathlib import Path
from typing import Any

PATH = Path(__file__).resolve().parents[2] / "deploy" / "grafana" / "dashboard.json"


def dashboard() -> dict[str, Any]:
    return json.loads(PATH.read_text())


def questions(namespace: str, pod: str, container: str, window: str) -> dict[tuple[str, str], str]:
    """Expressions by title of the panel and name of the query.

    window: what Grafana would put for $__rate_interval.
    """
    values = {
        "$__rate_interval": window, "$namespace": namespace, "$pod": pod, "$container": container,
    }  # fmt: skip
    return {
        (panel["title"], target["refId"]): _filled(target["expr"], values)
        for panel in dashboard()["panels"]
        for target in panel["targets"]
    }


def annotation(study: str) -> str:
    """The expression that marks the trials of a study."""
    (trials,) = dashboard()["annotations"]["list"]
    return _filled(trials["expr"], {"$study": study})


def _filled(expression: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        expression = expression.replace(name, value)
    assert "$" not in expression, f"a variable is left in {expression}"
    return expression
