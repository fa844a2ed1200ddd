"""Runs of one study over time: what moved since the run before."""
