"""Makes two config maps for a page, the text and the style, in a timer of Kopf: what handlers have done, Kopf notes by the name of
an object, so that one that is created again could be taken for done.

What an earlier attempt has made is kept and brought up to date. The bug: the first one is taken for a sign that both are done.
"""

import kopf

from kit import BUGGY, Client

PAGES = "/apis/subjects.example/v1/namespaces/default/pages"
MAPS = "/api/v1/namespaces/default/configmaps"

client = Client()


@kopf.on.startup()
def configure(settings, **_):
    settings.posting.enabled = False
    # A deletion waits for the timer to end, and looks for that once a minute otherwise.
    settings.background.cancellation_polling = 0.1
    settings.networking.error_backoffs = [0.1, 0.5, 1]


def ensure(page, role, data):
    """Makes a config map, or brings it up to date. False if there was nothing to do."""
    name = f"{page['metadata']['name']}-{role}"
    there = client.get(f"{MAPS}/{name}")
    if there and there["data"] == data:
        return False
    child = {"metadata": {"name": name}, "data": data}
    made = client.create_owned(MAPS, page, f"{PAGES}/{page['metadata']['name']}", child)
    if made and made["data"] != data:
        version = made["metadata"]["resourceVersion"]
        client.patch(f"{MAPS}/{name}", {"metadata": {"resourceVersion": version}, "data": data})
    return True


@kopf.timer("subjects.example", "v1", "pages", interval=0.3, backoff=0.3)
def write(body, spec, **_):
    if not ensure(body, "text", {"text": spec["text"]}) and BUGGY:
        return
    ensure(body, "style", {"colour": spec["colour"]})


kopf.run(standalone=True, namespace="default")
