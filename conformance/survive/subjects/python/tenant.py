"""Makes a config map for each tenant in another namespace, where owner references do not reach. The colour of a tenant never changes.

The bug: it removes the config map only when it sees the deletion of the tenant.
"""

from kit import BUGGY, ApiError, Client, Informer, Queue, is_deleting, key_of, start

TENANTS = "/apis/subjects.example/v1/tenants"
MAPS = "/api/v1/namespaces/kube-public/configmaps"

client = Client()
queue = Queue()
tenants = Informer(client, TENANTS)
maps = Informer(client, MAPS)


def child_of(tenant):
    return f"{tenant['metadata']['name']}-{tenant['spec']['colour']}"


def create(tenant):
    labels = {"tenant": tenant["metadata"]["name"]}
    child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": child_of(tenant), "labels": labels}}
    try:
        client.request("POST", MAPS, child)
    except ApiError as error:
        # Whose it is, its name tells.
        if error.code != 409 or not client.get(f"{MAPS}/{child_of(tenant)}"):
            raise


def reconcile(key):
    if key.startswith("gone/"):
        client.delete(f"{MAPS}/{key.removeprefix('gone/')}")
        return
    tenant = tenants.get(key)
    wanted = None if tenant is None or is_deleting(tenant) else child_of(tenant)
    if not BUGGY:
        for child in client.list(MAPS, tenant=key.split("/")[1]):
            if child["metadata"]["name"] != wanted and not is_deleting(child):
                client.delete(f"{MAPS}/{child['metadata']['name']}", child["metadata"]["uid"])
    if wanted and not maps.get(f"kube-public/{wanted}"):
        create(tenant)


def tenant_changed(old, new):
    if BUGGY and new is None:
        queue.add(f"gone/{child_of(old)}")
    queue.add(key_of(old))


def child_changed(old, new):
    tenant = old["metadata"].get("labels", {}).get("tenant")
    if tenant:
        queue.add(f"default/{tenant}")


tenants.handlers.append(tenant_changed)
maps.handlers.append(child_changed)
start(tenants, maps)
queue.work(reconcile)
