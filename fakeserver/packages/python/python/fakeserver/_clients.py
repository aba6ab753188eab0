"""Clients of other packages, which are imported when they are asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path


def api_client(kubeconfig: Path, context: str) -> Any:  # noqa: ANN401
    """Returns a `kubernetes.client.ApiClient`."""
    client, config = _imported("kubernetes.client"), _imported("kubernetes.config")
    configuration = client.Configuration()
    config.load_kube_config(
        config_file=str(kubeconfig), context=context, client_configuration=configuration, persist_config=False
    )
    # A proxy of the environment does not lead to the loopback interface of this machine.
    configuration.proxy = None
    return client.ApiClient(configuration)


def kr8s(kubeconfig: Path, context: str) -> Any:  # noqa: ANN401
    """Returns a `kr8s.Api`."""
    return _imported("kr8s").api(kubeconfig=str(kubeconfig), context=context)


def lightkube(kubeconfig: Path, context: str) -> Any:  # noqa: ANN401
    """Returns a `lightkube.Client`."""
    package = _imported("lightkube")
    return package.Client(config=package.KubeConfig.from_file(str(kubeconfig)).get(context), trust_env=False)


def _imported(module: str) -> Any:  # noqa: ANN401
    package = module.split(".", 1)[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingExtraError(
            f"the package {package} is not installed: pip install 'fakeserver[{package}]'", name=package
        ) from error
