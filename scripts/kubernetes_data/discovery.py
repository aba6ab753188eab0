"""Makes discovery.json from the aggregated discovery of a server, or from the one that is published with a release."""

import json
import re

from .clones import Failure

# What feature gates serve beside, where a release has it: the group, and a resource whose newest version it is. The first one changes what
# its group has, without a name.
GATED = {
    "CoordinatedLeaderElection": ("coordination.k8s.io", "leasecandidates"),
    "GenericWorkload": ("scheduling.k8s.io", "podgroups"),
    "EvictionRequestAPI": ("lifecycle.k8s.io", "evictionrequests"),
}
PUBLISHED = "api/discovery/aggregated_v2.json"
PUBLISHED_CORE = "api/discovery/api__v1.json"
# The versions before GA that a server has by default all the same.
LEGACY = re.compile(r"legacyBetaEnabledByDefaultResources = \[\]schema\.GroupVersionResource\{(.*?)^\t\}", re.M | re.S)


def published(checkout):
    """Returns what a server serves by default of what a release publishes: the core group, the others, and those with every version."""
    every = json.loads(read(checkout, PUBLISHED))["items"]
    legacy = legacy_versions(checkout)
    groups = []
    for group in every:
        name = group["metadata"]["name"]
        versions = [v for v in group["versions"] if re.fullmatch(r"v\d+", v["version"]) or (name.split(".")[0], v["version"]) in legacy]
        if versions:
            groups.append({**group, "versions": versions})
    resources = json.loads(read(checkout, PUBLISHED_CORE))["resources"]
    core = [{"metadata": {}, "versions": [{"freshness": "Current", "resources": aggregate(resources), "version": "v1"}]}]
    return core, groups, every


def read(checkout, path):
    if not (checkout / path).exists():
        raise Failure(f"{checkout / path} is not there: give a checkout of kubernetes/kubernetes")
    return (checkout / path).read_text(encoding="utf-8")


def legacy_versions(checkout):
    """Reads `flowcontrolv1beta3.SchemeGroupVersion...`: the first word of a group, and a version."""
    found = LEGACY.search(read(checkout, "pkg/controlplane/instance.go"))
    lines = found.group(1).split("\n") if found else []
    rows = [re.match(r"\s*(\w+?)(?:api)?(v\d+\w+)\.SchemeGroupVersion", line) for line in lines]
    return {row.groups() for row in rows if row}


def aggregate(rows):
    """Converts the resources of a plain list: a subresource stands below its resource."""
    resources = {}
    for row in sorted(rows, key=lambda row: row["name"].split("/")):
        name, _, subresource = row["name"].partition("/")
        kind = {"group": row.get("group", ""), "kind": row["kind"], "version": row.get("version", "")}
        if subresource:
            below = {"responseKind": kind, "subresource": subresource, "verbs": row["verbs"]}
            resources[name].setdefault("subresources", []).append(below)
            continue
        resources[name] = entry = {"resource": name, "responseKind": kind, "scope": "Namespaced" if row["namespaced"] else "Cluster"}
        entry |= {"singularResource": row["singularName"], "verbs": row["verbs"]}
        entry |= {key: row[key] for key in ("categories", "shortNames") if key in row}
    return list(resources.values())


def of_server(api, apis):
    """Returns the groups of a server's answers for /api and /apis."""
    return api["items"], apis["items"]


def gated(groups):
    """Returns the versions that feature gates add beside those that are always served."""
    found = []
    for at, (gate, (name, resource)) in enumerate(GATED.items()):
        versions = [version for group in groups if group["metadata"]["name"] == name for version in group["versions"]]
        newest = next((version for version in versions if version["version"] != "v1" and is_gated(version, resource)), None)
        if newest:
            kept = [version for version in versions if version["version"] == "v1" or version is newest]
            entry = {"metadata": {"name": name}, "versions": [plain(version) for version in kept]}
            found.append(entry if at == 0 else {"gate": gate, **entry})
    return found


def is_gated(version, resource):
    return any(row["resource"] == resource for row in version["resources"])


def plain(version):
    """The same without what a server adds when it serves it, and without the group and version that the type shares."""
    resources = []
    for row in version["resources"]:
        row = dict(sorted(row.items()))
        row["responseKind"] = {"group": "", "kind": row["responseKind"]["kind"], "version": ""}
        resources.append(row)
    return {"version": version["version"], "resources": resources}


def text(core, groups, gate):
    served = {"core": core, "groups": groups}
    served = {key: json.loads(json.dumps([named(group) for group in value], sort_keys=True)) for key, value in served.items()}
    return json.dumps({**served, "gated": gate}, separators=(",", ":")) + "\n"


def named(group):
    """Old servers show that a group has no time of creation."""
    metadata = {key: value for key, value in group["metadata"].items() if value is not None}
    return {**group, "metadata": metadata}
