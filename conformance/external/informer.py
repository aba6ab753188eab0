"""A process under test: the SharedInformer of PyPI's `kubernetes`, in the words of conformance/docs/external.md.

    conformance score --against tcp --subject external --command "python3 conformance/external/informer.py"
"""

import functools
import json
import logging
import sys
import threading
from importlib import metadata

from kubernetes import client
from kubernetes.informer import ADDED, DELETED, MODIFIED, SharedInformer

LISTS = {
    "pods": ("list_namespaced_pod", "list_pod_for_all_namespaces"),
    "configmaps": ("list_namespaced_config_map", "list_config_map_for_all_namespaces"),
    "nodes": (None, "list_node"),
}

# Standard output belongs to the protocol; what the library logs is not asked for.
logging.disable(logging.CRITICAL)
output = threading.RLock()
# What a handler was told last of each key: the library does not say what an object was before.
known = {}


def say(what, **fields):
    """Writes a line."""
    with output:
        print(json.dumps({"say": what, **fields}), flush=True)


def stated(found):
    """An object's key, uid and version."""
    meta = found.metadata
    key = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
    return {"key": key, "uid": meta.uid, "resourceVersion": meta.resource_version}


def there(found):
    """A handler is told that an object is there."""
    new = stated(found)
    old = known.get(new["key"])
    known[new["key"]] = new
    if old is None:
        say("added", object=new)
    else:
        say("updated", old=old, new=new)


def gone(found):
    """A handler is told that an object is gone; one that was found gone comes as it was last known."""
    last = stated(found)
    old = known.pop(last["key"], None)
    if old is not None:
        say("deleted", object=last, isTombstone=old == last)


def start(command):
    """An informer of what the command asks for, started."""
    configuration = client.Configuration()
    configuration.host = command["server"]
    core = client.CoreV1Api(client.ApiClient(configuration))
    in_namespace, everywhere = LISTS[command["resource"]]
    namespace = command["namespace"]
    list_function = getattr(core, in_namespace if namespace else everywhere)
    first_watch = threading.Event()

    # The library does not say when its cache is complete; it watches from then on.
    @functools.wraps(list_function)
    def listing(*args, **parameters):
        if parameters.get("watch") and not first_watch.is_set():
            first_watch.set()
            say("synced")
        return list_function(*args, **parameters)

    informer = SharedInformer(listing, namespace=namespace, label_selector=command["labelSelector"])
    informer.add_event_handler(ADDED, there)
    informer.add_event_handler(MODIFIED, there)
    informer.add_event_handler(DELETED, gone)
    informer.start()
    return informer


def main():
    """Does what each line of the input says, until there are no more."""
    informer = None
    # Its events pass over states, and it does not tell when an object takes the place of another one.
    say("hello", library="kubernetes", version=metadata.version("kubernetes"), replacesByUpdate=True)
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "start":
            informer = start(command)
        elif command["do"] == "cache":
            # Nothing is said in between: what was said before is in the cache.
            with output:
                say("cache", objects=[stated(found) for found in informer.cache.list()])
    # The watch may be waiting for the server; the process does not wait for it.


main()
