"""The marker `survive`: promises that are kept, that are broken, and runs that cannot be."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import fakeserver
import pytest
from fakeserver._survive import FAMILIES, Campaign, Survival

COPIER = Path(__file__).parent / "copier.py"
WORKLOAD = """
steps:
- apply:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: first, namespace: default, labels: {wanted: ""}}
    data: {a: b}
- quiet: 500ms
"""
HEAD = f"import sys, pytest; COPIER = [sys.executable, '-S', '-E', '-B', {str(COPIER)!r}]\n"

try:
    CONFORMANCE = fakeserver.find_conformance()
except fakeserver.BinaryNotFoundError as error:
    CONFORMANCE = None
    REASON = str(error)

needs_conformance = pytest.mark.skipif(CONFORMANCE is None, reason="" if CONFORMANCE else REASON)


@pytest.fixture
def survive_suite(suite, pytester, monkeypatch):
    """As `suite`, beside a workload."""
    pytester.path.joinpath("survive.yaml").write_text(WORKLOAD)
    # Runs of an outer pytest-xdist are none of this one's.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)

    def run(text, *arguments):
        return suite(HEAD + text, f"--basetemp={pytester.path / 'base'}", "-rs", *arguments)

    return run


@needs_conformance
def test_a_correct_operator_survives(survive_suite, pytester):
    outcomes, output = survive_suite("""
@pytest.mark.survive(workload="survive.yaml", command=COPIER, families=["crash", "leader"])
def test_copier(survive):
    assert survive.reference["writes"] == ["create configmaps default/first-copy", "patch configmaps default/first"]
    assert [run["survived"] for run in survive.runs] == [True] * {"reference": 0, "crash": 6}[survive.family]
    assert survive.report.joinpath("report.json").is_file()
""")
    assert outcomes == {"passed": 2, "skipped": 1}, output
    assert "leader: no plan of this family applies to the operator" in output
    assert [each.name for each in pytester.path.joinpath("base/survive-report").iterdir() if each.is_dir()] == [
        "test_suite-py-test_copier"
    ]


@needs_conformance
def test_a_broken_promise_is_a_failure_that_replays(survive_suite):
    outcomes, output = survive_suite("""
@pytest.mark.survive(workload="survive.yaml", command=[*COPIER, "--buggy"], families=["crash", "lost-answer"])
def test_copier():
    pass
""")
    assert outcomes == {"passed": 1, "failed": 2}, output
    assert "3 of 6 plans break a promise" in output
    assert "crash after create configmaps default/first-*\n" in output
    assert "  end state: configmaps default/first-* there are 2 instead of 1" in output
    # The failure is about the operator: neither lines of this package nor of the test help.
    assert "Traceback" not in output
    assert ".py:" not in output.partition("FAILURES")[2].partition("short test summary")[0]
    timelines = re.findall(r"^  timeline: (.*)$", output, flags=re.MULTILINE)
    assert len(timelines) == 5
    assert "killed, by the plan" in Path(timelines[0]).read_text()
    replay = re.search(r"^  replay:   (.*)$", output, flags=re.MULTILINE)[1]
    again = subprocess.run(replay, check=False, shell=True, capture_output=True, text=True, timeout=120)
    assert again.returncode == 1, again
    assert "configmaps default/first-* there are 2 instead of 1" in again.stdout


@needs_conformance
def test_only_chosen_families_run_and_only_once(survive_suite, pytester):
    text = """
@pytest.mark.survive(workload="survive.yaml", command=COPIER, plans=1)
class TestCopier:
    def test_copier(self, survive):
        pass
"""
    outcomes, output = survive_suite(text, "-k", "crash or refusal", "-n", "2")
    assert sum(outcomes.get(each, 0) for each in ("passed", "skipped")) == 2, output
    reports = list(pytester.path.joinpath("base/survive-report").glob("*/report.json"))
    assert len(reports) == 1, output
    assert {run["family"] for run in json.loads(reports[0].read_text())["runs"]} <= {"crash", "refusal"}
    outcomes, output = survive_suite(text, "-k", "reference")
    assert outcomes == {"passed": 1, "deselected": len(FAMILIES) + 1}, output


@needs_conformance
def test_rules_and_a_seed_are_taken_and_a_family_without_plans_is_skipped(survive_suite, pytester):
    pytester.path.joinpath("rules.yaml").write_text('[{name: copied, eventually: "configmaps.size() == 0"}]')
    outcomes, output = survive_suite("""
@pytest.mark.survive(
    workload="survive.yaml",
    command=COPIER,
    families=["leader"],
    rules="rules.yaml",
    seed=7,
    kubernetes_version="1.34",
)
def test_copier(survive):
    pass
""")
    assert outcomes == {"failed": 1, "skipped": 1}, output
    assert "reference: promises are broken without any perturbation" in output
    assert "rule: copied" in output


#: The arguments of a marker, and what pytest prints about it.
MARKERS = {
    "no workload": ("command=COPIER", ["workload: the path of a file of steps is needed"]),
    "no command": ("workload='survive.yaml'", ["command: the operator's command is needed as a list of words, not ()"]),
    "a command as one word": (
        "workload='survive.yaml', command='python3 op.py'",
        ["as a list of words, not 'python3 op.py'"],
    ),
    "families as one word": (
        "workload='survive.yaml', command=COPIER, families='crash'",
        ["families: a list of words is needed, not 'crash'"],
    ),
    "no plans": ("workload='survive.yaml', command=COPIER, plans=0", ["plans: a number from 1 is needed, not 0"]),
    "a version as a number": (
        "workload='survive.yaml', command=COPIER, kubernetes_version=1.34",
        ["kubernetes_version: a text is needed, as in '1.34', not 1.34"],
    ),
    "a version that there is not": (
        "workload='survive.yaml', command=COPIER, kubernetes_version='1.30'",
        ['no version "1.30" of Kubernetes; there are 1.31'],
    ),
    "a seed as a word": ("workload='survive.yaml', command=COPIER, seed='x'", ["seed: a number from 0 is needed, not 'x'"]),
    "no changes": ("workload='survive.yaml', command=COPIER, generate=0", ["generate: a number from 1 is needed, not 0"]),
    "rules as a list": (
        "workload='survive.yaml', command=COPIER, rules=['rules.yaml']",
        ["rules: the path of one file is needed, not ['rules.yaml']"],
    ),
    "a flag for an argument": (
        "workload='survive.yaml', command=COPIER, flags=['--report=x']",
        ["flags: --report=x: use report="],
    ),
    "an unknown argument": ("worklod='survive.yaml'", ["unknown argument worklod; there are workload, command, crds"]),
    "an argument without a name": ("'survive.yaml'", ["arguments without a name; there are workload"]),
    "an operator that does not exist": (
        "workload='survive.yaml', command=['./no-operator']",
        ["command: there is no program ./no-operator in "],
    ),
}
#: The same, of what only the program knows.
REFUSALS = {
    "a workload that does not exist": (
        "workload='none.yaml', command=COPIER",
        ["cannot read none.yaml: No such file", "conformance ended with status 2: cd "],
    ),
    "a definition that does not exist": (
        "workload='survive.yaml', command=COPIER, crds='crd.yaml'",
        ["cannot read crd.yaml: No such file"],
    ),
    "an unknown family": (
        "workload='survive.yaml', command=COPIER, families=['crash', 'crsh']",
        ["invalid value 'crsh'", "[possible values: crash, lost-answer"],
    ),
    "an unknown flag": ("workload='survive.yaml', command=COPIER, flags=['--nope']", ["unexpected argument '--nope'"]),
    "a folder with other files": (
        "workload='survive.yaml', command=COPIER, report='.'",
        ["./. holds other files than those that a report wrote there"],
    ),
}


def check_refusal(suite, pytester, arguments, said):
    outcomes, output = suite(
        f"""
@pytest.mark.survive({arguments})
def test_copier():
    pass
def test_another():
    pass
""",
        "-k",
        "reference or another",
    )
    outcomes.pop("deselected", 0)
    assert outcomes == {"errors": 1, "passed": 1}, output
    for each in said:
        assert each.replace("./.", str(pytester.path)) in output, output
    assert "Traceback" not in output, output
    # A file of the user.
    assert (pytester.path / "survive.yaml").read_text() == WORKLOAD


@pytest.mark.parametrize("name", MARKERS)
def test_a_marker(survive_suite, pytester, monkeypatch, name):
    if CONFORMANCE is None:
        # None of them is so far that it is run.
        monkeypatch.setenv("CONFORMANCE_BIN", sys.executable)
    check_refusal(survive_suite, pytester, *MARKERS[name])


@needs_conformance
@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal(survive_suite, pytester, name):
    check_refusal(survive_suite, pytester, *REFUSALS[name])


def test_a_marker_that_has_no_effect(survive_suite):
    outcomes, output = survive_suite("""
@pytest.mark.parametrize("a", [pytest.param(1, marks=pytest.mark.survive(workload="survive.yaml", command=COPIER))])
def test_copier(a):
    pass
def test_without(survive):
    pass
""")
    assert outcomes == {"errors": 2}, output
    assert "survive: the marker has no effect here: mark the function itself" in output
    assert "the test has no @pytest.mark.survive(workload=..., command=[...])" in output


def test_a_program_that_is_missing(survive_suite, pytester, monkeypatch, tmp_path):
    marked = "workload='survive.yaml', command=COPIER"
    monkeypatch.setenv("CONFORMANCE_BIN", str(tmp_path / "none"))
    check_refusal(survive_suite, pytester, marked, ["none is no program; unset it"])
    monkeypatch.delenv("CONFORMANCE_BIN")
    monkeypatch.setenv("PATH", str(tmp_path))
    said = ["the program conformance is missing", "`cargo install --path conformance`", "CONFORMANCE_BIN can name one"]
    check_refusal(survive_suite, pytester, marked, said)


def program(tmp_path, monkeypatch, text):
    """Makes a script the program `conformance`."""
    path = tmp_path / "conformance"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    monkeypatch.setenv("CONFORMANCE_BIN", str(path))


def test_a_program_that_is_another_one(survive_suite, pytester, monkeypatch, tmp_path):
    marked = "workload='survive.yaml', command=COPIER"
    program(tmp_path, monkeypatch, "echo hello")
    check_refusal(survive_suite, pytester, marked, ["report.json is no report of `conf", "No such file"])
    program(tmp_path, monkeypatch, "echo no luck >&2; kill -9 $$")
    check_refusal(survive_suite, pytester, marked, ["survive: no luck", "conformance ended by signal 9"])
    program(tmp_path, monkeypatch, "echo 'without any perturbation the subject does not get through'; exit 2")
    check_refusal(survive_suite, pytester, marked, ["survive: without any", "conformance ended with status 2: cd "])
    (tmp_path / "conformance").write_bytes(os.urandom(64))
    check_refusal(survive_suite, pytester, marked, ["cannot be run"])


@needs_conformance
def test_an_end_of_pytest_ends_the_runs(pytester, tmp_path):
    pytester.path.joinpath("survive.yaml").write_text(WORKLOAD)
    mark = f"runs-{os.getpid()}-{tmp_path.name}"
    pytester.makepyfile(
        HEAD
        + f"""
@pytest.mark.survive(workload="survive.yaml", command=[*COPIER, {mark!r}])
def test_copier():
    pass
"""
    )
    arguments = ["-m", "pytest", "-p", "no:cacheprovider", f"--basetemp={pytester.path / 'base'}"]
    tests = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 60
    while not processes(mark):
        assert tests.poll() is None and time.monotonic() < deadline, tests.communicate()
        time.sleep(0.05)
    tests.send_signal(signal.SIGINT)
    said, _ = tests.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said
    assert processes(mark) == []


def processes(mark):
    """Returns the ids of the processes whose command line has a word, but for that of pytest."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words:
            found.append(folder.name)
    return found


def report(tmp_path, runs, findings=()):
    """Writes a report, and returns its campaign and its folder."""
    folder = tmp_path / "report"
    folder.mkdir(exist_ok=True)
    reference = {"writes": [], "findings": list(findings)}
    (folder / "report.json").write_text(json.dumps({"reference": reference, "runs": runs}))
    return Campaign.of(tmp_path, workload="w", command=["c"]), folder


def run(family, number=1, findings=(), *, idle=False):
    made = {
        "family": family,
        "plan": f"plan {number}",
        "survived": not findings,
        "idle": idle,
        "findings": list(findings),
    }
    return made | ({"replay": f"/tmp/a b/{number:04}.json"} if findings else {})


def test_what_a_failure_shows(tmp_path, monkeypatch):
    program(tmp_path, monkeypatch, "exit 0")
    finding = {"promise": "blind-deletes", "text": "pods default/a"}
    runs = [run("crash", number, [finding]) for number in range(1, 8)]
    campaign, folder = report(tmp_path, [*runs, run("stale"), run("leader", idle=True)], [finding])

    def read(family):
        return Survival.read(campaign, folder, family, ["reference", "crash", "stale", "leader"])

    first, *more = read("crash").failure().splitlines()
    assert first == "7 of 7 plans break a promise"
    assert more[:3] == ["plan 1", "  blind deletes: pods default/a", "  timeline: /tmp/a b/0001.txt"]
    assert more[3] == f"  replay:   cd {tmp_path} && {tmp_path}/conformance survive --replay '/tmp/a b/0001.json'"
    assert len(more) == 4 * 5 + 1
    assert more[-1] == f"and 2 more in {folder}"
    assert read("stale").failure() is None
    assert read("stale").silence() is None
    assert read("leader").silence() == "leader: the writes of its 1 plans did not come"
    assert "without any perturbation\n  blind deletes: pods" in read("reference").failure()
    assert read("reference").silence() is None


def test_runs_of_families_without_a_test_are_told(tmp_path):
    campaign, folder = report(tmp_path, [run("crash"), run("pairs", 2)])
    plans = [
        [each["plan"] for each in Survival.read(campaign, folder, family, ["reference", "crash"]).runs]
        for family in ("reference", "crash")
    ]
    assert plans == [[], ["plan 1", "plan 2"]]


def test_a_report_that_is_none(tmp_path):
    campaign, folder = report(tmp_path, [])
    for text in ("{", "{}", "[]", '{"runs": [{}], "reference": {}}'):
        (folder / "report.json").write_text(text)
        with pytest.raises(fakeserver.SurviveError, match=r"report\.json is no report of `conformance survive`"):
            Survival.read(campaign, folder, "crash", ["crash"])
    shutil.rmtree(folder)
    with pytest.raises(fakeserver.SurviveError, match="No such file"):
        Survival.read(campaign, folder, "crash", ["crash"])
