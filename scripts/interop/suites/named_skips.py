"""A pytest plugin that leaves out the tests that a file names, each with its reason.

A line of the file is `TEST: REASON`, where TEST is the end of a test's identifier, with or without its parameters. A name
that no test has is an error, so that the file stays true.
"""

import pytest


def pytest_addoption(parser):
    """Adds the option."""
    parser.addoption("--named-skips", metavar="FILE", help="tests to leave out, a line each: `TEST: REASON`")


def pytest_collection_modifyitems(config, items):
    """Marks the tests that the file names."""
    path = config.getoption("--named-skips")
    if not path:
        return
    with open(path, encoding="utf-8") as file:
        named = dict(line.rstrip("\n").split(": ", 1) for line in file if not line.startswith("#"))
    found = set()
    for item in items:
        for known, reason in named.items():
            if any(name.endswith(f"::{known}") for name in (item.nodeid, item.nodeid.partition("[")[0])):
                found.add(known)
                item.add_marker(pytest.mark.skip(reason=reason))
    if missing := sorted(named.keys() - found):
        raise pytest.UsageError(f"{path}: there are no tests with these names: {', '.join(missing)}")
