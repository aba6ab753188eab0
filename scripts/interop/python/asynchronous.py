"""The same client's asynchronous half: pages, and a watch through a disconnect."""

import asyncio

from kubernetes.aio import client, config, watch
from support import LIMIT_SECONDS, check, control

SPACE = "asynchronous"


def config_map(name, **data):
    """A config map for a create."""
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data=data or None)


async def pages(core):
    """The names in the pages of a list."""
    found, token = [], None
    while token != "":
        more = {"_continue": token} if token else {}
        page = await core.list_namespaced_config_map(SPACE, limit=2, **more)
        found.append([item.metadata.name for item in page.items])
        token = page.metadata._continue or ""
    return found


async def check_watch(core):
    """A watch tells of changes, also after a disconnect."""
    listed = await core.list_namespaced_config_map(SPACE)
    watcher = watch.Watch()
    stream = watcher.stream(
        core.list_namespaced_config_map, SPACE, resource_version=listed.metadata.resource_version
    )

    async def following():
        event = await asyncio.wait_for(anext(stream), LIMIT_SECONDS)
        return event["type"], event["object"].metadata.name

    await core.create_namespaced_config_map(SPACE, config_map("later"))
    check("an object is added", await following(), ("ADDED", "later"))
    control("disconnect")
    await core.delete_namespaced_config_map("later", SPACE)
    check("the watch goes on after a disconnect", await following(), ("DELETED", "later"))
    watcher.stop()
    await watcher.close()


async def main():
    """Everything, on one loop."""
    await config.load_kube_config()
    async with client.ApiClient() as api:
        core = client.CoreV1Api(api)
        await core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=SPACE)))
        names = ["a", "b", "c"]
        await asyncio.gather(
            *(core.create_namespaced_config_map(SPACE, config_map(name, key=name)) for name in names)
        )
        check("a list comes in pages", await pages(core), [["a", "b"], ["c"]])
        await check_watch(core)


asyncio.run(asyncio.wait_for(main(), 3 * LIMIT_SECONDS))
