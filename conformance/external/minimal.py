"""A process under test with nothing but Python's standard library, in the words of conformance/docs/external.md.

    conformance score --against tcp --subject external --command "python3 conformance/external/minimal.py"

A small informer: it lists, watches, goes on where a watch ended, and lists again when that is too long ago.
"""

import http.client
import json
import sys
import threading
import urllib.parse

# A server that has nothing to tell sends a bookmark a minute: after this a stream is given up.
SILENCE_S = 150
ANSWER_S = 30
WATCH_S = 300
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30

output = threading.RLock()


def say(what, **fields):
    """Writes a line."""
    with output:
        print(json.dumps({"say": what, **fields}), flush=True)


def stated(found):
    """An object's key, and what is said of it."""
    meta = found["metadata"]
    key = f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else meta["name"]
    return {"key": key, "uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}


class Gone(Exception):
    """The version is too old: only a list helps."""


class Mirror:
    """Keeps what the server holds of one selection."""

    def __init__(self, command):
        self.server = urllib.parse.urlsplit(command["server"])
        namespace = f"/namespaces/{command['namespace']}" if command["namespace"] else ""
        self.path = f"/api/v1{namespace}/{command['resource']}"
        self.selector = command["labelSelector"]
        self.cache = {}
        self.lock = threading.Lock()
        self.version = None
        self.has_synced = False
        self.wait_s = FIRST_WAIT_S

    def run(self):
        """Lists and watches for ever."""
        pause = threading.Event()
        while True:
            try:
                if self.version is None:
                    self.list()
                self.watch()
                # A watch that ends at once, and brings nothing, has to be waited for as well.
            except Gone:
                self.version = None
            except (OSError, ValueError, KeyError, http.client.HTTPException):
                pass
            pause.wait(self.wait_s)
            self.wait_s = min(self.wait_s * 2, LONGEST_WAIT_S)

    def get(self, timeout_s, **parameters):
        """Asks, and gives the answer once it begins."""
        if self.selector:
            parameters["labelSelector"] = self.selector
        connection = http.client.HTTPConnection(self.server.hostname, self.server.port, timeout=timeout_s)
        connection.request("GET", f"{self.path}?{urllib.parse.urlencode(parameters)}", headers={"Accept": "application/json"})
        answer = connection.getresponse()
        if answer.status == 410:
            raise Gone
        if answer.status != 200:
            raise OSError(answer.status)
        return answer

    def list(self):
        """Replaces the cache by what the server holds."""
        found = json.load(self.get(ANSWER_S))
        version = found["metadata"]["resourceVersion"]
        there = [stated(item) for item in found["items"]]
        for state in there:
            self.there(state, is_initial=not self.has_synced)
        keys = {state["key"] for state in there}
        for key in [key for key in self.cache if key not in keys]:
            self.gone(self.cache[key], is_tombstone=True)
        self.version = version
        if not self.has_synced:
            self.has_synced = True
            say("synced")

    def watch(self):
        """Follows the server until the stream ends."""
        answer = self.get(
            SILENCE_S, watch=1, allowWatchBookmarks=1, timeoutSeconds=WATCH_S, resourceVersion=self.version
        )
        while line := answer.readline():
            event = json.loads(line)
            if event["type"] == "ERROR":
                if event["object"].get("code") == 410:
                    raise Gone
                raise OSError(event["object"].get("message"))
            self.wait_s = FIRST_WAIT_S
            if event["type"] in ("ADDED", "MODIFIED"):
                self.there(stated(event["object"]))
            elif event["type"] == "DELETED":
                self.gone(stated(event["object"]))
            self.version = event["object"]["metadata"]["resourceVersion"]

    def there(self, new, is_initial=False):
        """An object is there: the cache first, then its handler."""
        with self.lock:
            old = self.cache.get(new["key"])
            self.cache[new["key"]] = new
        if old is not None and old["uid"] != new["uid"]:
            # Another object of the same name: the end of the old one was missed.
            say("deleted", object=old, isTombstone=True)
            old = None
        if old is None:
            say("added", object=new, isInitial=is_initial)
        elif old != new:
            say("updated", old=old, new=new)

    def gone(self, last, is_tombstone=False):
        """An object is gone."""
        with self.lock:
            old = self.cache.pop(last["key"], None)
        if old is not None:
            say("deleted", object=last, isTombstone=is_tombstone)

    def held(self):
        """What the cache holds."""
        with self.lock:
            return list(self.cache.values())


def main():
    """Does what each line of the input says, until there are no more."""
    mirror = None
    say("hello", library="minimal.py")
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "start":
            mirror = Mirror(command)
            # It ends with the process, wherever it waits.
            threading.Thread(target=mirror.run, daemon=True).start()
        elif command["do"] == "cache":
            # Nothing is said in between: what was said before is in the cache.
            with output:
                say("cache", objects=mirror.held())


main()
