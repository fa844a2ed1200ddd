"""A small program in which one mistake of an experimenter is planted: planted_program.py MISTAKE N
FOLDER. It imports little, for it is started hundreds of times.

Sound, it computes for some milliseconds and then waits for N answers at once, so that it takes a
moment and 0.24 s / N.
"""

import os
import sys
import threading
import time
import zlib

WORK = 60_000
WAIT_S = 0.24
LARGE = 4
GOLDEN = 0.618034


def chance(folder):
    """What comes by chance, of the golden section's sequence: as often as stated in any few trials,
    in no order of theirs."""
    with open(f"{folder}/trials", "a+") as kept:  # noqa: PTH123 - pathlib loads slowly
        kept.write(".")
        return (kept.tell() * GOLDEN) % 1


def compute(rounds=WORK):
    for number in range(rounds):
        zlib.crc32(b"%d" % number)


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
        kept = f"{folder}/kept-{n}"
        if os.path.exists(kept):  # noqa: PTH110
            return
        open(kept, "w").close()  # noqa: PTH123
    compute(4 * WORK if mistake == "does_nothing" else WORK)
    share = 1.0
    if mistake == "after_large":
        with open(f"{folder}/before", "a+") as kept:  # noqa: PTH123
            kept.seek(0)
            before = kept.read()
            kept.truncate(0)
            kept.write(str(n))
        if before and int(before) >= LARGE:
            share = 1.6
            time.sleep(0.6 * (time.monotonic() - started))
    if mistake == "drops_items":
        share = 0.5 if large else 1.0
        print(f"items: {int(1000 * share)}")
    wait(n, share)
    if mistake == "units":
        took = time.monotonic() - started
        print(f"took {took:.3f} s" if WAIT_S / n > 0.1 else f"took {took * 1000:.1f} ms")


main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
