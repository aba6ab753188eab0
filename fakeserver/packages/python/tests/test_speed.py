"""The time of the fixture `kube` after tests that leave much."""

import statistics

import pytest
from conftest import DEFINITION, SETUPS, config_map, order

LEFT = [DEFINITION, *(order(f"order-{n}", 1) for n in range(50)), *(config_map(f"map-{n}") for n in range(50))]
TURNS = 40


@pytest.mark.parametrize("turn", range(TURNS))
def test_leaves_much(kube, turn):
    kube.create(*LEFT)


def test_the_median_is_short():
    if len(SETUPS) < TURNS:
        pytest.skip("the tests before ran elsewhere")
    median = statistics.median(SETUPS[-TURNS:])
    print(f"fixture kube: median {median * 1000:.1f} ms of {TURNS}")
    assert median < 0.030
