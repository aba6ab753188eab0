"""The administrator's access to a server, from the kubeconfig that the program writes."""

from __future__ import annotations

import base64
import os
import re
import ssl
import tempfile
from dataclasses import dataclass

#: The name of the cluster, the user and the context.
NAME = "fakeserver"


@dataclass(frozen=True)
class Access:
    """What a request of the administrator needs."""

    ssl_context: ssl.SSLContext | None
    headers: dict[str, str]


def read_access(kubeconfig: str) -> Access:
    """Reads a kubeconfig of the program, which writes one field a line: no parser of YAML is needed."""
    authority = _decoded(_field(kubeconfig, "certificate-authority-data"))
    users = kubeconfig.partition("\nusers:\n")[2]
    entries = re.split(r"^- ", users, flags=re.MULTILINE)
    own = next((entry for entry in entries if entry.startswith(f"name: {NAME}\n")), "")
    headers = {"User-Agent": "fakeserver-python"}
    token = _field(own, "token")
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    if authority is None:
        return Access(None, headers)
    context = ssl.create_default_context(cadata=authority)
    certificate, key = _decoded(_field(own, "client-certificate-data")), _decoded(_field(own, "client-key-data"))
    if certificate is not None and key is not None:
        _load_certificate(context, certificate, key)
    return Access(context, headers)


def _load_certificate(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Loads a client certificate by a file that exists for this call, since `ssl` reads files only."""
    descriptor, path = tempfile.mkstemp(prefix="fakeserver-")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(certificate + key)
        context.load_cert_chain(path)
    finally:
        os.unlink(path)  # noqa: PTH108


def _field(text: str, name: str) -> str | None:
    found = re.search(rf"^ +{name}: (\S+)$", text, flags=re.MULTILINE)
    return found and found[1]


def _decoded(text: str | None) -> str | None:
    return None if text is None else base64.b64decode(text).decode()
