"""The dynamic client: it discovers what the server has, and applies configurations."""

import json
import tempfile

from kubernetes import dynamic
from kubernetes.dynamic.exceptions import ConflictError
from support import LIMIT_SECONDS, accepted, check, core, create_namespace

SPACE = "dynamic"
create_namespace(SPACE)

with tempfile.NamedTemporaryFile() as cache:
    # A cache of its own: the server of another run had other resources.
    api = dynamic.DynamicClient(core.api_client, cache_file=cache.name + ".json")

check("it finds the version of the server", "major" in api.version["kubernetes"], True)
services = api.resources.get(api_version="v1", kind="Service")
deployments = api.resources.get(api_version="apps/v1", kind="Deployment")
check("resources are discovered", (services.name, deployments.name), ("services", "deployments"))
check("scope is discovered", api.resources.get(api_version="v1", kind="Node").namespaced, False)

config_maps = api.resources.get(api_version="v1", kind="ConfigMap")


def apply(manager, force=None, **data):
    """Applies a config map."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": data}
    return api.server_side_apply(
        config_maps, body=body, namespace=SPACE, field_manager=manager, force_conflicts=force
    )


made = apply("first", colour="green", size="9")
check("apply creates", made.data.to_dict(), {"colour": "green", "size": "9"})
made = apply("first", colour="red")
check("apply takes away what is applied no more", made.data.to_dict(), {"colour": "red"})
try:
    made = apply("second", colour="blue")
    check("a conflict is refused", made.to_dict(), "an error")
except ConflictError as error:
    causes = json.loads(error.body)["details"]["causes"]
    check("a conflict is refused", [cause["field"] for cause in causes], [".data.colour"])
made = apply("second", force=True, colour="blue")
owners = sorted((entry["manager"], entry["operation"]) for entry in made.metadata.managedFields)
check("force takes the field over", made.data.colour, "blue")
check("and its owner is the new one", owners, [("second", "Apply")])

found = config_maps.get(name="settings", namespace=SPACE)
check("get", found.data.colour, "blue")
listed = config_maps.get(namespace=SPACE, label_selector="!absent")
check("list", [item.metadata.name for item in listed.items], ["settings"])
made = config_maps.patch(
    body={"metadata": {"name": "settings"}, "data": {"size": "7"}},
    namespace=SPACE,
    content_type="application/merge-patch+json",
)
check("patch", made.data.to_dict(), {"colour": "blue", "size": "7"})

# Older clients know no streaming lists: their watch begins with what is there, and has no bookmark.
streaming = accepted(config_maps.watch, send_initial_events=True)
if streaming:
    streaming.update(resource_version_match="NotOlderThan", allow_watch_bookmarks=True)
stream = config_maps.watch(namespace=SPACE, timeout=LIMIT_SECONDS, **streaming)
event = next(stream)
check("a watch begins with what is there", (event["type"], event["object"].metadata.name), ("ADDED", "settings"))
if streaming:
    event = next(stream)
    marks = event["object"].metadata.annotations["k8s.io/initial-events-end"]
    check("and ends with a bookmark", (event["type"], marks), ("BOOKMARK", "true"))
config_maps.delete(name="settings", namespace=SPACE)
event = next(stream)
check("then come the changes", (event["type"], event["object"].metadata.name), ("DELETED", "settings"))
check("delete", config_maps.get(namespace=SPACE).items, [])
