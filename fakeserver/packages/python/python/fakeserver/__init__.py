"""A fake Kubernetes API server for tests.

Under pytest the fixtures `kube`, `kube_cluster` and `kube_faults` are there, and the marker `survive`. Elsewhere:

    with fakeserver.Server() as server:
        api = kubernetes.client.CoreV1Api(server.api_client())
"""

from ._binary import find_binary, find_conformance
from ._control import Control, ControlError
from ._errors import (
    BinaryNotFoundError,
    FakeserverError,
    FakeserverWarning,
    FaultRefusedError,
    MissingExtraError,
    ObjectRefusedError,
    ServerEndedError,
    StartError,
    SurviveError,
    UsageError,
)
from ._server import Faults, Server
from ._survive import Survival

__all__ = [
    "BinaryNotFoundError",
    "Control",
    "ControlError",
    "FakeserverError",
    "FakeserverWarning",
    "FaultRefusedError",
    "Faults",
    "MissingExtraError",
    "ObjectRefusedError",
    "Server",
    "ServerEndedError",
    "StartError",
    "Survival",
    "SurviveError",
    "UsageError",
    "find_binary",
    "find_conformance",
]
