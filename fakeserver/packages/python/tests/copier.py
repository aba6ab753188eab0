"""A small operator, the subject of `test_survive`: it copies each config map with the label `wanted`, and notes that.

With `--buggy` the server completes the names of its copies, so that one that was not noted is made again.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

BUGGY = "--buggy" in sys.argv
MAPS = "/api/v1/namespaces/default/configmaps"

server = json.loads(Path(os.environ["KUBECONFIG"]).read_text())["clusters"][0]["cluster"]["server"]


def ask(method, path, body=None, media_type="application/json"):
    request = urllib.request.Request(server + path, method=method, headers={"Content-Type": media_type})
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(request, data, timeout=10) as answer:
        return json.load(answer)


def copy(original):
    name = original["metadata"]["name"]
    metadata = {"generateName": f"{name}-"} if BUGGY else {"name": f"{name}-copy"}
    try:
        ask("POST", MAPS, {"metadata": metadata, "data": original["data"]})
    except urllib.error.HTTPError as error:
        if error.code != 409:
            raise
    note = {"metadata": {"annotations": {"copied": "yes"}}}
    ask("PATCH", f"{MAPS}/{name}", note, "application/merge-patch+json")


while True:
    try:
        found = ask("GET", f"{MAPS}?labelSelector=wanted")
        for each in found["items"]:
            if "copied" not in each["metadata"].get("annotations", {}):
                copy(each)
        # The next change, whatever it is.
        query = f"watch=true&labelSelector=wanted&resourceVersion={found['metadata']['resourceVersion']}"
        with urllib.request.urlopen(f"{server}{MAPS}?{query}") as events:
            events.readline()
    except (OSError, ValueError) as error:  # noqa: PERF203
        print(repr(error))
        time.sleep(0.1)
