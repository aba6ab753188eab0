"""The pytest plugin's marker `survive`: a test of each family of plans of `conformance survive`."""

from __future__ import annotations

import fcntl
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from ._errors import FakeserverError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from ._survive import Campaign, Survival

MARKER = (
    "survive(workload=..., command=[...], crds=[...], plans=..., families=[...], rules=..., generate=..., seed=..., "
    "kubernetes_version=..., flags=[...], report=...): runs an operator by `conformance survive`; there is a test for each "
    "family of plans, which fails if one breaks a promise."
)

#: The name of the fixture, and of the folder of reports.
NAME = "survive"
FOLDER = "survive-report"
_ARGUMENTS = (
    "workload",
    "command",
    "crds",
    "plans",
    "families",
    "rules",
    "generate",
    "seed",
    "kubernetes_version",
    "flags",
    "report",
)

#: Set in the stash of a test whose family has run.
_SURVIVAL = pytest.StashKey["Survival"]()


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line("markers", MARKER)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes a marked function a test for each family."""
    item = metafunc.definition
    if item.get_closest_marker(NAME) is None:
        return
    try:
        cases = _campaign(item).cases()
    except FakeserverError:
        # Told when the test runs: this one is not the only one of its file.
        cases = ["reference"]
    if NAME not in metafunc.fixturenames:
        metafunc.fixturenames.append(NAME)
    metafunc.parametrize(NAME, cases, indirect=True)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Gives a marked test the fixture, although it does not take it."""
    names = getattr(item, "fixturenames", None)
    if names is not None and NAME not in names and item.get_closest_marker(NAME) is not None:
        names.insert(0, NAME)


@pytest.fixture
def survive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Survival:
    """Provides the runs of the marked operator under the plans of one family; the first one runs all families."""
    try:
        survival = _survival(request.node, tmp_path_factory)
    except FakeserverError as error:
        raise pytest.fail.Exception(f"survive: {error}", pytrace=False) from None
    request.node.stash[_SURVIVAL] = survival
    return survival


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Fails a marked test whose family has a broken promise, before its own assertions."""
    survival = pyfuncitem.stash.get(_SURVIVAL, None)
    if survival is None:
        return
    failure = survival.failure()
    if failure is not None:
        pytest.fail(failure, pytrace=False)
    silence = survival.silence()
    if silence is not None:
        pytest.skip(silence)


def _campaign(item: pytest.Item) -> Campaign:
    """Returns the campaign of the markers; the innermost one has the last word."""
    from ._survive import Campaign  # noqa: PLC0415

    arguments: dict[str, Any] = {}
    for marker in reversed(list(item.iter_markers(NAME))):
        unknown = sorted(set(marker.kwargs) - set(_ARGUMENTS))
        if marker.args or unknown:
            what = f"unknown argument {unknown[0]}" if unknown else "arguments without a name"
            raise UsageError(f"{what}; there are {', '.join(_ARGUMENTS)}")
        arguments.update(marker.kwargs)
    return Campaign.of(item.path.parent, **arguments)


def _survival(item: pytest.Item, factory: pytest.TempPathFactory) -> Survival:
    """Returns the runs of a family, once the campaign of the test has run in this session."""
    from ._survive import Survival  # noqa: PLC0415

    if item.get_closest_marker(NAME) is None:
        raise UsageError("the test has no @pytest.mark.survive(workload=..., command=[...])")
    campaign, family, name = _campaign(item), _family(item), _name(item)
    if family is None:
        raise UsageError("the marker has no effect here: mark the function itself, its class or its module")
    families = [_family(other) for other in item.session.items if _name(other) == name]
    chosen = [each for each in families if each is not None]
    return Survival.read(campaign, _report(campaign, item, chosen, factory), family, chosen)


def _family(item: pytest.Item) -> str | None:
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get(NAME)


def _name(item: pytest.Item) -> str:
    """Returns the name that the tests of one marked function have in common."""
    return item.nodeid.partition("[")[0]


def _report(campaign: Campaign, item: pytest.Item, chosen: list[str], factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a campaign's report. The first that asks runs it, also among workers of pytest-xdist."""
    base, session = factory.getbasetemp(), "session"
    worker = getattr(item.config, "workerinput", None)
    if worker is not None:
        # The folder of all workers, which may be that of earlier sessions too.
        base, session = base.parent, worker["testrunuid"]
    folder = base / FOLDER
    folder.mkdir(exist_ok=True)
    plain = re.sub(r"\W+", "-", _name(item))
    report = folder / plain if campaign.report is None else campaign.folder / campaign.report
    with (folder / f"{plain}.{session}").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        told = file.read()
        if not told:
            told = json.dumps(_failure(campaign, report, chosen))
            file.write(told)
    error = json.loads(told)
    if error is not None:
        raise FakeserverError(error)
    return report


def _failure(campaign: Campaign, report: Path, chosen: list[str]) -> str | None:
    """Runs a campaign, and returns why it could not be run, if so."""
    try:
        campaign.run(report, chosen)
    except FakeserverError as error:
        return str(error)
    return None
