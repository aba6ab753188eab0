"""Keeps as many pods as a pool wants. The server names them.

The cache holds what the operator made itself, so that it does not count too few while the watch is behind. The bug: a process that
was restarted counts the pods of a list that may be old.
"""

from kit import BUGGY, Client, Informer, Queue, is_deleting, is_owned, start, watch_owners

POOLS = "/apis/subjects.example/v1/namespaces/default/pools"
PODS = "/api/v1/namespaces/default/pods"

client = Client()
queue = Queue()
pools = Informer(client, POOLS.replace("/namespaces/default", ""))
pods = Informer(client, PODS.replace("/namespaces/default", ""))


def living(found, pool):
    mine = [pod for pod in found if is_owned(pod, pool) and not is_deleting(pod)]
    return sorted(mine, key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]))


def pod_of(name):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": f"{name}-", "labels": {"pool": name}},
        "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]},
    }


def reconcile(key):
    pool = pools.get(key)
    if pool is None or is_deleting(pool):
        return
    name, wanted = pool["metadata"]["name"], pool["spec"]["replicas"]
    mine = living(pods.all(), pool)
    if len(mine) != wanted:
        if not BUGGY:
            mine = living(client.list(PODS, pool=name), pool)
        for _ in range(len(mine), wanted):
            created = client.create_owned(PODS, pool, f"{POOLS}/{name}", pod_of(name))
            if created is None:
                return
            pods.remember(created)
        for pod in mine[wanted:]:
            client.delete(f"{PODS}/{pod['metadata']['name']}", pod["metadata"]["uid"])
        return 0.5
    if all(pod.get("status", {}).get("phase") == "Running" for pod in mine):
        client.set_status(f"{POOLS}/{name}", pool, {"ready": wanted})


watch_owners(queue, pools, pods)
start(pools, pods)
queue.work(reconcile)
