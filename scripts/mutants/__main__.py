"""Judges a seeded sample of mutants of informer, by the harness alone first, then by informer's tests.

  scripts/mutants.sh                                  a sample of 300, in the modules that have targets and the others
  scripts/mutants.sh --minutes 30                     half an hour of it; the same command goes on from there
  scripts/mutants.sh --shard 0/4                      its first quarter
  scripts/mutants.sh --only shared_informer/apply.rs  all mutants whose names contain this
  scripts/mutants.sh --report                         the figures of what has been judged

All mutants of the sample are in one build, each behind a switch that the environment variable MUTANT selects. Mutants that do
not compile are replaced by others of their module. Each of the rest is run with the steps of `cargo test -p conformance` that
reach it, cheapest first, then with those of `cargo test -p informer`, until one fails, hangs, or takes too long; all mutants with
the quick steps first. Results are lines of JSON below target/mutants; they are valid until the sources change, and a run begins
where the last one ended.

Exit status: 0 if all of the sample was judged and the targets are met, 1 if they are not, 2 if it could not run, as when a step
fails without a mutant, 3 if the time was over before.
"""

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import building
import judging
import listing
import report
import running

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = (".cargo", "informer", "conformance", "fakeserver", "Cargo.lock")


def parsed(words):
    parser = argparse.ArgumentParser(
        prog="scripts/mutants.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=300, help="number of viable mutants in the sample [default: 300]")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample [default: 1]")
    parser.add_argument("--shard", default="0/1", metavar="K/N", help="each Nth mutant of the sample, from the Kth on")
    parser.add_argument("--only", metavar="TEXT", help="all mutants whose names contain TEXT, not a sample")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), metavar="N", help="mutants judged at a time [default: one a core]"
    )
    parser.add_argument("--minutes", type=float, metavar="M", help="begin no further mutant after M minutes")
    parser.add_argument("--report", action="store_true", help="print the figures of earlier runs only")
    arguments = parser.parse_args(words)
    try:
        arguments.shard = tuple(map(int, arguments.shard.split("/")))
        if not 0 <= arguments.shard[0] < arguments.shard[1]:
            raise ValueError
    except ValueError:
        parser.error("--shard takes K/N, K from 0 to N - 1")
    if arguments.jobs < 1:
        parser.error("--jobs takes a number from 1 on")
    return arguments


def digest_of(*words):
    """Returns the digest of the sources and of `words`."""
    digest = hashlib.sha256(repr(words).encode())
    for name in SOURCES:
        path = ROOT / name
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file() and file.suffix != ".md":
                digest.update(str(file.relative_to(ROOT)).encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def say(text, passing=False):
    """Prints a line; a passing one is overwritten by the next, and is for terminals only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="" if passing else "\n", file=sys.stderr, flush=True)
    elif not passing:
        print(text, file=sys.stderr, flush=True)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def is_final(result):
    """Returns true if no further step would change the result."""
    return not result["is_quick"] or result["judge"] == judging.HARNESS


def progress(done, left, since):
    """Describes what has been judged, and when the rest will have been."""
    caught = {judge: sum(result["judge"] == judge for result in done) for judge in (judging.HARNESS, judging.UNIT, None)}
    text = f"{len(done)} judged, {left} left: harness {caught[judging.HARNESS]}, unit tests {caught[judging.UNIT]}"
    text += f", survived {caught[None]}"
    seconds = time.monotonic() - since[0]
    judged = len(done) - since[1]
    if judged:
        end = time.localtime(time.time() + seconds / judged * left)
        text += f"; {seconds / judged:.0f} s each, until about {time.strftime('%H:%M', end)}"
    return text


class Session:
    """One run of the script, and the files in which it leaves what it knows."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.work = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "mutants"
        self.work.mkdir(parents=True, exist_ok=True)
        mutants = listing.list_mutants(ROOT)
        self.count = len(mutants)
        size = arguments.size
        if arguments.only:
            mutants = [mutant for mutant in mutants if arguments.only in mutant.name]
            size = 10 * len(mutants)
        self.strata = listing.strata(mutants, size, arguments.seed)
        tree = digest_of(arguments.size, arguments.seed, arguments.only)
        self.baseline = self.work / f"baseline-{tree}.jsonl"
        self.not_viable = self.work / f"not-viable-{tree}.json"
        self.results = self.work / f"results-{digest_of()}.jsonl"

    def sample(self, not_viable):
        chosen = listing.draw(self.strata, not_viable)
        first, step = self.arguments.shard
        return chosen[first::step]

    def known_not_viable(self):
        if not self.not_viable.exists():
            return {}
        return {int(number): reason for number, reason in json.loads(self.not_viable.read_text()).items()}

    def judged(self, sample):
        """Returns the results of the sample's mutants, one of each."""
        names = {mutant.name for mutant in sample}
        return list({result["name"]: result for result in lines_of(self.results) if result["name"] in names}.values())

    def build(self):
        builder = building.Builder(ROOT, self.work, self.count, say)
        builder.not_viable = self.known_not_viable()
        say(f"building a sample of the {self.count} mutants in {self.work}")
        try:
            programs = builder.build(self.strata)
        finally:
            # A build that was interrupted need not find them again.
            self.not_viable.write_text(json.dumps(builder.not_viable))
        return builder, programs

    def run(self):
        """Judges what has not been, and returns the exit status."""
        until = time.monotonic() + 60 * (self.arguments.minutes or float("inf"))
        builder, programs = self.build()
        court = judging.Court(judging.steps_of(programs, builder.copy), self.work, say)
        court.prepare(self.baseline)
        sample = self.sample(builder.not_viable)
        # The quick steps of all come first: an early end leaves lower bounds for many, not figures of a few.
        for is_quick in (True, False):
            self.judge(court, sample, is_quick, until)
        return self.report()

    def judge(self, court, sample, is_quick, until):
        """Judges what is left of the sample by the quick steps, or by all."""
        done = [result for result in self.judged(sample) if is_quick or is_final(result)]
        known = {result["name"] for result in done}
        todo = [mutant for mutant in sample if mutant.name not in known]
        since = (time.monotonic(), len(done))

        def one(mutant):
            if time.monotonic() > until:
                return None
            result = {"name": mutant.name, "module": mutant.module, "file": mutant.file, "line": mutant.line}
            return result | {"function": mutant.function, "change": mutant.change, **court.judge(mutant, is_quick)}

        with self.results.open("a") as file:
            for result in running.in_parallel(one, todo, self.arguments.jobs):
                if result is None:
                    continue
                file.write(json.dumps(result) + "\n")
                file.flush()
                done.append(result)
                say(progress(done, len(sample) - len(done), since) + f"; {result['name']}", passing=True)
        say(("quick steps: " if is_quick else "all steps: ") + progress(done, len(sample) - len(done), since))

    def report(self):
        """Prints the figures, and returns the exit status."""
        not_viable = self.known_not_viable()
        sample = self.sample(not_viable)
        done = self.judged(sample)
        figures = report.Report(self.strata, done)
        print(f"{len(done)} of {len(sample)} mutants judged; of the candidates {len(not_viable)} did not compile")
        quick = sum(not is_final(result) for result in done)
        if quick:
            print(f"{quick} of those were judged by the quick steps alone: shares are lower bounds")
        print()
        print(figures.text())
        if quick or len(done) < len(sample):
            return 3
        return 0 if figures.is_good() else 1


def main():
    arguments = parsed(sys.argv[1:])
    # To be told to end is as to be interrupted, also where a shell has the interrupt ignored: what runs is ended first.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        session = Session(arguments)
        return session.report() if arguments.report else session.run()
    except (building.BuildError, judging.NotClean, subprocess.CalledProcessError, OSError) as error:
        say(f"mutants: {error}")
        return 2
    except KeyboardInterrupt:
        say("\nmutants: interrupted; the same command goes on from here")
        return 3


if __name__ == "__main__":
    sys.exit(main())
