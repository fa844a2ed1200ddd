"""Queries of threads that share a pool of database connections: planted_connections.py THREADS
QUERIES CONNECTIONS."""

import queue
import sqlite3
import sys
import threading

TURNS = 10_000
"""Of one query, some milliseconds of a core; SQLite lets other threads of Python run meanwhile."""


def main() -> None:
    """Answer all queries, each by a thread that is free, with a connection taken from the pool for
    it."""
    threads, queries, connections = map(int, sys.argv[1:])
    pool: queue.Queue[sqlite3.Connection] = queue.Queue()
    for _ in range(connections):
        pool.put(sqlite3.connect(":memory:", check_same_thread=False))

    left = iter(range(queries))

    def ask() -> None:
        for _ in left:
            connection = pool.get()
            connection.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                "SELECT SUM(i) FROM n",
                (TURNS,),
            ).fetchone()
            pool.put(connection)

    asking = [threading.Thread(target=ask) for _ in range(threads)]
    for one in asking:
        one.start()
    for one in asking:
        one.join()


if __name__ == "__main__":
    main()
