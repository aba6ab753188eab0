"""Two children with generated names, each made by a sub-handler, as Kopf's page on idempotence advises."""

import kopf
import kubernetes


@kopf.on.startup()
def configure(settings, **_):
    kubernetes.config.load_kube_config()
    settings.posting.enabled = False


def create_child(role, namespace):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": {"role": role}},
        "spec": {"containers": [{"name": "main", "image": "busybox"}]},
    }
    kopf.adopt(pod)
    kubernetes.client.CoreV1Api().create_namespaced_pod(namespace, pod)


def create_a(namespace, **_):
    create_child("a", namespace)


def create_b(namespace, **_):
    create_child("b", namespace)


@kopf.on.create("kopf.dev", "v1", "kopfexamples")
async def create(patch, **_):
    await kopf.execute(fns={"a": create_a, "b": create_b})
    patch.status["children"] = 2
