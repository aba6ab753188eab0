"""A watch with the typed client: through a disconnect by itself, and after 410 with a new list."""

from kubernetes import client, watch
from support import LIMIT_SECONDS, check, config_map, control, core, create_namespace

SPACE, ELSEWHERE = "watching", "elsewhere"
create_namespace(SPACE)
create_namespace(ELSEWHERE)


def events(version):
    """Opens a watch of the config maps from a version."""
    return watch.Watch().stream(
        core.list_namespaced_config_map,
        namespace=SPACE,
        resource_version=version,
        _request_timeout=LIMIT_SECONDS,
    )


def following(stream):
    """The next event, as its type, its name and its data."""
    event = next(stream)
    found = event["object"]
    return event["type"], found.metadata.name, found.data


listed = core.list_namespaced_config_map(SPACE)
stream = events(listed.metadata.resource_version)
core.create_namespaced_config_map(SPACE, config_map("one", step="1"))
check("an object is added", following(stream), ("ADDED", "one", {"step": "1"}))
core.patch_namespaced_config_map("one", SPACE, {"data": {"step": "2"}})
check("an object is modified", following(stream), ("MODIFIED", "one", {"step": "2"}))

control("disconnect")
core.patch_namespaced_config_map("one", SPACE, {"data": {"step": "3"}})
check("the watch goes on after a disconnect", following(stream), ("MODIFIED", "one", {"step": "3"}))
core.delete_namespaced_config_map("one", SPACE)
check("an object is deleted", following(stream), ("DELETED", "one", {"step": "3"}))

# Its version gets old by what happens elsewhere; then it may not start there any more.
core.create_namespaced_config_map(SPACE, config_map("two"))
core.create_namespaced_config_map(ELSEWHERE, config_map("other"))
control("expire")
control("disconnect")
try:
    # What was sent before the end is still delivered.
    event = following(stream)
    while event[0] == "ADDED":
        event = following(stream)
    check("a watch from an expired version ends", event, "410")
except client.ApiException as error:
    check("a watch from an expired version ends", error.status, 410)

relisted = core.list_namespaced_config_map(SPACE)
check("a new list shows what was missed", [item.metadata.name for item in relisted.items], ["two"])
stream = events(relisted.metadata.resource_version)
core.create_namespaced_config_map(SPACE, config_map("three"))
check("and a new watch goes on from there", following(stream), ("ADDED", "three", None))
