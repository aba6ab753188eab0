"""The time that the fixture `kube` takes, and what tests share."""

import statistics
import time

import pytest

pytest_plugins = ["pytester"]

#: The seconds of each setup of the fixture `kube`.
SETUPS = []

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "orders.shop.example.com"},
    "spec": {
        "group": "shop.example.com",
        "scope": "Namespaced",
        "names": {"plural": "orders", "kind": "Order"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {"count": {"type": "integer", "minimum": 1}},
                            },
                            "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
                        },
                    }
                },
            }
        ],
    },
}


def order(name, count, **fields):
    """Returns an order of the definition."""
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "shop.example.com/v1",
        "kind": "Order",
        "metadata": metadata,
        "spec": {"count": count},
        **fields,
    }


def config_map(name, namespace="default"):
    """Returns a config map."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}}


def pytest_configure(config):
    # kr8s says so of versions that are newer than itself.
    config.addinivalue_line("filterwarnings", "ignore:Kubernetes version:UserWarning")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    start = time.perf_counter()
    result = yield
    if fixturedef.argname == "kube":
        SETUPS.append(time.perf_counter() - start)
    return result


def pytest_terminal_summary(terminalreporter):
    if SETUPS:
        median = statistics.median(SETUPS) * 1000
        terminalreporter.write_line(f"fixture kube: {len(SETUPS)} setups, median {median:.1f} ms")


@pytest.fixture
def suite(pytester, monkeypatch):
    """Runs a text as a test file in a process of its own, and returns its outcomes and its output."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")

    def run(text, *arguments):
        # Files of the same name would share a compiled module.
        pytester.makepyfile(test_suite=text)
        result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments, timeout=120)
        return result.parseoutcomes(), result.stdout.str() + result.stderr.str()

    return run
