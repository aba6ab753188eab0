"""Makes initial-objects.jsonl: what a server has by itself, without what differs from one to the next."""

import json
import re

# In this order; others follow.
ORDER = (
    "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations", "flowcontrol.apiserver.k8s.io/flowschemas",
    "scheduling.k8s.io/priorityclasses", "apiregistration.k8s.io/apiservices",
    "rbac.authorization.k8s.io/clusterroles", "rbac.authorization.k8s.io/clusterrolebindings",
    "rbac.authorization.k8s.io/roles", "rbac.authorization.k8s.io/rolebindings",
    "networking.k8s.io/servicecidrs", "networking.k8s.io/ipaddresses",
    "/services", "/endpoints", "discovery.k8s.io/endpointslices", "/configmaps",
)
# Namespaces and the server's own lease are made where it starts; events and component statuses are no one's.
SKIPPED = ("/namespaces", "coordination.k8s.io/leases", "/events", "events.k8s.io/events", "/componentstatuses")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
DAY = re.compile(r'"\d{4}-\d\d-\d\d"')


def text(answers, left_out):
    """Returns a line for each object but those with `left_out` in their names."""
    order = {resource: place for place, resource in enumerate(ORDER)}
    rows = []
    for resource in sorted(set(answers) - set(SKIPPED), key=lambda name: (order.get(name, len(order)), name)):
        group, _, plural = resource.rpartition("/")
        for item in sorted(answers[resource], key=place_of):
            if left_out and left_out in item["metadata"]["name"]:
                continue
            item["metadata"] = {key: value for key, value in item["metadata"].items() if key not in ("uid", "resourceVersion")}
            item["metadata"]["managedFields"].sort(key=order_of)
            row = json.dumps({"group": group, "resource": plural, "object": item}, separators=(",", ":"), ensure_ascii=False)
            rows.append(DAY.sub('"<date>"', TIME.sub("<time>", row)))
    return "\n".join(rows) + "\n"


def order_of(entry):
    """The order in which a server shows the managers of fields that were set in the same second."""
    return entry["operation"] != "Apply", entry["manager"], entry["apiVersion"], entry.get("subresource", "")


def place_of(item):
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]
