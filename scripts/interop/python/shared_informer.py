"""The client's own SharedInformer, through a disconnect and an expired version."""

import queue

from kubernetes.informer import ADDED, DELETED, ERROR, MODIFIED, SharedInformer
from support import LIMIT_SECONDS, check, config_map, control, core, create_namespace, until

SPACE, ELSEWHERE = "informed", "elsewhere"
create_namespace(SPACE)
create_namespace(ELSEWHERE)
core.create_namespaced_config_map(SPACE, config_map("one", step="1"))

informer = SharedInformer(core.list_namespaced_config_map, namespace=SPACE)
seen = queue.Queue()
errors = queue.Queue()
for kind in (ADDED, MODIFIED, DELETED):
    informer.add_event_handler(
        kind, lambda found, kind=kind: seen.put((kind, found.metadata.name, found.data))
    )
informer.add_event_handler(ERROR, lambda error: errors.put(getattr(error, "status", error)))


def following():
    """What a handler is told next."""
    return seen.get(timeout=LIMIT_SECONDS)


def watches():
    """How many watches the server has open."""
    return control("stats", "GET")["watchers"]


def requests(verb):
    """How often config maps were listed or watched."""
    return control("stats", "GET")["requests"]["configmaps"].get(verb, 0)


informer.start()
check("what is there is told", following(), (ADDED, "one", {"step": "1"}))
core.patch_namespaced_config_map("one", SPACE, {"data": {"step": "2"}})
check("a change is told", following(), (MODIFIED, "one", {"step": "2"}))
check("the cache has it", informer.cache.get_by_key(f"{SPACE}/one").data, {"step": "2"})

lists, watched = requests("list"), requests("watch")
control("disconnect")
core.create_namespaced_config_map(SPACE, config_map("two"))
check("it goes on after a disconnect", following(), (ADDED, "two", None))
check("without another list", requests("list"), lists)
check("with another watch", requests("watch") > watched, True)

# Its version gets old by what happens elsewhere; then it may not watch from there any more.
core.create_namespaced_config_map(ELSEWHERE, config_map("other"))
control("expire")
control("disconnect")
check("an expired version is an error to it", errors.get(timeout=LIMIT_SECONDS), 410)
until("it lists again", lambda: requests("list") > lists)
told = sorted([following(), following()])
check("and tells what is there", told, [(MODIFIED, "one", {"step": "2"}), (MODIFIED, "two", None)])
until("it watches again", lambda: watches() == 1)
core.delete_namespaced_config_map("one", SPACE)
check("and goes on", following(), (DELETED, "one", {"step": "2"}))
check("the cache is right", informer.cache.list_keys(), [f"{SPACE}/two"])

# One that selects: what leaves the selection is deleted for it.
selected = queue.Queue()
selecting = SharedInformer(core.list_namespaced_config_map, namespace=SPACE, label_selector="tier=gold")
for kind in (ADDED, MODIFIED, DELETED):
    selecting.add_event_handler(kind, lambda found, kind=kind: selected.put((kind, found.metadata.name)))
selecting.start()
until("the one that selects watches", lambda: watches() == 2)
for tier, wanted in (("gold", ADDED), ("silver", DELETED), ("gold", ADDED)):
    core.patch_namespaced_config_map("two", SPACE, {"metadata": {"labels": {"tier": tier}}})
    check(f"a label {tier} is told", selected.get(timeout=LIMIT_SECONDS), (wanted, "two"))
    check("and a change to the other", following(), (MODIFIED, "two", None))
check("nothing else was told", (seen.empty(), errors.empty()), (True, True))
check("nor to the one that selects", selected.empty(), True)
informer.stop()
selecting.stop()
