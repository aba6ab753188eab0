"""Objects, which are created by the API in the order of a list."""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union
from urllib.parse import quote, urlsplit

from ._errors import MissingExtraError, ObjectRefusedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ._access import Access

#: An object, or the path of a file of JSON or YAML that has one or several.
Source = Union[Mapping[str, Any], str, "os.PathLike[str]"]

#: The time in seconds that an answer may take.
LIMIT = 30.0
#: The time in seconds within which a definition of custom resources has to be established.
DEFINITION_LIMIT = 10.0
DEFINITION_INTERVAL = 0.002


def read_objects(sources: Iterable[Source]) -> list[dict[str, Any]]:
    """Returns the objects of all sources in order; a `List` becomes its items."""
    if isinstance(sources, (str, Mapping, os.PathLike)):
        sources = [sources]
    objects: list[dict[str, Any]] = []
    for source in sources:
        if isinstance(source, Mapping):
            found = [dict(source)]
        elif isinstance(source, (str, os.PathLike)):
            found = list(_read_file(Path(source)))
        else:
            raise UsageError(f"objects: {source!r} is neither a dict nor the path of a file")
        for each in found:
            if str(each.get("kind", "")).endswith("List") and isinstance(each.get("items"), list):
                objects.extend(each["items"])
            else:
                objects.append(each)
    return objects


def _read_file(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ObjectRefusedError(f"objects: {path} cannot be read: {error}") from error
    if path.suffix == ".json":
        try:
            documents = [json.loads(text)]
        except ValueError as error:
            raise ObjectRefusedError(f"objects: {path} is no JSON: {error}") from error
    else:
        documents = _read_yaml(path, text)
    for document in documents:
        each = document if isinstance(document, list) else [document]
        for one in each:
            if isinstance(one, dict):
                yield one
            elif one is not None:
                raise ObjectRefusedError(f"objects: {path} has something else than objects: {one!r}")


def _read_yaml(path: Path, text: str) -> list[Any]:
    try:
        import yaml  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(
            f"objects: {path} is YAML, and PyYAML is not installed: pip install 'fakeserver[yaml]', or give JSON"
        ) from error
    try:
        return list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        raise ObjectRefusedError(f"objects: {path} is no YAML: {error}") from error


class Creator:
    """Creates objects at one server, over one connection."""

    def __init__(self, url: str, access: Access) -> None:
        """Creates a creator for the server at `url`."""
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        self._connection: http.client.HTTPConnection
        if access.ssl_context is None:
            self._connection = http.client.HTTPConnection(host, port, timeout=LIMIT)
        else:
            self._connection = http.client.HTTPSConnection(host, port, timeout=LIMIT, context=access.ssl_context)
        self._headers = access.headers
        self._resources: dict[str, list[dict[str, Any]]] = {}

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def create(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        """Creates an object, with its status if it has one; waits until a definition of custom resources is served."""
        name = described(obj)
        version, kind = obj.get("apiVersion"), obj.get("kind")
        if not isinstance(version, str) or not isinstance(kind, str):
            raise ObjectRefusedError(f"{name}: needs an apiVersion and a kind; {_problem(obj)}")
        resource = self._resource(name, version, kind)
        path = _root(version)
        if resource["namespaced"]:
            namespace = (obj.get("metadata") or {}).get("namespace") or "default"
            path += f"/namespaces/{quote(str(namespace), safe='')}"
        path += f"/{resource['name']}"
        created = self._accepted(name, "POST", path, obj)
        own = f"{path}/{quote(str(created['metadata']['name']), safe='')}"
        if kind == "CustomResourceDefinition":
            self._wait_established(name, own)
        elif "status" in obj and self._has_status(version, resource["name"]):
            patch = {"status": obj["status"]}
            created = self._accepted(name, "PATCH", f"{own}/status", patch, "application/merge-patch+json")
        return created

    def _resource(self, name: str, version: str, kind: str) -> dict[str, Any]:
        for resource in self._served(version):
            if resource["kind"] == kind and "/" not in resource["name"]:
                return resource
        raise ObjectRefusedError(
            f"{name}: the server has no kind {kind} in {version}; "
            "the CustomResourceDefinition of a custom resource stands before it in the list"
        )

    def _has_status(self, version: str, plural: str) -> bool:
        return any(resource["name"] == f"{plural}/status" for resource in self._served(version))

    def _served(self, version: str) -> list[dict[str, Any]]:
        if version not in self._resources:
            status, text = self._request("GET", _root(version))
            if status != http.client.OK:
                return []
            self._resources[version] = json.loads(text)["resources"]
        return self._resources[version]

    def _wait_established(self, name: str, path: str) -> None:
        deadline = time.monotonic() + DEFINITION_LIMIT
        while True:
            found = self._accepted(name, "GET", path)
            conditions = (found.get("status") or {}).get("conditions") or []
            states = {condition["type"]: condition for condition in conditions}
            if states.get("Established", {}).get("status") == "True":
                # A version that had no such kind may have it now.
                self._resources.clear()
                return
            if time.monotonic() > deadline:
                why = states.get("NamesAccepted", {}).get("message") or "the server gives no reason"
                raise ObjectRefusedError(f"{name}: not established within {DEFINITION_LIMIT:g} s: {why}")
            time.sleep(DEFINITION_INTERVAL)

    def _accepted(
        self,
        name: str,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        media_type: str = "application/json",
    ) -> dict[str, Any]:
        status, text = self._request(method, path, body, media_type)
        if not http.client.OK <= status < http.client.MULTIPLE_CHOICES:
            why = message_of(text)
            if status == http.client.NOT_FOUND and why.startswith("namespaces "):
                why += "; its Namespace stands before it in the list"
            raise ObjectRefusedError(f"{name}: {why} (status {status})")
        answer: dict[str, Any] = json.loads(text)
        return answer

    def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, media_type: str = "application/json"
    ) -> tuple[int, str]:
        headers = dict(self._headers)
        content = None
        if body is not None:
            headers["Content-Type"] = media_type
            content = json.dumps(body).encode()
        self._connection.request(method, path, content, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read().decode()


def message_of(text: str) -> str:
    """Returns the message of an answer that is a Status, or else its text."""
    try:
        answer = json.loads(text)
    except ValueError:
        return text.strip()
    message = answer.get("message") if isinstance(answer, dict) else None
    return message if isinstance(message, str) else text.strip()


def _problem(obj: Mapping[str, Any]) -> str:
    """Describes which of the fields that say what an object is are missing or no text."""
    fields = ("apiVersion", "kind")
    missing = [f"`{field}`" for field in fields if obj.get(field) is None]
    if missing:
        return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    return " and ".join(f"`{field}` is {obj[field]!r}, no text" for field in fields if not isinstance(obj[field], str))


def described(obj: Mapping[str, Any]) -> str:
    """Returns the kind and the name of an object, for errors."""
    metadata = obj.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    name = metadata.get("name") or metadata.get("generateName") or "(without a name)"
    namespace = metadata.get("namespace")
    return f"{obj.get('kind', 'an object')} {namespace + '/' if namespace else ''}{name}"


def _root(version: str) -> str:
    return f"/apis/{quote(version)}" if "/" in version else f"/api/{quote(version)}"
