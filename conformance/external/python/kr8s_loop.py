"""A process under test: a list and watch loop with PyPI's `kr8s`, in the words of conformance/docs/external.md.

    conformance score --against tcp --subject external --command "python3 conformance/external/python/kr8s_loop.py"

A watch of kr8s without a version begins with an event for each object, and the loop lists before it for those that are
gone.
"""

import json
import sys
import threading
import time
from importlib import metadata

import kr8s

RETRY_S = 1

output = threading.RLock()


def say(what, **fields):
    """Writes a line."""
    with output:
        print(json.dumps({"say": what, **fields}), flush=True)


def state_of(found):
    """Returns an object's key, uid and version."""
    meta = found.metadata
    key = f"{meta.namespace}/{meta.name}" if "namespace" in meta else meta.name
    return {"key": key, "uid": meta.uid, "resourceVersion": meta.resourceVersion}


class Mirror:
    """A dictionary of the objects of one selection."""

    def __init__(self, command):
        self.api = kr8s.api(url=command["server"])
        self.kind = command["resource"]
        self.selection = {"namespace": command["namespace"] or kr8s.ALL}
        if command["labelSelector"]:
            self.selection["label_selector"] = command["labelSelector"]
        self.cache = {}
        self.has_synced = False

    def run(self):
        """Lists and watches for ever."""
        while True:
            try:
                self.list()
                for event, found in self.api.watch(self.kind, **self.selection):
                    if event == "DELETED":
                        self.remove(state_of(found), is_tombstone=False)
                    elif event in ("ADDED", "MODIFIED"):
                        self.put(state_of(found))
            except Exception as error:  # The loop has to outlive every failure.
                print(repr(error), file=sys.stderr)
            time.sleep(RETRY_S)

    def list(self):
        """Makes the dictionary equal to a list."""
        found = {state["key"]: state for state in map(state_of, self.api.get(self.kind, **self.selection))}
        for key in self.cache.keys() - found.keys():
            self.remove(self.cache[key], is_tombstone=True)
        for state in found.values():
            self.put(state)
        if not self.has_synced:
            self.has_synced = True
            say("synced")

    def put(self, new):
        """Stores an object that was added or changed."""
        with output:
            old = self.cache.get(new["key"])
            if old is not None and old["uid"] != new["uid"]:
                # Another object of the same name: the deletion was missed.
                self.remove(old, is_tombstone=True)
                old = None
            self.cache[new["key"]] = new
            if old is None:
                say("added", object=new)
            elif old != new:
                say("updated", old=old, new=new)

    def remove(self, last, is_tombstone):
        """Forgets an object that is gone."""
        with output:
            if self.cache.pop(last["key"], None) is not None:
                say("deleted", object=last, isTombstone=is_tombstone)

    def held(self):
        """Returns all states."""
        return list(self.cache.values())


def main():
    """Carries out each line of the input, until there are no more."""
    mirror = None
    say("hello", library="kr8s", version=metadata.version("kr8s"))
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "start":
            mirror = Mirror(command)
            threading.Thread(target=mirror.run, daemon=True).start()
        elif command["do"] == "cache":
            with output:
                say("cache", objects=mirror.held())


main()
