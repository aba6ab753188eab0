"""Makes a config map and, once in the life of a cluster, a secret. The status tells that this is done: who rotates the secret away
does not get it back.

The bug: the status says so before the secret is there.
"""

from kit import BUGGY, Client, Informer, Queue, is_deleting, start, watch_owners

CLUSTERS = "/apis/subjects.example/v1/namespaces/default/clusters"
MAPS = "/api/v1/namespaces/default/configmaps"
SECRETS = "/api/v1/namespaces/default/secrets"

client = Client()
queue = Queue()
clusters = Informer(client, CLUSTERS.replace("/namespaces/default", ""))
maps = Informer(client, MAPS.replace("/namespaces/default", ""))


def make_config(cluster, name):
    data = {"size": str(cluster["spec"]["size"])}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-config"}, "data": data}
    there = maps.get(f"default/{name}-config") or client.create_owned(MAPS, cluster, f"{CLUSTERS}/{name}", config)
    if there and there["data"] != data:
        version = there["metadata"]["resourceVersion"]
        client.patch(f"{MAPS}/{name}-config", {"metadata": {"resourceVersion": version}, "data": data})
    return there


def make_token(cluster, name):
    token = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"{name}-token"},
        "stringData": {"token": "first"},
    }
    return client.create_owned(SECRETS, cluster, f"{CLUSTERS}/{name}", token)


def reconcile(key):
    cluster = clusters.get(key)
    if cluster is None or is_deleting(cluster):
        return
    name = cluster["metadata"]["name"]
    if not make_config(cluster, name) or cluster.get("status", {}).get("initialised"):
        return
    if BUGGY:
        client.set_status(f"{CLUSTERS}/{name}", cluster, {"initialised": True})
        make_token(cluster, name)
    elif make_token(cluster, name):
        client.set_status(f"{CLUSTERS}/{name}", cluster, {"initialised": True})


watch_owners(queue, clusters, maps)
start(clusters, maps)
queue.work(reconcile)
