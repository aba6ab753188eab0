"""Create, read, page, patch, replace and delete with the typed client."""

import json

from kubernetes import client
from support import accepted, check, config_map, control, core, create_namespace, refused

SPACE = "objects"
create_namespace(SPACE)

for index in range(5):
    made = core.create_namespaced_config_map(SPACE, config_map(f"paged-{index}", index=str(index)))
    check(f"create answers with the object: paged-{index}", made.data, {"index": str(index)})
twice = refused(409, lambda: core.create_namespaced_config_map(SPACE, config_map("paged-0")))
check("a second create is refused", json.loads(twice.body)["reason"], "AlreadyExists")

pages, versions, token = [], set(), None
while token != "":
    page = core.list_namespaced_config_map(
        SPACE, limit=2, label_selector="!absent", **({"_continue": token} if token else {})
    )
    pages.append([item.metadata.name for item in page.items])
    versions.add(page.metadata.resource_version)
    token = page.metadata._continue or ""
wanted = [["paged-0", "paged-1"], ["paged-2", "paged-3"], ["paged-4"]]
check("a list comes in pages", pages, wanted)
check("all pages are of one version", len(versions), 1)

first = core.list_namespaced_config_map(SPACE, limit=2)
core.create_namespaced_config_map(SPACE, config_map("paged-5"))
control("compact")
gone = refused(
    410, lambda: core.list_namespaced_config_map(SPACE, limit=2, _continue=first.metadata._continue)
)
status = json.loads(gone.body)
check("a page of a compacted version is gone", status["reason"], "Expired")
rest = core.list_namespaced_config_map(SPACE, _continue=status["metadata"]["continue"])
names = [item.metadata.name for item in rest.items]
check("the error says where the list goes on", names, ["paged-2", "paged-3", "paged-4", "paged-5"])

made = core.patch_namespaced_config_map("paged-0", SPACE, {"data": {"colour": "red"}})
check("a strategic merge patch", made.data, {"index": "0", "colour": "red"})
operations = [{"op": "remove", "path": "/data/index"}, {"op": "add", "path": "/data/size", "value": "9"}]
made = core.patch_namespaced_config_map("paged-0", SPACE, operations)
check("a JSON patch", made.data, {"colour": "red", "size": "9"})
# Older clients choose the form of a patch themselves.
form = accepted(core.patch_namespaced_config_map, _content_type="application/merge-patch+json")
made = core.patch_namespaced_config_map("paged-0", SPACE, {"data": {"size": None}}, **form)
check("a merge patch", made.data, {"colour": "red"})

stale = core.read_namespaced_config_map("paged-0", SPACE)
core.patch_namespaced_config_map("paged-0", SPACE, {"metadata": {"labels": {"tier": "gold"}}})
conflict = refused(409, lambda: core.replace_namespaced_config_map("paged-0", SPACE, stale))
check("a replace of an older version is refused", json.loads(conflict.body)["reason"], "Conflict")
fresh = core.read_namespaced_config_map("paged-0", SPACE)
fresh.data = {"colour": "blue"}
made = core.replace_namespaced_config_map("paged-0", SPACE, fresh)
check("a replace of the present version", (made.data, made.metadata.labels), ({"colour": "blue"}, {"tier": "gold"}))

deployment = client.V1Deployment(
    metadata=client.V1ObjectMeta(name="web"),
    spec=client.V1DeploymentSpec(
        selector=client.V1LabelSelector(match_labels={"app": "web"}),
        template=client.V1PodTemplateSpec(
            metadata=client.V1ObjectMeta(labels={"app": "web"}),
            spec=client.V1PodSpec(containers=[client.V1Container(name="web", image="web:1")]),
        ),
    ),
)
apps = client.AppsV1Api()
made = apps.create_namespaced_deployment(SPACE, deployment)
check("a deployment has its defaults", (made.spec.replicas, made.spec.strategy.type), (1, "RollingUpdate"))
scale = apps.patch_namespaced_deployment_scale("web", SPACE, {"spec": {"replicas": 3}})
check("a scale is patched", scale.spec.replicas, 3)
check("the deployment has the scale", apps.read_namespaced_deployment("web", SPACE).spec.replicas, 3)

core.delete_namespaced_config_map("paged-0", SPACE)
missing = refused(404, lambda: core.read_namespaced_config_map("paged-0", SPACE))
check("what was deleted is not found", json.loads(missing.body)["details"]["name"], "paged-0")
core.delete_collection_namespaced_config_map(SPACE, label_selector="!absent")
check("a collection is deleted", core.list_namespaced_config_map(SPACE).items, [])
