"""What the checks share: the server behind the kubeconfig, waiting for a condition, and saying what holds."""

import inspect
import json
import sys
import threading
import time

from kubernetes import client, config

# Long for a server on this machine; short for a check that hangs.
LIMIT_SECONDS = 60
POLL_SECONDS = 0.02

config.load_kube_config()
core = client.CoreV1Api()


def check(what, found, wanted):
    """Prints that something holds, or what differs, and ends."""
    if found != wanted:
        print(f"FAILED - {what}: found {found!r}, wanted {wanted!r}", file=sys.stderr)
        sys.exit(1)
    print(f"ok - {what}", flush=True)


def accepted(call, **options):
    """The options that a function of this version of the client has."""
    return {name: value for name, value in options.items() if name in inspect.signature(call).parameters}


def refused(code, call):
    """The error of a call that has to be refused with a code."""
    try:
        answer = call()
    except client.ApiException as error:
        if error.status != code:
            check(f"a refusal with {code}", error.status, code)
        return error
    check(f"a refusal with {code}", answer, "an error")
    return None


def until(what, condition):
    """Polls a condition until it holds, up to the limit."""
    deadline = time.monotonic() + LIMIT_SECONDS
    pause = threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            check(what, f"not so within {LIMIT_SECONDS} s", "so")
        pause.wait(POLL_SECONDS)
    print(f"ok - {what}", flush=True)


def control(action, method="POST"):
    """Does something behind the API: disconnect, compact, expire, or stats."""
    api = core.api_client
    url = f"{api.configuration.host}/_control/{action}"
    # Below the functions that differ between versions of the client.
    response = api.rest_client.pool_manager.request(method, url, timeout=LIMIT_SECONDS)
    body = response.data
    if response.status // 100 != 2:
        check(f"control: {action}", response.status, "a success")
    return json.loads(body) if body else None


def config_map(name, labels=None, **data):
    """A config map for a create."""
    metadata = client.V1ObjectMeta(name=name, labels=labels)
    return client.V1ConfigMap(metadata=metadata, data=data)


def create_namespace(name):
    """Creates the namespace that a check works in."""
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=name)))
