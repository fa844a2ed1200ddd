"""A function whose module calls a function `time`."""

from time import sleep, time


def timed(n):
    began = time()
    sleep(0.01 * n)
    return time() - began
