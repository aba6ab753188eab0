"""Makes two config maps for a database, the settings and the credentials, whose names the server completes and the status tells.

What an earlier attempt has made is adopted. The bug: it is adopted without a look at what it was made for.
"""

from kit import BUGGY, Client, Informer, Queue, is_deleting, is_owned, start, watch_owners

DATABASES = "/apis/subjects.example/v1/namespaces/default/databases"
MAPS = "/api/v1/namespaces/default/configmaps"

client = Client()
queue = Queue()
databases = Informer(client, DATABASES.replace("/namespaces/default", ""))
maps = Informer(client, MAPS.replace("/namespaces/default", ""))


def ensure(role, database, children):
    """Returns the name of the child for `role`, among those that were there before or made now."""
    name = database["metadata"]["name"]
    known = database.get("status", {}).get(role)
    for child in children:
        if child["metadata"]["name"] == known:
            return known
    for child in children:
        if BUGGY or child["metadata"]["labels"]["role"] == role:
            return child["metadata"]["name"]
    child = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"generateName": f"{name}-", "labels": {"database": name, "role": role}},
        "data": {"for": name},
    }
    created = client.create_owned(MAPS, database, f"{DATABASES}/{name}", child)
    return created and created["metadata"]["name"]


def reconcile(key):
    database = databases.get(key)
    if database is None or is_deleting(database):
        return
    name = database["metadata"]["name"]
    children = client.list(MAPS, database=name)
    children = [child for child in children if is_owned(child, database) and not is_deleting(child)]
    status = {role: ensure(role, database, children) for role in ("settings", "credentials")}
    if all(status.values()):
        client.set_status(f"{DATABASES}/{name}", database, status)


watch_owners(queue, databases, maps)
start(databases, maps)
queue.work(reconcile)
