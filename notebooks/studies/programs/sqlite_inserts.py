"""A batch without a network: threads that insert rows into one SQLite database, each row a
transaction of its own.

`python sqlite_inserts.py --threads 8 --inserts 40000 --folder FOLDER` prints `inserts_per_s: N`. A
database takes one writer at a time, and here, as in many services, the threads share one connection
behind a lock: a second thread computes while the first one writes, and many only stand in each
other's way.
"""

import argparse
import hashlib
import sqlite3
import sys
import threading
import time
from pathlib import Path

DIGEST_BYTES = 16_384
"""What each row takes of computing before it is written, with Python's lock given back: some 20
us."""


def insert_rows(connection: sqlite3.Connection, lock: threading.Lock, rows: range) -> None:
    """Insert rows, one transaction each."""
    block = bytes(DIGEST_BYTES)
    for row in rows:
        digest = hashlib.sha256(block + row.to_bytes(8, "big")).hexdigest()
        with lock:
            connection.execute("INSERT INTO events (id, digest) VALUES (?, ?)", (row, digest))


def inserted_per_s(folder: Path, threads: int, inserts: int) -> float:
    """Rows inserted each second by so many threads that share the work."""
    database = folder / "events.sqlite"
    database.unlink(missing_ok=True)
    connection = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, digest TEXT)")
    lock = threading.Lock()
    shares = [range(number, inserts, threads) for number in range(threads)]
    workers = [threading.Thread(target=insert_rows, args=(connection, lock, share)) for share in shares]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    took = time.perf_counter() - began
    (count,) = connection.execute("SELECT COUNT(*) FROM events").fetchone()
    connection.close()
    if count != inserts:
        raise SystemExit(f"{count} rows were inserted in place of {inserts}")
    return inserts / took


def main() -> int:
    """Insert and tell the rate."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--inserts", type=int, default=40_000)
    parser.add_argument("--folder", type=Path, required=True, help="where the database is made")
    arguments = parser.parse_args()
    print(f"inserts_per_s: {inserted_per_s(arguments.folder, arguments.threads, arguments.inserts):.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
