"""Functions that trials call; each needs what another interpreter has to be given."""

import multiprocessing
import os
import subprocess
import sys
import time

WEIGHTS = {1: 2.0, 2: 3.0}


def weighted(n):
    return WEIGHTS[n]


def busy(n, seconds=0.05):
    """Uses so many CPU seconds, n times."""
    began = time.process_time()
    while time.process_time() - began < n * seconds:
        pass


def squares(n):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return sum(pool.map(weighted, [n] * 4))


def fails(n):
    if n == 2:
        raise ValueError("two is too many")
    return {"loss": 1 / n, "steps": n}


def leaves(n):
    os._exit(n)


def hangs(n):
    time.sleep(n)


def starts_a_program(n):
    subprocess.run([sys.executable, "-c", f"x = sum(range({n} * 10 ** 6))"], check=True)
