"""A program as somebody wrote it for its own work, and what becomes of one trial of it where a
mistake strikes: planted_mistakes.py STATE N."""

import hashlib
import os
import sys
import time
from threading import Thread

WORK = 200_000
"""Hashes of a trial, such that computing is a third of its time or more on a fast machine too: a
program that waits through most of a trial has another mistake."""

WAIT_S = 0.24


def compute(rounds: int) -> None:
    """Keep a core busy."""
    for number in range(rounds):
        hashlib.sha256(str(number).encode()).digest()


def main(state: str, n: int) -> int:
    """Do the trial."""
    if state == "nothing":
        return 0
    if state == "fails":
        return 3
    if state == "error":
        print("ERROR: cannot open the input", file=sys.stderr)
        return 0
    if state == "left" and os.fork():
        return 0
    if state == "short":
        print("items: 1000")
        return 0
    if state == "full":
        threads = [Thread(target=compute, args=(WORK // n,)) for _ in range(n)]
        _ = [thread.start() for thread in threads]
        _ = [thread.join() for thread in threads]
        print("items: 1000")
        return 0
    items = 500 if state == "half" else 1000
    n = 1 if state == "same" else n
    compute(WORK * items // 1000 if state != "pause" else WORK // 50)
    time.sleep(WAIT_S if state == "pause" else WAIT_S / n * items / 1000)
    if state == "slow":
        compute(WORK * 6 // 10)
        time.sleep(0.6 * WAIT_S / n)
    print(f"items: {items}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
