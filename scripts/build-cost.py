#!/usr/bin/env python3
"""Measures what builds of this repository cost, in a clean clone: wall time, processor time, and the most memory of a process.

  scripts/build-cost.py dev changes            the two commands of the README, then a line changed in five places
  scripts/build-cost.py release --output benches/results/builds.csv
  scripts/build-cost.py changes --commit a0293c2f

`dev`: `cargo build`, then `cargo test --workspace --no-run`, then the rate of the main job. `changes`: `cargo test --no-run` of
the crate at hand after one more statement in a function, three times each. `release`: `cargo build --release --workspace`.
Dependencies are downloaded before. The machine is to be quiet. Rows are appended to the output.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What is changed, and where: the first file that exists, with the package that is tested then.
CHANGES = {
    "kind": [("fakeserver-kinds", "fakeserver/kinds/src/core/config_map.rs"), ("fakeserver", "fakeserver/src/kinds/core/config_map.rs")],
    "verb": [("fakeserver-server", "fakeserver/server/src/verbs/create.rs"), ("fakeserver", "fakeserver/src/verbs/create.rs")],
    "kubelet": [
        ("fakeserver-cluster", "fakeserver/cluster/src/workloads/kubelet/mod.rs"),
        ("fakeserver", "fakeserver/src/controllers/workloads/kubelet/mod.rs"),
    ],
    "reflector's machine": [("informer", "informer/src/reflector/machine/mod.rs")],
    "checker": [
        ("conformance", "conformance/src/participants/informers/checkers/bounded_requests.rs"),
        ("conformance", "conformance/src/checkers/bounded_requests.rs"),
    ],
}
FUNCTION = re.compile(r"\n( *)(pub(\([a-z ]+\))? )?fn [a-z_]+(<[^>]*>)?\([^{;]*\{\n")


def run(command, folder):
    """Returns the wall time, the processor time and the most memory of a process of a command, in seconds and MB."""
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    printed = process.stdout.read()
    # Of this command and its descendants alone: the children of this process would add up.
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{printed[-4000:]}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, printed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=["dev", "changes", "release"], help="what to measure, in this order")
    parser.add_argument("--commit", default="HEAD", help="the commit to measure (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="a CSV file that gets the rows as well")
    arguments = parser.parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", arguments.commit], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()

    def report(what, command, figures):
        wall, cpu, memory = figures
        row = f"{commit},{what},{' '.join(command)},{wall:.1f},{cpu:.0f},{memory:.0f}"
        print(row, flush=True)
        if arguments.output:
            with arguments.output.open("a") as output:
                output.write(row + "\n")

    # Not where temporary files are: a build takes some 15 GB.
    target = ROOT / "target"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target) as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        subprocess.run(["git", "checkout", "-q", commit], cwd=clone, check=True)
        run(["cargo", "fetch", "--locked"], clone)
        for part in arguments.parts:
            if part == "changes":
                measure_changes(clone, report)
                continue
            builds = [["cargo", "build", "--locked"], ["cargo", "test", "--workspace", "--no-run", "--locked"]]
            if part == "release":
                builds = [["cargo", "build", "--release", "--workspace", "--locked"]]
            for command in builds:
                report(part, command, run(command, clone)[:3])
            if part == "dev":
                command = ["target/debug/conformance", "sim", "--seeds", "60", "--seed", "1"]
                *figures, printed = run(command, clone)
                rate = re.search(r"seeds a second\D*(\d+)", printed)
                report(f"main job: {rate[1]} seeds a second" if rate else "main job", command, figures)


def measure_changes(clone, report):
    for what, places in CHANGES.items():
        package, path = next((package, clone / path) for package, path in places if (clone / path).exists())
        command = ["cargo", "test", "--no-run", "-p", package, "--locked"]
        run(command, clone)
        text = path.read_text()
        end = FUNCTION.search(text).end()
        for round in range(1, 4):
            path.write_text(f"{text[:end]}let _ = std::hint::black_box({round}_u8);\n{text[end:]}")
            report(what, command, run(command, clone)[:3])
        path.write_text(text)


if __name__ == "__main__":
    main()
