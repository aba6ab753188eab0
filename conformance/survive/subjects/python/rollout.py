"""Rolls a stateful set out, whose pods are replaced only when they are deleted: one pod after the other, while all are ready.

The bug: it deletes by name. While its cache is behind, it deletes the new pod of that name, too.
"""

from kit import BUGGY, ApiError, Client, Informer, Queue, is_deleting, key_of, start

ROLLOUTS = "/apis/subjects.example/v1/namespaces/default/rollouts"
SETS = "/apis/apps/v1/namespaces/default/statefulsets"
PODS = "/api/v1/namespaces/default/pods"

client = Client()
queue = Queue()
rollouts = Informer(client, ROLLOUTS.replace("/namespaces/default", ""))
sets = Informer(client, SETS.replace("/namespaces/default", ""))
pods = Informer(client, PODS.replace("/namespaces/default", ""))


def version_of(metadata):
    return metadata.get("annotations", {}).get("version")


def is_ready(pod):
    conditions = pod.get("status", {}).get("conditions", [])
    return any(it["type"] == "Ready" and it["status"] == "True" for it in conditions) and not is_deleting(pod)


def reconcile(key):
    rollout = rollouts.get(key)
    if rollout is None or is_deleting(rollout):
        return
    name, version = rollout["spec"]["set"], rollout["spec"]["version"]
    found = sets.get(f"default/{name}")
    if found is None or is_deleting(found):
        return
    template = found["spec"]["template"]
    if version_of(template["metadata"]) != version:
        # Of this very set, and not of one that has its name by now.
        metadata = {"resourceVersion": found["metadata"]["resourceVersion"]}
        change = {"template": {"metadata": {"annotations": {"version": version}}}}
        client.patch(f"{SETS}/{name}", {"metadata": metadata, "spec": change})
        return 0.3
    mine = [pod for pod in pods.all() if pod["metadata"].get("labels", {}).get("app") == name]
    ready = [pod for pod in mine if is_ready(pod)]
    if len(mine) != found["spec"]["replicas"] or len(ready) != len(mine):
        return 0.3
    old = sorted((pod for pod in mine if version_of(pod["metadata"]) != version), key=key_of)
    if old:
        uid = None if BUGGY else old[0]["metadata"]["uid"]
        try:
            client.delete(f"{PODS}/{old[0]['metadata']['name']}", uid)
        except ApiError as error:
            if error.code != 409:
                raise
            # It is another pod by now; the cache is behind.
        return 0.3
    client.set_status(f"{ROLLOUTS}/{rollout['metadata']['name']}", rollout, {"version": version})


def changed(old, new):
    for rollout in rollouts.all():
        queue.add(key_of(rollout))


for informer in (rollouts, sets):
    informer.handlers.append(changed)
start(rollouts, sets, pods)
queue.work(reconcile)
