"""A manifest of the common kinds is created, and the client's models take what the server makes of it."""

import pathlib

from kubernetes import client, utils
from support import check, core, create_namespace

SPACE = "kinds"
create_namespace(SPACE)
manifests = pathlib.Path(__file__).with_name("manifests.yaml")
created = utils.create_from_yaml(core.api_client, str(manifests), namespace=SPACE)
made = [one for document in created for one in document]
check("all of the manifest is created", len(made), 18)
check("each has a uid", all(one.metadata.uid for one in made), True)

apps, batch = client.AppsV1Api(), client.BatchV1Api()
networking, rbac = client.NetworkingV1Api(), client.RbacAuthorizationV1Api()

secret = core.read_namespaced_secret("key", SPACE)
check("a secret", (secret.type, secret.data), ("Opaque", {"password": "aGlkZGVu"}))
pod = core.read_namespaced_pod("alone", SPACE)
check("a pod", (pod.status.phase, pod.status.qos_class, pod.spec.restart_policy), ("Pending", "Burstable", "Always"))
check("its container", pod.spec.containers[0].resources.requests, {"cpu": "100m", "memory": "64Mi"})
service = core.read_namespaced_service("front", SPACE)
check("a service", (service.spec.type, service.spec.ports[0].protocol), ("ClusterIP", "TCP"))
check("has an address", bool(service.spec.cluster_ip), True)
claim = core.read_namespaced_persistent_volume_claim("disk", SPACE)
check("a claim", (claim.status.phase, claim.spec.volume_mode), ("Pending", "Filesystem"))
deployment = apps.read_namespaced_deployment("web", SPACE)
check("a deployment", deployment.spec.strategy.rolling_update.max_surge, "25%")
stateful = apps.read_namespaced_stateful_set("store", SPACE)
check("a stateful set", (stateful.spec.replicas, stateful.spec.pod_management_policy), (1, "OrderedReady"))
daemons = apps.read_namespaced_daemon_set("agent", SPACE)
check("a daemon set", daemons.spec.update_strategy.type, "RollingUpdate")
job = batch.read_namespaced_job("once", SPACE)
check("a job", (job.spec.backoff_limit, job.spec.completions), (6, 1))
cron = batch.read_namespaced_cron_job("nightly", SPACE)
check("a cron job", cron.spec.concurrency_policy, "Allow")
ingress = networking.read_namespaced_ingress("door", SPACE)
check("an ingress", ingress.spec.rules[0].http.paths[0].backend.service.port.number, 80)
policy = networking.read_namespaced_network_policy("closed", SPACE)
check("a network policy", policy.spec.policy_types, ["Ingress"])
budget = client.PolicyV1Api().read_namespaced_pod_disruption_budget("one-at-a-time", SPACE)
check("a disruption budget", budget.spec.max_unavailable, 1)
scaler = client.AutoscalingV2Api().read_namespaced_horizontal_pod_autoscaler("web", SPACE)
check("an autoscaler", scaler.spec.metrics[0].resource.target.average_utilization, 60)
role = rbac.read_namespaced_role("reader", SPACE)
check("a role", role.rules[0].verbs, ["get", "list", "watch"])
binding = rbac.read_namespaced_role_binding("runner-reads", SPACE)
check("a role binding", binding.role_ref.name, "reader")
lease = client.CoordinationV1Api().read_namespaced_lease("held", SPACE)
check("a lease", lease.spec.lease_duration_seconds, 15)
slices = client.DiscoveryV1Api().list_namespaced_endpoint_slice(
    SPACE, label_selector="kubernetes.io/service-name=front"
)
check("an endpoint slice", "front-1" in [item.metadata.name for item in slices.items], True)

event = client.CoreV1Event(
    metadata=client.V1ObjectMeta(generate_name="alone."),
    involved_object=client.V1ObjectReference(kind="Pod", name="alone", namespace=SPACE, uid=pod.metadata.uid),
    reason="Seen",
    message="it was seen",
    type="Normal",
)
event = core.create_namespaced_event(SPACE, event)
check("an event gets a name", event.metadata.name.startswith("alone."), True)
found = core.list_namespaced_event(SPACE, field_selector="involvedObject.name=alone,reason=Seen")
check("events are selected by fields", [item.metadata.name for item in found.items], [event.metadata.name])
