"""Clients of other packages."""

import pytest
from conftest import DEFINITION, order

TLS = pytest.mark.kube(flags=["--tls"])
SECURED = pytest.mark.parametrize("_", ["plain", pytest.param("tls", marks=TLS)])


@SECURED
@pytest.mark.kube(objects=[DEFINITION, order("first", 3)])
def test_kubernetes(kube, _):
    client = pytest.importorskip("kubernetes.client")
    with kube.api_client() as api:
        core = client.CoreV1Api(api)
        core.create_namespaced_config_map("default", {"metadata": {"name": "one"}, "data": {"colour": "green"}})
        assert core.read_namespaced_config_map("one", "default").data == {"colour": "green"}
        orders = client.CustomObjectsApi(api)
        found = orders.get_namespaced_custom_object("shop.example.com", "v1", "default", "orders", "first")
        assert found["spec"]["count"] == 3


@SECURED
@pytest.mark.kube(objects=[DEFINITION, order("first", 3)])
def test_kr8s(kube, _):
    objects = pytest.importorskip("kr8s.objects")
    api = kube.kr8s()
    objects.ConfigMap({"metadata": {"name": "one", "namespace": "default"}, "data": {"a": "b"}}, api=api).create()
    assert objects.ConfigMap.get("one", namespace="default", api=api).data == {"a": "b"}
    found = list(api.get("orders.shop.example.com", namespace="default"))
    assert [each.spec.count for each in found] == [3]


def test_kr8s_knows_nothing_of_earlier_definitions(kube):
    pytest.importorskip("kr8s")
    assert [each for each in kube.kr8s().api_resources() if each["name"] == "orders"] == []


@SECURED
@pytest.mark.kube(objects=[DEFINITION, order("first", 3)])
def test_lightkube(kube, _):
    pytest.importorskip("lightkube")
    from lightkube.generic_resource import create_namespaced_resource
    from lightkube.models.meta_v1 import ObjectMeta
    from lightkube.resources.core_v1 import ConfigMap

    api = kube.lightkube()
    api.create(ConfigMap(metadata=ObjectMeta(name="one", namespace="default"), data={"a": "b"}))
    assert api.get(ConfigMap, name="one", namespace="default").data == {"a": "b"}
    kind = create_namespaced_resource("shop.example.com", "v1", "Order", "orders")
    assert api.get(kind, name="first", namespace="default").spec["count"] == 3


@pytest.mark.kube(flags=["--tls", "--authorization", "rbac", "--client-certificate", "jane"])
def test_a_context_is_another_user(kube):
    client = pytest.importorskip("kubernetes.client")
    with kube.api_client() as administrator, kube.api_client("jane") as jane:
        client.CoreV1Api(administrator).list_node()
        with pytest.raises(client.ApiException, match="cannot list resource"):
            client.CoreV1Api(jane).list_node()


def test_an_old_version_has_expired(kube):
    client = pytest.importorskip("kubernetes.client")
    with kube.api_client() as api:
        core = client.CoreV1Api(api)
        version = core.list_namespace().metadata.resource_version
        core.create_namespace({"metadata": {"name": "shop"}})
        old = {"resource_version": version, "resource_version_match": "Exact"}
        assert "shop" not in [each.metadata.name for each in core.list_namespace(**old).items]
        kube.expire()
        with pytest.raises(client.ApiException) as error:
            core.list_namespace(**old)
    assert error.value.status == 410


def test_a_fault_is_met_and_counted(kube, kube_faults):
    client = pytest.importorskip("kubernetes.client")
    (fault,) = kube_faults.install(
        {"fault": "throttle", "retryAfterSeconds": 7, "match": {"verb": "list"}, "when": {"times": 1}}
    )
    with kube.api_client() as api:
        api.configuration.retries = False
        core = client.CoreV1Api(api)
        try:
            core.list_namespace()
        except client.ApiException as error:
            assert error.status == 429
        core.list_namespace()
    assert [each["fired"] for each in kube_faults.installed()] == [1]
    assert kube.control.get_fault(fault["id"])["fired"] == 1
