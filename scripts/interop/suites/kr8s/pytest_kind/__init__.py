"""Stands for PyPI's `pytest-kind`, with which the suite makes a cluster: the cluster is there, and KUBECONFIG names it."""


def pytest_addoption(parser):
    """Adds the option that the suite reads."""
    parser.addoption("--keep-cluster", action="store_true", default=True, help="has no effect")
