import numpy as np
import pandas as pd

from deadzone.analysis.phases.fit import fit_phases

LEVELS = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0])


def made(slower: float, seed: int = 3, pairs=None) -> pd.DataFrame:
    """A curve that pays up to 2 cores, on two nodes, the second slower by a share."""
    rng = np.random.default_rng(seed)
    pairs = pairs or [(level, node) for level in LEVELS for node in "ab" for _ in range(4)]
    frame = pd.DataFrame(pairs, columns=["cpu_limit", "node"])
    scatter = np.exp(0.01 * rng.normal(size=len(frame)))
    of_node = 1 + slower * (frame["node"] == "b")
    return frame.assign(wall_s=8 / frame["cpu_limit"].clip(upper=2.0) * of_node * scatter)


def test_phases_are_those_of_one_machine():
    model = fit_phases(made(0.5), "cpu_limit", "wall_s")
    assert model.phases["label"].tolist() == ["linear", "plateau"]
    assert any("2 nodes" in warning for warning in model.warnings)


def test_levels_that_nodes_do_not_share_cannot_be_told_apart():
    pairs = [(level, "a" if level < 1 else "b") for level in LEVELS for _ in range(4)]
    model = fit_phases(made(0.5, pairs=pairs), "cpu_limit", "wall_s")
    assert any("no level ran on two" in w or "cannot be told" in w for w in model.warnings)


def test_one_node_changes_nothing():
    table = made(0.0).assign(node="a")
    with_node = fit_phases(table, "cpu_limit", "wall_s")
    without = fit_phases(table.drop(columns="node"), "cpu_limit", "wall_s")
    assert with_node.phases.equals(without.phases)
