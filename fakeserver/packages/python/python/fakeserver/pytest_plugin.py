"""The pytest plugin: the fixtures `kube_cluster`, `kube` and `kube_faults`, and the marker `kube`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from ._errors import FakeserverError, FakeserverWarning, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._server import Faults, Server

#: The marker `survive`.
pytest_plugins = ["fakeserver.pytest_survive"]

#: The number of servers that are kept for later tests. Each set of flags needs one of its own.
SERVERS_MAX = 4

MARKER = (
    "kube(flags=[...], objects=[...], kubernetes_version=...): flags of `fakeserver serve`, objects that exist when "
    "the test begins, and the version of Kubernetes, for the fixture `kube`; markers of a module, a class and a "
    "function are added up, and the innermost version counts."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option `kube_flags` of the configuration file."""
    parser.addini("kube_flags", "flags of `fakeserver serve` for every server of the fixtures", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line("markers", MARKER)


#: Set in the stash of a test that has the fixture `kube`.
_HAS_KUBE = pytest.StashKey[bool]()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Warns of a marker of a test that takes no fixture `kube`, not even while it runs."""
    yield
    is_marked = any(marker.name == "kube" for marker in item.own_markers)
    if is_marked and not item.stash.get(_HAS_KUBE, False):
        item.warn(
            FakeserverWarning(
                "@pytest.mark.kube has no effect: the test does not take the fixture `kube`; "
                f"write `def {getattr(item, 'originalname', None) or item.name}(kube)`"
            )
        )


class _Pool:
    """Servers of a session that no test uses, the least recently used first."""

    def __init__(self) -> None:
        self._servers: dict[tuple[str, ...], Server] = {}

    def take(self, flags: list[str], objects: list[Any]) -> Server:
        """Returns a server with nothing but these objects."""
        from ._server import Server  # noqa: PLC0415

        server = self._servers.pop(tuple(flags), None)
        if server is not None and server.is_running:
            try:
                server.renew(objects)
            except BaseException:
                # The next test gets one that is not half filled.
                server.close()
                raise
            return server
        if server is not None:
            server.close()
        return Server(flags=flags, objects=objects).start()

    def give(self, flags: list[str], server: Server) -> None:
        """Keeps a server for later tests."""
        if not server.is_running:
            server.close()
            return
        self._servers[tuple(flags)] = server
        while len(self._servers) > SERVERS_MAX:
            self._servers.pop(next(iter(self._servers))).close()

    def close(self) -> None:
        """Ends all servers."""
        for server in self._servers.values():
            server.close()
        self._servers.clear()


@pytest.fixture(scope="session")
def _kube_pool() -> Iterator[_Pool]:
    pool = _Pool()
    yield pool
    pool.close()


@pytest.fixture(scope="session")
def kube_cluster(request: pytest.FixtureRequest) -> Iterator[Server]:
    """Provides a server that all tests of the session share, with what each of them leaves."""
    from ._server import Server  # noqa: PLC0415

    with _failing("kube_cluster"):
        server = Server(flags=request.config.getini("kube_flags")).start()
    yield server
    ended = server.ended_error()
    server.close()
    if ended is not None:
        pytest.fail(f"kube_cluster: {ended}", pytrace=False)


@pytest.fixture
def kube(request: pytest.FixtureRequest, _kube_pool: _Pool) -> Iterator[Server]:
    """Provides a server on which nothing of an earlier test is visible, with the marker's flags and objects."""
    flags, objects = _marked(request)
    request.node.stash[_HAS_KUBE] = True
    with _failing("kube"):
        server = _kube_pool.take(flags, objects)
    yield server
    ended = server.ended_error()
    _kube_pool.give(flags, server)
    if ended is not None:
        pytest.fail(f"kube: {ended}", pytrace=False)


@pytest.fixture
def kube_faults(kube: Server) -> Iterator[Faults]:
    """Provides the faults of `kube`; those that a test installs are removed after it."""
    yield kube.faults
    # That a server has ended is told by `kube`.
    with contextlib.suppress(FakeserverError):
        kube.faults.clear()


def _marked(request: pytest.FixtureRequest) -> tuple[list[str], list[Any]]:
    """Returns the flags and objects of the markers, the outermost first."""
    from ._server import checked_flags, version_flags  # noqa: PLC0415

    with _failing("kube_flags"):
        flags = checked_flags(request.config.getini("kube_flags"))
    objects: list[Any] = []
    version: list[str] = []
    for marker in reversed(list(request.node.iter_markers("kube"))):
        with _failing("@pytest.mark.kube"):
            unknown = sorted(set(marker.kwargs) - {"flags", "objects", "kubernetes_version"})
            if marker.args or unknown:
                what = f"unknown argument {unknown[0]}" if unknown else "arguments without a name"
                raise UsageError(f"{what}; there are flags=[...], objects=[...] and kubernetes_version=...")
            given = marker.kwargs.get("objects", [])
            if not isinstance(given, (list, tuple)):
                raise UsageError(f"objects: a list is needed, not {given!r}")
            flags += checked_flags(marker.kwargs.get("flags", []))
            objects += given
            version = version_flags(marker.kwargs.get("kubernetes_version")) or version
    return flags + version, objects


@contextlib.contextmanager
def _failing(name: str) -> Iterator[None]:
    """Turns errors of this package into failures, which show the message alone after `name`."""
    try:
        yield
    except FakeserverError as error:
        raise pytest.fail.Exception(f"{name}: {error}", pytrace=False) from None
