"""A server: the process, its control, and clients of it."""

from __future__ import annotations

import contextlib
import http.client
import os
import secrets
import selectors
import shlex
import shutil
import subprocess
import tempfile
import time
import weakref
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Callable, TypeVar, Union

from . import _clients
from ._access import NAME, read_access
from ._binary import find_binary
from ._control import Control, ControlError
from ._errors import FakeserverError, FaultRefusedError, ServerEndedError, StartError, UsageError
from ._objects import Creator, Source, message_of, read_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import TracebackType

    from kr8s import Api as Kr8sApi
    from kubernetes.client import ApiClient
    from lightkube import Client as LightkubeClient

T = TypeVar("T")
#: One fault, or several.
FaultSource = Union["Mapping[str, Any]", "Sequence[Mapping[str, Any]]"]

#: The flags that this package sets itself, each with what to use instead.
OWN_FLAGS = {
    "--listen": "a free port is taken",
    "--kubeconfig": "`server.kubeconfig` is its path",
    "--context": f"the context is `{NAME}`",
    "--use-context": "the context is the current one",
    "--keep": "the kubeconfig ends with the server",
    "--own-folder": "the folder of `server.kubeconfig` ends with the server",
    "--end-with-parent": "every server ends with its process",
    "--faults": "use `faults=`, or the fixture `kube_faults`",
}

#: The number of bytes of standard error that an error shows.
STDERR_MAX = 4096


class Faults:
    """The faults of one server."""

    def __init__(self, server: Server) -> None:
        """Creates the view of the faults of `server`."""
        self._server = server

    def install(self, fault: FaultSource) -> list[dict[str, Any]]:
        """Installs one fault, or a list of several, all or none; returns them with their ids.

        A fault is a dict: its name as `fault`, its parameters beside it, and optionally `match` and `when`:

            {"fault": "server_error", "code": 503, "match": {"verb": "create"}, "when": {"times": 1}}

        `match` selects requests, all without it: `client`, `verb`, `group`, `resource` (the plural), `namespace`,
        `name`, `subresource`, `minResourceVersion`. `when` selects occasions, all without it: `nth`, `times`,
        `afterMs`, `forMs`, `probability`, `seed`. On the command line `fakeserver faults` lists the names, and
        `fakeserver faults NAME` describes the parameters of one and these fields.

        Raises:
            FaultRefusedError: The server refused a fault; the message names the field.

        Warns:
            FakeserverWarning: The server has no such resource now: the fault fires only if one is defined.

        """
        try:
            installed = self._server._call(lambda: self._server.control.install_faults(fault))  # noqa: SLF001
        except ControlError as error:
            why = message_of(error.text).replace("`/_control/faults/catalogue`", "`kube.control.fault_catalogue()`")
            # The error of the request behind it says no more.
            raise FaultRefusedError(f"the server refused the fault {fault!r}: {why}") from None
        items: list[dict[str, Any]] = installed["items"]
        return items

    def installed(self) -> list[dict[str, Any]]:
        """Returns the faults in force; `fired` of each is the number of its firings."""
        items: list[dict[str, Any]] = self._server._call(self._server.control.list_faults)["items"]  # noqa: SLF001
        return items

    def clear(self) -> None:
        """Removes all faults."""
        self._server._call(self._server.control.remove_faults)  # noqa: SLF001


class Server:
    """A fake Kubernetes API server, which runs from `start` to `close`, or as a context manager.

    It listens on a free port of the loopback interface, keeps its files in a temporary folder, and ends with this
    process, however that ends.
    """

    def __init__(
        self,
        *,
        flags: Iterable[str] = (),
        objects: Iterable[Source] = (),
        faults: FaultSource = (),
        tls: bool = False,
        kubernetes_version: str | None = None,
        seed: int | None = None,
        start_limit: float = 30.0,
        stop_limit: float = 10.0,
    ) -> None:
        """Creates a server that is not started yet.

        Args:
            flags: Flags of `fakeserver serve`.
            objects: Objects that exist when it has started, as dicts or paths of files of JSON or YAML; custom
                resources stand after their definitions.
            faults: Faults in force when it has started.
            tls: True for HTTPS.
            kubernetes_version: The version of Kubernetes that it serves, as in `1.34` or `latest-1`; without it that of
                the variable `FAKESERVER_KUBERNETES_VERSION`, or else the default of the program.
            seed: The number from which uids and generated names follow.
            start_limit: The time in seconds within which it has to listen.
            stop_limit: The time in seconds that it has to end before it is killed.

        """
        self._flags = checked_flags(flags)
        if tls and "--tls" not in self._flags:
            self._flags.append("--tls")
        self._flags += version_flags(kubernetes_version)
        if seed is not None:
            self._flags += ["--seed", str(seed)]
        self._objects = read_objects(objects)
        self._initial_faults = faults
        self._start_limit = start_limit
        self._stop_limit = stop_limit
        self._process: _Process | None = None
        self._url = ""
        self._kubeconfig_count = 0
        #: The faults of this server.
        self.faults = Faults(self)

    def __enter__(self) -> Server:  # noqa: PYI034
        """Starts the server."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the server."""
        self.close()

    def start(self) -> Server:
        """Starts the server, and waits until it listens and has its objects and faults.

        Raises:
            BinaryNotFoundError: The program is missing.
            StartError: It ended, or did not listen in time.
            ObjectRefusedError: It refused an object.
            FaultRefusedError: It refused a fault.

        """
        if self._process is not None:
            raise FakeserverError("the server was started already; another `Server` is another one")
        self._process = _Process(self._flags, self._start_limit, self._stop_limit)
        try:
            self._access = read_access(self.kubeconfig.read_text(encoding="utf-8"))
            self._control = Control(self.url, self._access.ssl_context, self._access.headers)
            self._fill()
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """Ends the server, and removes its folder. A further call has no effect."""
        if self._process is not None:
            self._process.close()

    @property
    def url(self) -> str:
        """The URL of the server, as in `http://127.0.0.1:41234`."""
        return self._running().url

    @property
    def kubeconfig(self) -> Path:
        """The path of a kubeconfig whose current context is the administrator of this server."""
        return self._running().folder / "kubeconfig"

    @property
    def pid(self) -> int:
        """The id of the server's process."""
        return self._running().pid

    @property
    def control(self) -> Control:
        """The control API of this server."""
        self._running()
        return self._control

    @property
    def stderr(self) -> str:
        """The last of what the server wrote to standard error."""
        return self._running().said()

    @property
    def is_running(self) -> bool:
        """True from the start of the process to its end."""
        return self._process is not None and self._process.is_running()

    @property
    def is_closed(self) -> bool:
        """True once `close` was called."""
        return self._process is not None and self._process.is_closed

    def create(self, *objects: Source) -> list[dict[str, Any]]:
        """Creates objects in order, and returns them as the server has them.

        Raises:
            ObjectRefusedError: The server refused one; those before it exist.

        """
        return self._create(read_objects(objects))

    def reset(self) -> None:
        """Restores the objects and faults of the start, and ends all watches; all else is gone."""
        self._clear()
        self._fill()

    def renew(self, objects: Iterable[Source]) -> None:
        """Resets the server to other objects than those of its start."""
        self._objects = read_objects(objects)
        self.reset()

    def expire(self) -> None:
        """Forgets the history: older versions are answered with 410, and older watches receive it as an event."""
        self._call(self.control.expire)

    def compact(self) -> None:
        """Forgets the history: older versions are answered with 410, and watches continue."""
        self._call(self.control.compact)

    def disconnect(self) -> None:
        """Ends all watches."""
        self._call(self.control.disconnect)

    def stats(self) -> dict[str, Any]:
        """Returns the revision, the number of open watches, and the requests by resource and verb."""
        return self._call(self.control.stats)

    def api_client(self, context: str = NAME) -> ApiClient:
        """Returns a new client of the package `kubernetes`, for a context of the kubeconfig."""
        client: ApiClient = _clients.api_client(self.kubeconfig, context)
        return client

    def kr8s(self, context: str = NAME) -> Kr8sApi:
        """Returns a new client of the package `kr8s`, to be passed to its functions as `api=`."""
        # Clients of one path share what they know of the server's resources.
        self._kubeconfig_count += 1
        own = self.kubeconfig.with_name(f"kubeconfig-{self._kubeconfig_count}")
        shutil.copyfile(self.kubeconfig, own)
        client: Kr8sApi = _clients.kr8s(own, context)
        return client

    def lightkube(self, context: str = NAME) -> LightkubeClient:
        """Returns a new client of the package `lightkube`, for a context of the kubeconfig."""
        client: LightkubeClient = _clients.lightkube(self.kubeconfig, context)
        return client

    def ended_error(self) -> ServerEndedError | None:
        """Returns an error if the server has ended although it was not closed."""
        if self._process is None or self._process.is_closed or self._process.is_running():
            return None
        return ServerEndedError(f"the server has ended by itself, {self._process.ending()}")

    def _clear(self) -> None:
        self.faults.clear()
        self._call(self.control.reset)

    def _fill(self) -> None:
        self._create(self._objects)
        if self._initial_faults:
            self.faults.install(self._initial_faults)

    def _create(self, objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if not objects:
            return []
        creator = Creator(self.url, self._access)
        try:
            return self._call(lambda: [creator.create(each) for each in objects])
        finally:
            creator.close()

    def _running(self) -> _Process:
        if self._process is None:
            raise FakeserverError("the server is not started; use `with fakeserver.Server() as server`, or `start()`")
        if self._process.is_closed:
            raise FakeserverError("the server is closed")
        return self._process

    def _call(self, function: Callable[[], T]) -> T:
        """Calls a function that makes requests. If they fail because the server has ended, the error says that."""
        try:
            return function()
        except (OSError, http.client.HTTPException) as error:
            ended = self._running().wait_ended() and self.ended_error()
            if ended:
                raise ended from error
            raise FakeserverError(f"no answer of the server at {self.url}: {error!r}") from error


class _Process:
    """The process of a server, with its folder."""

    def __init__(self, flags: list[str], start_limit: float, stop_limit: float) -> None:
        # The program makes it, and removes it even if this process is killed.
        self.folder = Path(tempfile.gettempdir()) / f"fakeserver-{secrets.token_hex(8)}"
        self.is_closed = False
        self._stop_limit = stop_limit
        # It has no name, so that nothing of it is left if this process is killed.
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        files = ["--kubeconfig", str(self.folder / "kubeconfig"), "--own-folder"]
        own = ["--listen", "127.0.0.1:0", *files, "--end-with-parent"]
        try:
            self._command = [find_binary(), "serve", *own, *flags]
            # In a session of its own, so that the terminal's Ctrl-C leaves it to this process.
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,
            )
        except BaseException as error:
            self._stderr.close()
            if isinstance(error, OSError):
                raise StartError(f"{shlex.join(self._command)} cannot be run: {error}") from error
            raise
        # A process that ends without `close` ends the server too.
        self._end = weakref.finalize(self, _end, self._process, self.folder, stop_limit, os.getpid())
        try:
            self.url = self._wait_listening(start_limit)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_running(self) -> bool:
        return not self.is_closed and self._process.poll() is None

    def wait_ended(self) -> bool:
        """Waits for a process that has just closed its connections, and returns whether it has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        return not self.is_running()

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self._end()
            self._stderr.close()

    def said(self) -> str:
        # The process writes at the same offset of the same open file: reads must not move it.
        size = os.fstat(self._stderr.fileno()).st_size
        start = max(0, size - STDERR_MAX)
        return os.pread(self._stderr.fileno(), size - start, start).decode(errors="replace").strip()

    def ending(self) -> str:
        """Describes how the process has ended, with what it wrote to standard error."""
        code = self._process.poll()
        how = f"by signal {-code}" if code is not None and code < 0 else f"with status {code}"
        return f"{how}; {self._output()}"

    def _output(self) -> str:
        said = self.said()
        return f"it wrote to standard error:\n{said}" if said else "it wrote nothing to standard error"

    def _wait_listening(self, limit: float) -> str:
        deadline = time.monotonic() + limit
        stdout = self._process.stdout
        if stdout is None:
            raise StartError("the program has no standard output")
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while b"\n" not in line:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise StartError(
                        f"{shlex.join(self._command)} does not listen within {limit:g} s "
                        f"(`start_limit`); {self._output()}"
                    )
                part = os.read(stdout.fileno(), 4096)
                if not part:
                    self.wait_ended()
                    raise StartError(f"{shlex.join(self._command)} has ended {self.ending()}")
                line += part
        first = line.split(b"\n", 1)[0].decode(errors="replace")
        prefix = "listening on "
        if not first.startswith(prefix):
            raise StartError(
                f"{self._command[0]} is another program than fakeserver: it begins with {first!r}, "
                f"not with {prefix!r}; is FAKESERVER_BIN right?"
            )
        return first[len(prefix) :]


def _end(process: subprocess.Popen[bytes], folder: Path, limit: float, owner: int) -> None:
    """Ends a process, and removes its folder if it did not. In a fork of the process that started it, has no effect."""
    if os.getpid() != owner:
        return
    if process.stdout is not None:
        process.stdout.close()
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(limit)
    shutil.rmtree(folder, ignore_errors=True)


def checked_flags(flags: Iterable[str]) -> list[str]:
    """Returns flags as a list.

    Raises:
        UsageError: They are no words, or one of them is set by this package.

    """
    words = None if isinstance(flags, str) else list(flags)
    if words is None or not all(isinstance(word, str) for word in words):
        raise UsageError(f"flags: a list of words is needed, as in ['--seed', '7'], not {flags!r}")
    for word in words:
        instead = OWN_FLAGS.get(word.split("=", 1)[0])
        if instead is not None:
            raise UsageError(f"flags: {word} is set already: {instead}")
    return words


def version_flags(version: str | None) -> list[str]:
    """Returns the flags that ask for a version of Kubernetes, if one is asked for.

    Raises:
        UsageError: It is no text. In Python, 1.30 is the number 1.3.

    """
    if version is None:
        return []
    if not isinstance(version, str):
        raise UsageError(f"kubernetes_version: a text is needed, as in '1.34', not {version!r}")
    return ["--kubernetes-version", version]
