"""Makes a config map for each coupon, whose name the server completes, and tells the name in the status. On PyPI's `kubernetes`.

What an earlier attempt has made is found by its label. The bug: a create is sent again without a look, though the answer to the
first may have been lost.
"""

import sys
import time

from kubernetes import client, config, watch
from urllib3.exceptions import HTTPError

BUGGY = "--buggy" in sys.argv
PAUSE = 0.1
# Of a request and of a watch, in seconds.
REQUEST_LIMIT, WATCH_LIMIT = 10, 30

config.load_kube_config()
objects = client.CustomObjectsApi()
core = client.CoreV1Api()
COUPONS = {"group": "subjects.example", "version": "v1", "plural": "coupons"}


def create(coupon):
    """Returns the name of the coupon's config map, which is there after that."""
    metadata = coupon["metadata"]
    label = {"coupon": metadata["uid"]}
    if not BUGGY:
        made = core.list_namespaced_config_map(
            "default", label_selector=f"coupon={metadata['uid']}", _request_timeout=REQUEST_LIMIT
        )
        if made.items:
            return made.items[0].metadata.name
    owner = {"apiVersion": "subjects.example/v1", "kind": "Coupon", "name": metadata["name"], "uid": metadata["uid"]}
    child = {
        "metadata": {"generateName": f"{metadata['name']}-", "labels": label, "ownerReferences": [owner]},
        "data": {"percent": str(coupon["spec"]["percent"])},
    }
    return core.create_namespaced_config_map("default", child, _request_timeout=REQUEST_LIMIT).metadata.name


def reconcile(name):
    """Looks at a coupon as it is at the server now, for what a watch tells may be old."""
    try:
        coupon = objects.get_namespaced_custom_object(
            **COUPONS, namespace="default", name=name, _request_timeout=REQUEST_LIMIT
        )
    except client.ApiException as error:
        if error.status == 404:
            return
        raise
    if "deletionTimestamp" in coupon["metadata"] or coupon.get("status", {}).get("code"):
        return
    body = {"metadata": {"resourceVersion": coupon["metadata"]["resourceVersion"]}, "status": {"code": create(coupon)}}
    objects.patch_namespaced_custom_object_status(
        **COUPONS, namespace="default", name=name, body=body, _request_timeout=REQUEST_LIMIT
    )


def follow():
    """Reconciles all coupons, and then those that change, until the watch ends."""
    page = objects.list_cluster_custom_object(**COUPONS, _request_timeout=REQUEST_LIMIT)
    for coupon in page["items"]:
        reconcile(coupon["metadata"]["name"])
    changes = watch.Watch().stream(
        objects.list_cluster_custom_object,
        **COUPONS,
        resource_version=page["metadata"]["resourceVersion"],
        timeout_seconds=WATCH_LIMIT,
        _request_timeout=2 * WATCH_LIMIT,
    )
    for change in changes:
        if change["type"] != "DELETED":
            reconcile(change["object"]["metadata"]["name"])


while True:
    try:
        follow()
    except (client.ApiException, HTTPError, OSError) as error:
        print(repr(error), flush=True)
    time.sleep(PAUSE)
