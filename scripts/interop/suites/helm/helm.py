"""Helm 4: a chart with hooks is installed, upgraded, tested, rolled back and removed, each with `--wait`."""

import asyncio
import pathlib
import sys

from helm_sdkpy import Configuration, History, Install, List, ReleaseTest, Uninstall, Upgrade, UpgradeError
from kubernetes import client, config

CHART = str(pathlib.Path(__file__).parent / "chart")
SPACE, NAME = "charts", "web"

config.load_kube_config()
core, apps, batch = client.CoreV1Api(), client.AppsV1Api(), client.BatchV1Api()
helm = Configuration(namespace=SPACE)


def check(what, found, wanted):
    """Prints that something holds, or what differs, and ends."""
    if found != wanted:
        sys.exit(f"FAILED - {what}: found {found!r}, wanted {wanted!r}")
    print(f"ok - {what}", flush=True)


def ready():
    """The number of replicas that are ready."""
    return apps.read_namespaced_deployment(NAME, SPACE).status.ready_replicas


def greetings():
    """What the pods of the release greet with."""
    pods = core.list_namespaced_pod(SPACE, label_selector=f"app={NAME}").items
    return {pod.metadata.annotations["greeting"] for pod in pods if not pod.metadata.deletion_timestamp}


def completions(hook):
    """How often the job of a hook has succeeded."""
    return batch.read_namespaced_job(f"{NAME}-{hook}", SPACE).status.succeeded


async def main():
    """Walks through the life of a release."""
    await Install(helm).run(NAME, CHART, create_namespace=True, wait=True, timeout=60)
    check("install waits for all pods", ready(), 2)
    check("its hook ran", completions("pre-install"), 1)
    claim = core.read_namespaced_persistent_volume_claim(NAME, SPACE)
    check("its claim is bound", claim.status.phase, "Bound")

    await Upgrade(helm).run(NAME, CHART, values={"replicas": 3, "greeting": "good day"}, wait=True, timeout=60)
    check("upgrade waits for all pods", (ready(), greetings()), (3, {"good day"}))
    check("its hook ran", completions("post-upgrade"), 1)
    await ReleaseTest(helm).run(NAME)
    check("the test of the chart ran", core.read_namespaced_pod(f"{NAME}-test", SPACE).status.phase, "Succeeded")

    # The library's own rollback names no way to wait, without which Helm refuses it.
    try:
        await Upgrade(helm).run(NAME, CHART, values={"replicas": "none"}, rollback_on_failure=True, timeout=60)
        check("an upgrade that is no deployment", "done", "refused")
    except UpgradeError as error:
        check("an upgrade that is no deployment is refused", "replicas" in str(error), True)
    check("rollback brings the revision before it", (ready(), greetings()), (3, {"good day"}))
    check("its hook ran", completions("pre-rollback"), 1)
    revisions = [entry["version"] for entry in await History(helm).run(NAME)]
    check("the history has all of them", revisions, [1, 2, 3, 4])
    check("the release is deployed", [entry["name"] for entry in await List(helm).run()], [NAME])

    await Uninstall(helm).run(NAME, wait=True, timeout=60)
    check("uninstall waits", apps.list_namespaced_deployment(SPACE).items, [])
    check("its hook ran", completions("post-delete"), 1)


asyncio.run(main())
