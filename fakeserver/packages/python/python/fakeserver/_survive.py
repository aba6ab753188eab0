"""`conformance survive`: an operator under crashes, lost answers and stale caches at each of its writes."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from ._binary import find_conformance
from ._errors import SurviveError, UsageError
from ._server import version_flags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

#: The runs without perturbation, which every campaign has.
REFERENCE = "reference"
#: The families of plans that there are without a choice, in the order of the report.
FAMILIES = (
    "crash",
    "lost-answer",
    "refusal",
    "stale",
    "unobserved",
    "deleted",
    "foreign",
    "leader",
    "catalogue",
    "upgrades",
)

#: The number of plans that a failure shows.
SHOWN_MAX = 5
#: The seconds that the program gets to end its runs before it is killed.
STOP_LIMIT = 20.0
#: The program's status if no plan could be run, as with the reference alone, or if it could not do its work.
NO_PLAN = 2
#: The number of bytes of the program's output that an error shows.
OUTPUT_MAX = 4096

#: The flags that arguments stand for.
OWN_FLAGS = {
    "--workload": "workload=",
    "--crds": "crds=",
    "--plans": "plans=",
    "--families": "families=",
    "--report": "report=",
    "--rules": "rules=",
    "--generate": "generate=",
    "--seed": "seed=",
    "--kubernetes-version": "kubernetes_version=",
    "--replay": "a shell, with the line that a failure shows",
}

#: The path of a file, relative to the folder of the test.
Source = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Campaign:
    """The arguments of one run of `conformance survive`."""

    #: The folder in which the operator runs, and to which paths are relative.
    folder: Path
    command: tuple[str, ...]
    workload: str
    crds: tuple[str, ...]
    plans: int | None
    #: The families of plans; none are all.
    families: tuple[str, ...]
    #: The file of more rules.
    rules: str | None
    #: The number of plans that change a field.
    generate: int | None
    #: The seed of pairs and changes.
    seed: int | None
    #: The version of Kubernetes of the servers.
    kubernetes_version: str | None
    #: Other flags of `conformance survive`.
    flags: tuple[str, ...]
    #: The folder of the report, if the user has chosen one.
    report: str | None

    @classmethod
    def of(
        cls,
        folder: Path,
        *,
        workload: Source | None = None,
        command: Sequence[Source] = (),
        crds: Source | Iterable[Source] = (),
        plans: int | None = None,
        families: Iterable[str] = (),
        rules: Source | None = None,
        generate: int | None = None,
        seed: int | None = None,
        kubernetes_version: str | None = None,
        flags: Iterable[str] = (),
        report: Source | None = None,
    ) -> Campaign:
        """Checks the arguments of a marker.

        Raises:
            UsageError: One of them cannot be used.

        """
        if workload is None:
            raise UsageError("workload: the path of a file of steps is needed, as in workload='survive.yaml'")
        if not _is_list(command) or not command:
            raise UsageError(f"command: the operator's command is needed as a list of words, not {command!r}")
        for name, number, least in (("plans", plans, 1), ("generate", generate, 1), ("seed", seed, 0)):
            if number is not None and (not isinstance(number, int) or number < least):
                raise UsageError(f"{name}: a number from {least} is needed, not {number!r}")
        if rules is not None and not isinstance(rules, (str, os.PathLike)):
            raise UsageError(f"rules: the path of one file is needed, not {rules!r}")
        version_flags(kubernetes_version)
        for name, words in (("crds", _listed(crds)), ("families", families), ("flags", flags)):
            if not _is_list(words):
                raise UsageError(f"{name}: a list of words is needed, not {words!r}")
        for word in flags:
            instead = OWN_FLAGS.get(word.split("=", 1)[0])
            if instead is not None:
                raise UsageError(f"flags: {word}: use {instead}")
        return cls(
            folder=folder,
            command=tuple(os.fspath(word) for word in command),
            workload=os.fspath(workload),
            crds=tuple(os.fspath(path) for path in _listed(crds)),
            plans=plans,
            families=tuple(families),
            rules=None if rules is None else os.fspath(rules),
            generate=generate,
            seed=seed,
            kubernetes_version=kubernetes_version,
            flags=tuple(flags),
            report=None if report is None else os.fspath(report),
        )

    def cases(self) -> list[str]:
        """Returns the families that a report of this campaign may have, the reference first."""
        # The program fills up with pairs if there are fewer plans than that.
        more = ["pairs"] if self.plans is not None else []
        more += ["generated"] if self.generate is not None else []
        return list(dict.fromkeys([REFERENCE, *(self.families or FAMILIES), *more]))

    def run(self, report: Path, chosen: Iterable[str]) -> None:
        """Runs the plans of the chosen families, so that `report` has `report.json`.

        Raises:
            BinaryNotFoundError: There is no program `conformance`.
            SurviveError: It could not run the plans: the subject does not get through the workload, say.

        """
        program = find_conformance()
        self._check_command()
        before = _stamp(report)
        words = [program, *self._arguments(report, set(chosen)), "--", *self.command]
        with tempfile.TemporaryFile() as said:
            try:
                # In a session of its own, so that the terminal's Ctrl-C leaves it to this process.
                process = subprocess.Popen(
                    words,
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise SurviveError(f"{shlex.join(words)} cannot be run: {error}") from error
            with _ending(process):
                status = process.wait()
            is_complete = status in (0, 1) or (status == NO_PLAN and _stamp(report) != before and _has_no_plan(report))
            if not is_complete:
                how = f"by signal {-status}" if status < 0 else f"with status {status}"
                size = said.seek(0, os.SEEK_END)
                said.seek(max(0, size - OUTPUT_MAX))
                reason = said.read().decode(errors="replace").strip() or "it wrote nothing"
                raise SurviveError(f"{reason}\nconformance ended {how}: cd {self.folder} && {shlex.join(words)}")

    def _check_command(self) -> None:
        """Checks the operator's program: the runs would wait for it for minutes."""
        program = self.command[0]
        path = str(self.folder / program) if os.sep in program else program
        if "{" not in program and shutil.which(path) is None:
            raise SurviveError(f"command: there is no program {program} in {self.folder}, nor on the PATH")

    def _arguments(self, report: Path, chosen: set[str]) -> list[str]:
        words = ["survive", "--workload", self.workload, "--report", str(report)]
        for path in self.crds:
            words += ["--crds", path]
        plans = self.plans
        families = [name for name in self.families or FAMILIES if name in chosen]
        if chosen == {REFERENCE}:
            plans = 0
        families = families or list(self.families or FAMILIES)
        words += ["--families", ",".join(families)]
        words += [] if plans is None else ["--plans", str(plans)]
        words += [] if self.rules is None else ["--rules", self.rules]
        words += [] if self.generate is None or chosen == {REFERENCE} else ["--generate", str(self.generate)]
        words += [] if self.seed is None else ["--seed", str(self.seed)]
        return [*words, *version_flags(self.kubernetes_version), *self.flags]


@dataclass(frozen=True)
class Survival:
    """The runs of an operator under the plans of one family."""

    #: The family, as in `crash`; `reference` for the runs without perturbation.
    family: str
    #: The runs, as `report.json` has them.
    runs: list[dict[str, Any]]
    #: The runs without perturbation, as `report.json` has them.
    reference: dict[str, Any]
    #: The folder of the report.
    report: Path
    #: The folder in which the operator runs.
    folder: Path

    @classmethod
    def read(cls, campaign: Campaign, report: Path, family: str, chosen: Sequence[str]) -> Survival:
        """Reads the runs of a family. Those of families that were not chosen are with the last one that was.

        Raises:
            SurviveError: There is no report in the folder, or one of another version.

        """
        file = report / "report.json"
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            families = [run["family"] for run in found["runs"]]
            reference = found["reference"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SurviveError(f"{file} is no report of `conformance survive`: {error!r}") from error
        runs = [
            run
            for name, run in zip(families, found["runs"])
            if name == family or (name not in chosen and family == chosen[-1])
        ]
        return cls(family, runs, reference, report, campaign.folder)

    @property
    def broken(self) -> list[dict[str, Any]]:
        """The runs that broke a promise."""
        return [run for run in self.runs if not run["survived"]]

    def silence(self) -> str | None:
        """Returns why this family says nothing about the operator, if it does not."""
        if self.family == REFERENCE or any(not run["idle"] for run in self.runs):
            return None
        if self.runs:
            return f"{self.family}: the writes of its {len(self.runs)} plans did not come"
        return f"{self.family}: no plan of this family applies to the operator"

    def failure(self) -> str | None:
        """Describes the broken promises, each with its timeline and the line that replays it."""
        if self.family == REFERENCE and self.reference["findings"]:
            found = [f"  {_told(finding)}" for finding in self.reference["findings"]]
            return "\n".join(["reference: promises are broken without any perturbation", *found])
        broken = self.broken
        if not broken:
            return None
        lines = [f"{len(broken)} of {len(self.runs)} plans break a promise"]
        for run in broken[:SHOWN_MAX]:
            lines.append(run["plan"])
            lines += [f"  {_told(finding)}" for finding in run["findings"]]
            replay = self.folder / run["replay"]
            lines.append(f"  timeline: {replay.with_suffix('.txt')}")
            line = shlex.join([find_conformance(), "survive", "--replay", str(replay)])
            lines.append(f"  replay:   cd {shlex.quote(str(self.folder))} && {line}")
        if len(broken) > SHOWN_MAX:
            lines.append(f"and {len(broken) - SHOWN_MAX} more in {self.report}")
        return "\n".join(lines)


def _stamp(report: Path) -> int | None:
    """Returns the time at which a report was written."""
    try:
        return (report / "report.json").stat().st_mtime_ns
    except OSError:
        return None


def _has_no_plan(report: Path) -> bool:
    """Returns whether a report is complete without a plan."""
    try:
        return json.loads((report / "report.json").read_text(encoding="utf-8")).get("planned") == 0
    except (OSError, ValueError, AttributeError):
        return False


def _told(finding: dict[str, Any]) -> str:
    return f"{finding['promise'].replace('-', ' ')}: {finding['text']}"


def _listed(paths: Source | Iterable[Source]) -> Iterable[Source]:
    return [paths] if isinstance(paths, (str, os.PathLike)) else paths


def _is_list(words: object) -> bool:
    """Returns whether this is a list of words or paths."""
    if isinstance(words, (str, bytes, os.PathLike)):
        return False
    try:
        return all(isinstance(word, (str, os.PathLike)) for word in words)  # type: ignore[attr-defined]
    except TypeError:
        return False


@contextlib.contextmanager
def _ending(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ends the program, and with it the operators of its runs, if the block ends before it."""
    try:
        yield
    finally:
        if process.poll() is None:
            # On this signal it kills its subjects, and removes their folders.
            process.send_signal(signal.SIGINT)
            try:
                process.wait(STOP_LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(STOP_LIMIT)
