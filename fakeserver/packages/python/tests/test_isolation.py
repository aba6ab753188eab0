"""Nothing of an earlier test is visible in a later one."""

import http.client
import json
import threading
from urllib.parse import urlsplit

import pytest
from conftest import DEFINITION, config_map, order

LEFT = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
    config_map("settings", "shop"),
    {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": "shop"}},
    DEFINITION,
    order("first", 1),
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    },
]


def ask(server, method, path, body=None, headers=None):
    """Returns the status and the text of an answer."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    headers = {"Content-Type": "application/json", **(headers or {})}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def state(server):
    """Returns the names of all objects, and the numbers of the server, but for times and random numbers."""
    head, *lines = [json.loads(line) for line in server.control.snapshot().splitlines()]
    del head["time"], head["drawn"]
    names = []
    for each in lines:
        metadata = each.get("object", {}).get("metadata", {})
        names.append((each.get("group"), each.get("resource"), metadata.get("namespace"), metadata.get("name")))
    discovery = ask(server, "GET", "/apis", headers=server._access.headers)[1]
    documents = ask(server, "GET", "/openapi/v3", headers=server._access.headers)[1]
    openapi = sorted(json.loads(documents)["paths"])
    return head, sorted(names, key=repr), discovery, openapi


class TestOneServer:
    fresh = None
    watch = None
    token = None

    def test_leaves_much(self, kube, kube_faults):
        TestOneServer.fresh = state(kube)
        kube.create(*LEFT)
        status, text = ask(kube, "POST", "/api/v1/namespaces/shop/serviceaccounts/robot/token", {"spec": {}})
        assert status == 201
        TestOneServer.token = json.loads(text)["status"]["token"]
        kube_faults.install({"fault": "throttle", "match": {"verb": "list"}})
        assert ask(kube, "GET", "/api/v1/pods")[0] == 429
        ended = threading.Event()

        def follow():
            ask(kube, "GET", "/api/v1/namespaces?watch=true")
            ended.set()

        threading.Thread(target=follow, daemon=True).start()
        TestOneServer.watch = ended

    def test_sees_nothing_of_it(self, kube):
        assert state(kube) == TestOneServer.fresh
        assert kube.faults.installed() == []
        assert ask(kube, "GET", "/apis/shop.example.com/v1/orders")[0] == 404
        assert TestOneServer.watch.wait(10), "a watch of an earlier test is still open"
        reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        token = {"Authorization": f"Bearer {TestOneServer.token}"}
        assert ask(kube, "POST", reviews, {}, token)[0] == 401

    def test_counts_its_own_requests_only(self, kube):
        assert kube.stats()["requests"] == {}


@pytest.mark.kube(objects=[config_map("one")])
class TestObjects:
    @pytest.mark.kube(objects=[DEFINITION, order("first", 2, status={"phase": "Paid"})])
    def test_markers_are_added_up(self, kube):
        assert ask(kube, "GET", "/api/v1/namespaces/default/configmaps/one")[0] == 200
        status, text = ask(kube, "GET", "/apis/shop.example.com/v1/namespaces/default/orders/first")
        assert status == 200
        assert json.loads(text)["status"] == {"phase": "Paid"}
        kube.create(order("second", 1))
        kube.reset()
        orders = json.loads(ask(kube, "GET", "/apis/shop.example.com/v1/orders")[1])["items"]
        assert [each["metadata"]["name"] for each in orders] == ["first"]

    def test_has_the_objects_of_its_class_only(self, kube):
        assert ask(kube, "GET", "/api/v1/namespaces/default/configmaps/one")[0] == 200
        assert ask(kube, "GET", "/apis/shop.example.com/v1/orders")[0] == 404


class TestFlags:
    urls = {}

    def test_has_a_server_without_flags(self, kube):
        TestFlags.urls["none"] = kube.url
        assert ask(kube, "GET", "/api/v1/nodes")[0] == 200

    @pytest.mark.kube(flags=["--authorization", "rbac"])
    def test_has_a_server_with_rules(self, kube):
        TestFlags.urls["rbac"] = kube.url
        assert ask(kube, "GET", "/api/v1/nodes")[0] == 403
        kube.create(config_map("by-the-administrator"))

    @pytest.mark.kube(flags=["--authorization", "rbac"])
    def test_shares_it_with_tests_of_these_flags(self, kube):
        assert kube.url == TestFlags.urls["rbac"] != TestFlags.urls["none"]
        names = [name for (_, _, _, name) in state(kube)[1]]
        assert "by-the-administrator" not in names


def test_the_cluster_keeps_what_tests_leave(kube_cluster):
    kube_cluster.create(config_map("kept"))


def test_the_cluster_is_not_that_of_kube(kube, kube_cluster):
    assert kube.url != kube_cluster.url
    assert ask(kube_cluster, "GET", "/api/v1/namespaces/default/configmaps/kept")[0] == 200
    assert ask(kube, "GET", "/api/v1/namespaces/default/configmaps/kept")[0] == 404
