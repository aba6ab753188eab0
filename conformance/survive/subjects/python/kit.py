"""What the operators in Python have in common: requests, a cache that a watch keeps, and a queue. The standard library alone."""

import http.client
import json
import os
import sys
import threading
import time
import urllib.parse

BUGGY = "--buggy" in sys.argv

FIRST_WAIT = 0.05
LONGEST_WAIT = 2.0


class ApiError(Exception):
    """An answer that is no success."""

    def __init__(self, code, status, retry_after=None):
        super().__init__(f"{code}: {status.get('message', '')}")
        self.code = code
        self.retry_after = retry_after


FAILURES = (ApiError, OSError, http.client.HTTPException, ValueError)


class Client:
    """Sends requests, each on a connection of its own, so that none is sent twice unnoticed."""

    def __init__(self):
        with open(os.environ["KUBECONFIG"], encoding="utf-8") as file:
            server = json.load(file)["clusters"][0]["cluster"]["server"]
        self.address = urllib.parse.urlsplit(server).netloc

    def open(self, method, path, body=None, media_type="application/json", timeout=10):
        connection = http.client.HTTPConnection(self.address, timeout=timeout)
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"Content-Type": media_type})
        answer = connection.getresponse()
        if answer.status < 300:
            return answer
        try:
            status = json.loads(answer.read())
        except ValueError:
            status = {}
        after = answer.getheader("Retry-After")
        raise ApiError(answer.status, status, float(after) if after else None)

    def request(self, *arguments, **options):
        with self.open(*arguments, **options) as answer:
            return json.loads(answer.read())

    def get(self, path):
        """Returns an object as it is at the server now, or None."""
        try:
            return self.request("GET", path)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def list(self, path, **labels):
        """Returns objects as they are at the server now."""
        selector = ",".join(f"{name}={value}" for name, value in labels.items())
        return self.request("GET", f"{path}?labelSelector={urllib.parse.quote(selector)}")["items"]

    def patch(self, path, body):
        return self.request("PATCH", path, body, media_type="application/merge-patch+json")

    def delete(self, path, uid=None):
        """Deletes an object, only if it has this uid. It may be gone, or another one by now."""
        options = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if uid:
            options["preconditions"] = {"uid": uid}
        try:
            self.request("DELETE", path, options)
        except ApiError as error:
            if error.code != 404:
                raise

    def create_owned(self, collection, owner, path_of_owner, object):
        """Creates an object for `owner`, if that is still there. What it left behind before counts as created."""
        live = self.get(path_of_owner)
        if not live or live["metadata"]["uid"] != owner["metadata"]["uid"] or is_deleting(live):
            return None
        object["metadata"]["ownerReferences"] = [owner_reference(owner)]
        try:
            return self.request("POST", collection, object)
        except ApiError as error:
            if error.code != 409 or "name" not in object["metadata"]:
                raise
            there = self.get(f"{collection}/{object['metadata']['name']}")
            if there and is_owned(there, owner) and not is_deleting(there):
                return there
            # It is another one's, which the garbage collector takes soon.
            raise

    def set_status(self, path, object, status):
        """Writes a status, unless it is there already. The object must be the one that was read."""
        if object.get("status") != status:
            version = object["metadata"]["resourceVersion"]
            self.patch(f"{path}/status", {"metadata": {"resourceVersion": version}, "status": status})


class Informer:
    """Keeps a copy of a resource by a list and a watch."""

    def __init__(self, client, path):
        self.client, self.path = client, path
        self.objects = {}
        self.version = "0"
        self.handlers = []
        self.lock = threading.Lock()
        self.synced = threading.Event()

    def start(self):
        threading.Thread(target=self.run, daemon=True).start()
        return self

    def get(self, key):
        with self.lock:
            return self.objects.get(key)

    def all(self):
        with self.lock:
            return list(self.objects.values())

    def remember(self, object):
        """Puts the answer to a create into the copy, where the watch has not done so yet."""
        with self.lock:
            self.objects.setdefault(key_of(object), object)

    def run(self):
        wait = FIRST_WAIT
        while True:
            try:
                page = self.client.request("GET", f"{self.path}?resourceVersion={self.version}")
                self.replace(page["items"])
                self.version = page["metadata"]["resourceVersion"]
                self.synced.set()
                while True:
                    wait = FIRST_WAIT
                    self.watch()
            except FAILURES as error:
                # The server no longer has this version: the list restarts.
                if isinstance(error, ApiError) and error.code == 410:
                    self.version = "0"
                print(f"{self.path}: {error!r}", flush=True)
                time.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)

    def watch(self):
        """Follows the changes until the server ends the watch."""
        query = f"watch=true&allowWatchBookmarks=true&resourceVersion={self.version}"
        with self.client.open("GET", f"{self.path}?{query}", timeout=None) as answer:
            try:
                for line in answer:
                    event = json.loads(line)
                    kind, object = event["type"], event["object"]
                    if kind == "ERROR":
                        raise ApiError(object.get("code", 500), object)
                    self.version = object["metadata"]["resourceVersion"]
                    if kind != "BOOKMARK":
                        self.take(object, kind == "DELETED")
            except (OSError, http.client.HTTPException) as error:
                print(f"{self.path}: {error!r}", flush=True)
        time.sleep(FIRST_WAIT)

    def take(self, object, is_deleted):
        key = key_of(object)
        with self.lock:
            old = self.objects.pop(key, None)
            if not is_deleted:
                self.objects[key] = object
        for handler in self.handlers:
            handler(old or object, None if is_deleted else object)

    def replace(self, items):
        keys = {key_of(item) for item in items}
        gone = [object for object in self.all() if key_of(object) not in keys]
        for object in gone:
            self.take(object, True)
        for item in items:
            self.take(item, False)


class Queue:
    """The keys to look at, each with the time when. A failure makes a key wait, each time longer."""

    def __init__(self):
        self.due = {}
        self.waits = {}
        self.condition = threading.Condition()

    def add(self, key, after=0.0):
        with self.condition:
            due = time.monotonic() + after
            self.due[key] = min(due, self.due.get(key, due))
            self.condition.notify()

    def get(self):
        with self.condition:
            while True:
                now = time.monotonic()
                key = min(self.due, key=self.due.get, default=None)
                if key is not None and self.due[key] <= now:
                    del self.due[key]
                    return key
                self.condition.wait(None if key is None else self.due[key] - now)

    def work(self, reconcile):
        """Calls `reconcile` with each key, for ever. It returns after how many seconds it has to be called again, or None."""
        while True:
            key = self.get()
            try:
                again = reconcile(key)
            except FAILURES as error:
                print(f"{key}: {error!r}", flush=True)
                wait = self.waits.get(key, FIRST_WAIT)
                self.waits[key] = min(2 * wait, LONGEST_WAIT)
                self.add(key, getattr(error, "retry_after", None) or wait)
                continue
            self.waits.pop(key, None)
            if again:
                self.add(key, again)


def start(*informers):
    """Starts informers, and waits for their first lists."""
    for informer in informers:
        informer.start()
    for informer in informers:
        informer.synced.wait()


def key_of(object):
    metadata = object["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def is_deleting(object):
    return "deletionTimestamp" in object["metadata"]


def owner_reference(owner):
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }


def is_owned(object, owner):
    references = object["metadata"].get("ownerReferences", [])
    return any(reference["uid"] == owner["metadata"]["uid"] for reference in references)


def owner_key(object):
    """Returns the key of the owner, or None."""
    for reference in object["metadata"].get("ownerReferences", []):
        if reference.get("controller"):
            return f"{object['metadata'].get('namespace', '')}/{reference['name']}"
    return None


def watch_owners(queue, owners, *dependents):
    """Queues owners that change, and those of dependents that change."""
    owners.handlers.append(lambda old, new: queue.add(key_of(old)))
    for informer in dependents:
        informer.handlers.append(lambda old, new: owner_key(old) and queue.add(owner_key(old)))
