#!/usr/bin/env python3
"""Runs `conformance survive` with each operator of conformance/survive/subjects, with its seeded bug and without it.

    scripts/survive-subjects.py [--plans N] [--bug-plans N] [--jobs J] [--in-process] [--conformance PROGRAM] [--rust PROGRAM] [NAME...]

Every bug has to be found, by the promise that its row of the README names, and no operator without its bug is blamed. The reports
are in target/survive. A name is that of an operator: `pool`. What operators on libraries need is installed below target, once.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUBJECTS = ROOT / "conformance" / "survive" / "subjects"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
# | `pool` | Python | stale | ... | `stale` | churn |
# | `page` | Python, Kopf | intermediate | ... | `crash` | end state |
ROW = re.compile(r"^\| `(?P<name>\w+)` \| (?P<language>\w+)(, (?P<library>\w+))? \|.*\| `(?P<family>[\w-]+)` \| (?P<promises>[^|]+) \|$")


def rows():
    text = (SUBJECTS / "README.md").read_text(encoding="utf-8")
    return [match.groupdict() for match in map(ROW.match, text.splitlines()) if match]


def python(library):
    """Returns the interpreter itself: a shim of pyenv costs more than an operator's start."""
    if not library:
        return [sys.executable, "-S", "-E", "-B"]
    installed = TARGET / "survive-python"
    requirements = SUBJECTS / "python" / "requirements.txt"
    stamp = installed / "installed-from"
    if not stamp.exists() or stamp.read_bytes() != requirements.read_bytes():
        venv.create(installed, clear=True, with_pip=True)
        pip = [installed / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", requirements], check=True)
        shutil.copy(requirements, stamp)
    return [installed / "bin" / "python", "-E", "-B"]


def run(row, options, is_buggy):
    """Returns the report, and the seconds that it took."""
    name = row["name"]
    folder = SUBJECTS / row["language"].lower()
    command = [options.rust, name] if row["language"] == "Rust" else [*python(row["library"]), folder / f"{name}.py"]
    report = TARGET / "survive" / (f"{name}-buggy" if is_buggy else name)
    shutil.rmtree(report, ignore_errors=True)
    report.parent.mkdir(parents=True, exist_ok=True)
    chosen = ["--families", row["family"]] if is_buggy else []
    plans = options.bug_plans if is_buggy else options.plans
    arguments = [options.conformance, "survive", "--crds", folder / name / "crd.yaml"]
    arguments += ["--workload", folder / name / "survive.yaml", "--report", report, *chosen]
    arguments += ["--plans", str(plans)] if plans else []
    arguments += ["--jobs", str(options.jobs)] if options.jobs else []
    arguments += ["--", *command, *(["--buggy"] if is_buggy else [])]
    began = time.monotonic()
    ended = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False)
    took = time.monotonic() - began
    if ended.returncode not in (0, 1):
        raise SystemExit(f"{name}: {ended.stderr or ended.stdout}")
    return json.loads((report / "report.json").read_text(encoding="utf-8")), took


def run_in_process(row, options, is_buggy):
    """Returns the report of an operator in Rust as a function, and the seconds that it took."""
    plans = options.bug_plans if is_buggy else options.plans
    arguments = [options.rust, row["name"], "--in-process"]
    arguments += ["--buggy", "--families", row["family"]] if is_buggy else []
    arguments += ["--plans", str(plans)] if plans else []
    arguments += ["--jobs", str(options.jobs)] if options.jobs else []
    began = time.monotonic()
    ended = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False)
    took = time.monotonic() - began
    if not ended.stdout:
        raise SystemExit(f"{row['name']}: {ended.stderr}")
    return json.loads(ended.stdout), took


def tell(row, report, took, is_buggy):
    """Prints a line, and returns whether it is as it has to be."""
    failed = [run for run in report["runs"] if not run["survived"]]
    promises = sorted({finding["promise"] for run in failed for finding in run["findings"]})
    wanted = {promise.strip().replace(" ", "-") for promise in row["promises"].split(",")}
    if is_buggy:
        is_good = bool(wanted & set(promises))
        first = failed[0]["plan"] if failed else "NOT FOUND"
    else:
        is_good = not failed and not report["reference"]["findings"]
        first = "" if is_good else f"BLAMED: {failed[0]['plan'] if failed else 'without perturbation'}"
    kind = "bug" if is_buggy else "twin"
    counts = f"{len(report['runs']):5} plans, {len(failed):4} fail"
    print(f"{row['name']:10} {row['library'] or row['language']:10} {kind:4} {counts} {took:6.0f} s  {', '.join(promises)}  {first}", flush=True)
    return is_good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, help="plans of each twin [default: each write by each family]")
    parser.add_argument("--bug-plans", type=int, help="plans of each bug [default: all of its family]")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--conformance", default=TARGET / "debug" / "conformance")
    parser.add_argument("--rust", default=TARGET / "debug" / "examples" / "survive_subjects")
    parser.add_argument("--in-process", action="store_true", help="those in Rust as functions on a paused clock")
    parser.add_argument("--only", choices=["bugs", "twins"])
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    known = rows()
    unknown = set(options.names) - {row["name"] for row in known}
    if unknown:
        parser.error(f"there is no operator {', '.join(sorted(unknown))}")
    chosen = [row for row in known if not options.names or row["name"] in options.names]
    if options.in_process:
        chosen = [row for row in chosen if row["language"] == "Rust"]
    once = run_in_process if options.in_process else run
    wrong = 0
    for row in chosen:
        for is_buggy in (True, False):
            if options.only == ("twins" if is_buggy else "bugs"):
                continue
            report, took = once(row, options, is_buggy)
            wrong += not tell(row, report, took, is_buggy)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
