"""The judges: first what `cargo test -p conformance` runs, cheapest first, then the tests of informer."""

import json
import os
import re
import subprocess
from dataclasses import dataclass, field

import running

HARNESS, UNIT = "harness", "unit tests"
# The seeds that `cargo test -p conformance` runs: profile, first seed, number. Each part but the last one is quick.
SEEDS = (
    ("small", 0, 4),
    ("small", 4, 12),
    ("small", 16, 48),
    ("medium", 0, 16),
    *(("small", first, 79) for first in range(64, 380, 79)),
    *(("medium", first, 24) for first in range(16, 136, 24)),
    ("large", 0, 6),
)
# The same seeds once more; and a test of the sources, which are others here.
LEFT_OUT = ("seeds::", "bugs::every_patch_still_applies")
# Steps up to this processor time are quick.
QUICK_S = 6.0
# A mutant may take so many times the processor time of the baseline, and some more.
FACTOR, GRACE_S = 8, 5


class NotClean(Exception):
    """A step that fails without a mutant."""


@dataclass
class Step:
    """A program that fails if something is wrong."""

    judge: str
    name: str
    # Where the tests are: a module of informer, a file of its integration tests.
    group: str
    command: list
    folder: str
    cpu_s: float = 0.0
    # The numbers of the mutants whose places it reaches.
    reached: set = field(default_factory=set)


def test_names(program, folder):
    listed = subprocess.run([program, "--list", "--format", "terse"], cwd=folder, capture_output=True, text=True)
    return [line.removesuffix(": test") for line in listed.stdout.splitlines() if line.endswith(": test")]


def steps_of(programs, copy):
    """Returns the steps of both judges."""
    conformance, informer = copy / "conformance", copy / "informer"
    steps = []
    for profile, first, count in SEEDS:
        options = ["--profile", profile, "--seed", first, "--seeds", count, "--within", 0, "--threads", 1]
        name = f"seeds {first} to {first + count - 1}, {profile}"
        command = [programs["conformance"], "sim", *options]
        steps.append(Step(HARNESS, name, "seeds", command, conformance))
    for key, judge, folder in (
        ("conformance lib", HARNESS, conformance),
        ("conformance it", HARNESS, conformance),
        ("informer lib", UNIT, informer),
        ("informer it", UNIT, informer),
    ):
        groups = {}
        for name in test_names(programs[key], folder):
            if judge == HARNESS and name.startswith(LEFT_OUT):
                continue
            groups.setdefault(name.split("::")[0], []).append(name)
        for group, names in groups.items():
            command = [programs[key], "--exact", *names]
            steps.append(Step(judge, f"{key} {group}", group, command, folder))
    return steps


class Court:
    """Both judges, and what they reach without a mutant."""

    def __init__(self, steps, work, say):
        self.steps, self.work, self.say = steps, work, say

    def run(self, step, selected, cpu_limit_s):
        environment = dict(os.environ, MUTANT=selected, INSTA_UPDATE="no", RUST_BACKTRACE="0")
        environment["MUTANTS_REACHED"] = str(self.work / "reached")
        # As cargo tells a test; a failing one names its package in the line that replays it.
        environment["CARGO_PKG_NAME"] = step.folder.name
        # A case that fails with one mutant is not to be tried first with the next one.
        environment["PROPTEST_DISABLE_FAILURE_PERSISTENCE"] = "1"
        return running.run(step.command, step.folder, environment, cpu_limit_s)

    def prepare(self, path):
        """Runs each step without a mutant, which has to pass, and notes what it costs and reaches; in `path` for later."""
        known = {}
        if path.exists():
            known = {entry["name"]: entry for entry in map(json.loads, path.read_text().splitlines())}
        with path.open("a") as file:
            for place, step in enumerate(self.steps):
                if step.name not in known:
                    self.say(f"baseline: {place} of {len(self.steps)} steps; {step.name}", passing=True)
                    entry = self.measure(step)
                    file.write(json.dumps(entry) + "\n")
                    file.flush()
                    known[step.name] = entry
                step.cpu_s = known[step.name]["cpu_s"]
                step.reached = set(known[step.name]["reached"])
        self.steps = [step for step in self.steps if step.reached]

    def measure(self, step):
        reached = self.work / "reached"
        reached.unlink(missing_ok=True)
        run = self.run(step, "record", cpu_limit_s=1800)
        if run.end != "ok":
            raise NotClean(f"without a mutant, {step.name}: {run.end}\n{run.output[-4000:]}")
        numbers = sorted(set(map(int, reached.read_text().split()))) if reached.exists() else []
        return {"name": step.name, "cpu_s": round(run.cpu_s, 2), "reached": numbers}

    def judge(self, mutant, is_quick):
        """Runs the steps that reach a mutant until one fails, all of them or the quick ones."""
        steps = self.order(mutant)
        is_reached = any(step.judge == HARNESS for step in steps)
        if is_quick:
            steps = [step for step in steps if step.cpu_s <= QUICK_S]
        result = {"judge": None, "by": None, "how": None, "cpu_s": 0.0, "harness_reaches": is_reached, "is_quick": is_quick}
        for step in steps:
            run = self.run(step, str(mutant.number), FACTOR * step.cpu_s + GRACE_S)
            result["cpu_s"] = round(result["cpu_s"] + run.cpu_s, 2)
            if run.end != "ok":
                by = f"{step.name}: {detail(run.output)}".removesuffix(": ")
                return {**result, "judge": step.judge, "by": by, "how": run.end}
        return result

    def order(self, mutant):
        """Returns the steps that reach a mutant: the harness first, there seeds first; its own module's tests first."""
        reaching = [step for step in self.steps if mutant.number in step.reached]
        seeds = [step for step in reaching if step.group == "seeds"]
        others = [step for step in reaching if step.group != "seeds"]
        others.sort(key=lambda step: (step.judge != HARNESS, step.group != mutant.module, step.cpu_s))
        return seeds + others


def detail(output):
    """Returns the checker, or the test, that failed first."""
    checker = re.search(r"^seed \d+ (?:failed|does not end).*\n\s+(\w+):", output, re.MULTILINE)
    if checker:
        return checker.group(1)
    if re.search(r"^seed \d+ does not end", output, re.MULTILINE):
        return "a seed does not end"
    test = re.search(r"^test (\S+) \.\.\. FAILED", output, re.MULTILINE)
    if test:
        return test.group(1)
    panic = re.search(r"panicked at ([^\n:]+):", output)
    return f"panic in {panic.group(1)}" if panic else ""
