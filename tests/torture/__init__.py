"""Faults drawn at random against real sweeps, checked by one oracle. `make torture FOR=60s
SEED=7`."""
