"""Insert rows into a SQLite database for a while under several of its settings, and print how many
a second. Nothing waits for the disk, which differs too much from one machine to the next.

    python3 sqlite_knobs.py --folder FOLDER --journal-mode wal --rows-a-commit 16
"""

import argparse
import sqlite3
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--journal-mode", choices=("delete", "wal", "memory"), default="delete")
    parser.add_argument("--locking-mode", choices=("normal", "exclusive"), default="normal")
    parser.add_argument("--page-size", type=int, default=4096, help="[bytes]")
    parser.add_argument("--rows-a-commit", type=int, default=1)
    parser.add_argument("--cache-kb", type=int, default=2000, help="[KiB]")
    asked = parser.parse_args()
    database = sqlite3.connect(asked.folder / "rows.db", isolation_level=None)
    database.execute(f"pragma page_size = {asked.page_size}")
    database.execute(f"pragma journal_mode = {asked.journal_mode}")
    database.execute(f"pragma locking_mode = {asked.locking_mode}")
    database.execute("pragma synchronous = off")
    database.execute(f"pragma cache_size = -{asked.cache_kb}")
    database.execute("create table rows (number integer, words text)")
    rows, began = 0, time.perf_counter()
    while (taken_s := time.perf_counter() - began) < asked.seconds:
        database.execute("begin")
        block = [(n, f"row {n}") for n in range(rows, rows + asked.rows_a_commit)]
        database.executemany("insert into rows values (?, ?)", block)
        database.execute("commit")
        rows += asked.rows_a_commit
    print(f"inserts_per_s: {rows / taken_s:.1f}")


if __name__ == "__main__":
    main()
