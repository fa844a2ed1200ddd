"""Faults drawn at random against real sweeps, and one oracle. `make torture FOR=60s SEED=7`."""
