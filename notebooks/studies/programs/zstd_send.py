"""Compress a file with parameters of zstd, and print how long that and sending the result over a
line of a given rate take.

    python3 zstd_send.py --file FILE --mb-per-s 12.5 wlog=21,strat=2
"""

import argparse
import subprocess
import time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", required=True)
    parser.add_argument("--mb-per-s", type=float, required=True, help="of the line [MB/s]")
    parser.add_argument("parameters", help="as `zstd --zstd=` takes them")
    asked = parser.parse_args()
    argv = ("zstd", "-q", "-c", "--single-thread", f"--zstd={asked.parameters}", asked.file)
    began = time.perf_counter()
    compressed = len(subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout)
    took_s = time.perf_counter() - began
    print(f"compressed_bytes: {compressed}")
    print(f"sent_s: {took_s + compressed / (asked.mb_per_s * 1e6):.4f}")


if __name__ == "__main__":
    main()
