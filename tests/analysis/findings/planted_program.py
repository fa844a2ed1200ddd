"""A small program in which one mistake of an experimenter is planted: planted_program.py MISTAKE N
FOLDER.

Sound, it computes for some milliseconds and then waits for N answers at once, so that it takes a
moment and 0.24 s / N.
"""

import hashlib
import os
import sys
import threading
import time
from pathlib import Path

WORK = 20_000
WAIT_S = 0.24
LARGE = 4
GOLDEN = 0.618034


def chance(folder):
    """What comes by chance, of the golden section's sequence: as often as stated in any few trials,
    in no order of theirs."""
    with (folder / "trials").open("a+") as kept:
        kept.write(".")
        return (kept.tell() * GOLDEN) % 1


def compute(rounds=WORK):
    for number in range(rounds):
        hashlib.sha256(str(number).encode()).digest()


def wait(n, share=1.0):
    """N threads that wait for a share of the answers each."""
    threads = [threading.Thread(target=time.sleep, args=(WAIT_S * share / n,)) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main(mistake, n, folder):
    large = n >= LARGE
    started = time.monotonic()
    if mistake == "crash" and large and chance(folder) < 0.5:
        sys.exit(3)
    if mistake == "hang" and large and chance(folder) < 0.6:
        time.sleep(60)
    if mistake == "error_printed" and large:
        print("ERROR: cannot open the input", file=sys.stderr)
        return
    if mistake == "says_less":
        print(f"{0 if large else 5000} rows processed")
    if mistake == "does_nothing" and chance(folder) < 0.5:
        return
    if mistake == "left_running":
        if os.fork() == 0:
            compute(100 * WORK)
            wait(n)
        return
    if mistake == "not_used":
        n = 1
    if mistake == "cache":
        kept = folder / f"kept-{n}"
        if kept.exists():
            return
        kept.touch()
    if mistake == "client_full":
        compute(3 * WORK)
        return
    compute(4 * WORK if mistake == "does_nothing" else WORK)
    share = 1.0
    if mistake == "after_large":
        before = folder / "before"
        if before.exists() and int(before.read_text()) >= LARGE:
            share = 1.6
            time.sleep(0.6 * (time.monotonic() - started))
        before.write_text(str(n))
    if mistake == "drops_items":
        share = 0.5 if large else 1.0
        print(f"items: {int(1000 * share)}")
    wait(n, share)
    if mistake == "units":
        took = time.monotonic() - started
        print(f"took {took:.3f} s" if WAIT_S / n > 0.1 else f"took {took * 1000:.1f} ms")


main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
