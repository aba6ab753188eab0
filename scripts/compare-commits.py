#!/usr/bin/env python3
"""Compares the speed of the programs of two commits: both sides in one run, in turns, medians of several rounds.

  git worktree add /tmp/before 559d4f6
  (cd /tmp/before && cargo build --release -p fakeserver -p benches)
  cargo build --release -p fakeserver -p benches
  scripts/compare-commits.py /tmp/before/target/release target/release --rounds 5 --output benches/results/commits.csv

Each directory holds the programs `benches` and `fakeserver` of one commit. Measured are the server's list, fan-out and
creates, and the sync of caches. Exit status: 0 if no row is more than 5 % worse, 1 if one is, 2 if it could not run.
"""

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile

WORSE_MAX = 0.05
SIDES = "typed-streaming,dropped-streaming,compact-streaming,typed-paged"
# The unit of each figure of the server, and whether more of it is better.
MORE_IS_BETTER = {"/s": True, "s": False, "ms": False}


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def run(programs, arguments):
    command = [os.path.join(programs, "benches"), *arguments]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        fail(f"{' '.join(command)} failed: {result.stderr.strip()}")


def measure(programs, pods):
    """Returns the figures of one round by their names, each with its unit."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        run(programs, ["figures", "--only", "server", "--results", folder])
        for row in rows_of(os.path.join(folder, "figures.csv")):
            figures[row["what"]] = (float(row["measured"]), row["unit"])
    with tempfile.TemporaryDirectory() as folder:
        sync = ["sync", "--pods", str(pods), "--rounds", "1", "--sides", SIDES]
        run(programs, [*sync, "--results", folder])
        for row in rows_of(os.path.join(folder, "sync.csv")):
            figures[f"sync of {pods} pods, {row['client']}"] = (float(row["sync_ms"]), "ms")
    return figures


def fail(message):
    print(f"compare-commits: {message}", file=sys.stderr)
    sys.exit(2)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", help="directory of the programs of the earlier commit")
    parser.add_argument("after", help="directory of the programs of the later one")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of both sides [5]")
    parser.add_argument("--pods", type=int, default=50_000, help="pods that are synced [50000]")
    parser.add_argument("--output", help="a file of CSV that does not exist yet; standard output otherwise")
    options = parser.parse_args()
    if options.output and os.path.exists(options.output):
        fail(f"{options.output} exists; name another file, or remove it")
    sides = {"before": options.before, "after": options.after}
    for programs in sides.values():
        for program in ("benches", "fakeserver"):
            if not os.access(os.path.join(programs, program), os.X_OK):
                fail(f"{programs} has no program {program}; build both packages")

    rounds = {side: [] for side in sides}
    for number in range(options.rounds):
        for side, programs in sides.items():
            print(f"round {number + 1} of {options.rounds}, {side}", file=sys.stderr)
            rounds[side].append(measure(programs, options.pods))

    output = open(options.output, "w", newline="") if options.output else sys.stdout
    table = csv.writer(output, lineterminator="\n")
    table.writerow(["what", "unit", "before", "after", "better_by_percent"])
    is_worse = False
    for what, (_, unit) in rounds["before"][0].items():
        if what not in rounds["after"][0]:
            print(f"only before: {what}", file=sys.stderr)
            continue
        before, after = (
            statistics.median(figures[what][0] for figures in rounds[side]) for side in sides
        )
        gain = after / before - 1 if MORE_IS_BETTER[unit] else before / after - 1
        is_worse |= gain < -WORSE_MAX
        table.writerow([what, unit, f"{before:.4g}", f"{after:.4g}", f"{100 * gain:+.1f}"])
    sys.exit(1 if is_worse else 0)


if __name__ == "__main__":
    main()
