"""Copies beacons to config maps. Of several copies of the operator the one that holds a lease works.

The bug: once it was the leader, it takes itself for the leader for ever.
"""

import datetime
import os
import threading
import time
from pathlib import Path

from kit import BUGGY, FAILURES, Client, Informer, Queue, is_deleting, key_of, owner_reference, start

BEACONS = "/apis/subjects.example/v1/namespaces/default/beacons"
MAPS = "/api/v1/namespaces/default/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
# A copy that is started again has the name that it had, as in a stateful set.
IDENTITY = Path(os.environ["KUBECONFIG"]).parent.name
DURATION = 2
RETRY = 0.4

client = Client()
queue = Queue()
beacons = Informer(client, BEACONS.replace("/namespaces/default", ""))


class Lease:
    """The lease, as this copy knows it."""

    def __init__(self):
        self.valid_until = 0.0
        self.seen = (None, 0.0)

    def is_held(self):
        return time.monotonic() < self.valid_until

    def run(self):
        while True:
            before = time.monotonic()
            try:
                if self.renew():
                    was_held = self.is_held()
                    self.valid_until = float("inf") if BUGGY else before + DURATION
                    if not was_held:
                        for beacon in beacons.all():
                            queue.add(key_of(beacon))
            except FAILURES as error:
                print(f"lease: {error!r}", flush=True)
            time.sleep(RETRY)

    def renew(self):
        """Takes or renews the lease. Returns whether it is this copy's."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": IDENTITY, "leaseDurationSeconds": DURATION, "renewTime": now}
        lease = client.get(f"{LEASES}/beacons")
        if lease is None:
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "beacons"}}
            lease["spec"] = spec
            client.request("POST", LEASES, lease)
            return True
        held = lease.get("spec", {})
        if held.get("holderIdentity") != IDENTITY:
            # Another one's is over when it has not changed for as long as it lasts, by the clock of this copy.
            if self.seen[0] != lease["metadata"]["resourceVersion"]:
                self.seen = (lease["metadata"]["resourceVersion"], time.monotonic())
            if time.monotonic() < self.seen[1] + DURATION:
                return False
        lease["spec"] = {**held, **spec}
        client.request("PUT", f"{LEASES}/beacons", lease)
        return True


def reconcile(key):
    beacon = beacons.get(key)
    if beacon is None or is_deleting(beacon) or not lease.is_held():
        return
    name = beacon["metadata"]["name"]
    metadata = {"name": name, "ownerReferences": [owner_reference(beacon)]}
    child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"text": beacon["spec"]["text"]}}
    there = client.get(f"{MAPS}/{name}")
    if there and there["metadata"].get("ownerReferences", [{}])[0].get("uid") != beacon["metadata"]["uid"]:
        # It is an earlier beacon's; the garbage collector takes it.
        return 0.2
    live = client.get(f"{BEACONS}/{name}")
    if live is None or live["metadata"]["uid"] != beacon["metadata"]["uid"]:
        return 0.2
    if not lease.is_held():
        return
    client.request(
        "PATCH",
        f"{MAPS}/{name}?fieldManager=beacons&force=true",
        child,
        media_type="application/apply-patch+yaml",
    )
    if not lease.is_held():
        return
    client.set_status(f"{BEACONS}/{name}", beacon, {"text": beacon["spec"]["text"]})


beacons.handlers.append(lambda old, new: queue.add(key_of(old)))
lease = Lease()
start(beacons)
threading.Thread(target=lease.run, daemon=True).start()
queue.work(reconcile)
