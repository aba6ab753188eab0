"""A client of the control API, `/_control`."""

from __future__ import annotations

import http.client
import json
import re
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ._errors import FakeserverWarning

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

#: The time in seconds that an answer may take.
LIMIT = 30.0


class ControlError(Exception):
    """An answer of the control API that is no success."""

    def __init__(self, status: int, text: str) -> None:
        """Creates an error from a status and the text of the answer."""
        super().__init__(f"{status}: {text.strip()}")
        self.status = status
        self.text = text


class Control:
    """The control API of one server. Failed connections are `OSError` or `http.client.HTTPException`."""

    def __init__(
        self,
        url: str,
        ssl_context: ssl.SSLContext | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Creates a client for the server at `url`; `headers` are sent with every request."""
        self._url = urlsplit(url)
        self._ssl_context = ssl_context
        self._headers = dict(headers or {})

    # generated from /_control/openapi.json by scripts/packages/control_clients.py

    def stats(self) -> dict[str, Any]:
        """Returns the counts of the server."""
        answer: dict[str, Any] = self._json("GET", "stats")
        return answer

    def snapshot(self) -> str:
        """Returns the whole state, a line of JSON an object."""
        return self._request("GET", "snapshot")

    def save_snapshot(self) -> None:
        """Writes the state to the data file; 409 if the server has none."""
        self._request("POST", "snapshot")

    def compact(self) -> None:
        """Removes history: lists of older versions are answered with 410. Watches go on."""
        self._request("POST", "compact")

    def expire(self) -> None:
        """Removes history for watches, too: one that begins at an older version receives an ERROR event with 410."""
        self._request("POST", "expire")

    def disconnect(self) -> None:
        """Ends all open watches."""
        self._request("POST", "disconnect")

    def reset(self) -> None:
        """Restores the state of the start: later objects are gone, and all watches end. Faults stay in force."""
        self._request("POST", "reset")

    def remove_faults(self) -> None:
        """Removes all faults."""
        self._request("DELETE", "faults")

    def list_faults(self) -> dict[str, Any]:
        """Returns the faults in force."""
        answer: dict[str, Any] = self._json("GET", "faults")
        return answer

    def install_faults(self, faults: Any) -> dict[str, Any]:  # noqa: ANN401
        """Installs a fault, or several, all or none; 400 names the invalid field."""
        answer: dict[str, Any] = self._json("POST", "faults", json.dumps(faults))
        return answer

    def fault_catalogue(self) -> list[dict[str, Any]]:
        """Returns what is known about each fault."""
        answer: list[dict[str, Any]] = self._json("GET", "faults/catalogue")
        return answer

    def remove_fault(self, fault_id: int) -> None:
        """Removes a fault."""
        self._request("DELETE", f"faults/{fault_id:d}")

    def get_fault(self, fault_id: int) -> dict[str, Any]:
        """Returns a fault in force."""
        answer: dict[str, Any] = self._json("GET", f"faults/{fault_id:d}")
        return answer

    def kubernetes_version(self) -> dict[str, Any]:
        """Returns the release of Kubernetes that is served, and those that there are."""
        answer: dict[str, Any] = self._json("GET", "kubernetes-version")
        return answer

    def upgrade(self, version: str) -> dict[str, Any]:
        """Serves another version of Kubernetes, newer or older, with open watches; 400 lists the versions."""
        answer: dict[str, Any] = self._json("POST", "kubernetes-version", json.dumps({"version": version}))
        return answer

    # end of what is generated

    def _json(self, method: str, path: str, body: str | None = None) -> Any:  # noqa: ANN401
        return json.loads(self._request(method, path, body))

    def _request(self, method: str, path: str, body: str | None = None) -> str:
        host, port = self._url.hostname or "", self._url.port
        connection: http.client.HTTPConnection
        if self._url.scheme == "https":
            connection = http.client.HTTPSConnection(host, port, timeout=LIMIT, context=self._ssl_context)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=LIMIT)
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            content = None if body is None else body.encode()
            connection.request(method, f"{self._url.path.rstrip('/')}/_control/{path}", content, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
            warned = answer.headers.get_all("Warning", [])
        finally:
            connection.close()
        if not http.client.OK <= answer.status < http.client.MULTIPLE_CHOICES:
            raise ControlError(answer.status, text)
        for each in warned:
            _warn(each)
        return text


def _warn(header: str) -> None:
    """Warns of what a `Warning` header says, at the line that called this package."""
    # Headers are decoded as Latin-1.
    found = re.fullmatch(r'299 - "(.*)"', header.encode("latin-1").decode(errors="replace"))
    text = re.sub(r"\\(.)", r"\1", found[1]) if found else header
    folder, level, frame = Path(__file__).parent, 1, sys._getframe()  # noqa: SLF001
    while frame.f_back is not None and Path(frame.f_code.co_filename).parent == folder:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, FakeserverWarning, stacklevel=level)
