"""Pods that answer: logs, commands, and a process of this script that stands for the pod."""

import ast
import os
import socket
import threading

from kubernetes import client, watch
from kubernetes.stream import portforward, stream
from support import check, core, create_namespace, refused, until

SPACE, NAME = "streams", "web"


def log(**options):
    """The log of the pod. Clients of 36 give the bytes as Python prints them."""
    text = core.read_namespaced_pod_log(NAME, SPACE, **options)
    return ast.literal_eval(text).decode() if text.startswith("b'") else text


def answer_all(listener):
    """Answers each connection to the process that stands for the pod."""
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"answer to " + connection.recv(100))


# The script that starts this one has told the server of the port.
listener = socket.create_server(("127.0.0.1", int(os.environ["POD_BACKEND_PORT"])))
threading.Thread(target=answer_all, args=(listener,), daemon=True).start()

create_namespace(SPACE)
core.create_namespaced_config_map(
    SPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="settings"), data={"mode": "fast"})
)
core.create_namespaced_pod(
    SPACE,
    {
        "metadata": {"name": NAME, "labels": {"app": "web"}},
        "spec": {
            "containers": [
                {
                    "name": "web",
                    "image": "nginx",
                    "envFrom": [{"configMapRef": {"name": "settings"}}],
                    "volumeMounts": [{"name": "settings", "mountPath": "/etc/settings"}],
                }
            ],
            "volumes": [{"name": "settings", "configMap": {"name": "settings"}}],
        },
    },
)
until("the pod runs", lambda: core.read_namespaced_pod(NAME, SPACE).status.phase == "Running")

check("a log", log(), "container web of image nginx started\n")
check("its tail", log(tail_lines=0), "")
refused(400, lambda: core.read_namespaced_pod_log(NAME, SPACE, previous=True))


def execute(*command, **options):
    """Connects with a command in the container."""
    options = {"stderr": True, "stdin": False, "stdout": True, "tty": False} | options
    return stream(core.connect_get_namespaced_pod_exec, NAME, SPACE, command=list(command), **options)


check("a command", execute("cat", "/etc/settings/mode"), "fast")
check("a script", execute("sh", "-c", "echo $mode; echo oops >&2"), "fast\noops\n")
session = execute("sh", stdin=True, _preload_content=False)
session.write_stdin("echo $HOSTNAME\n")
check("a session has output", session.readline_stdout(timeout=20), NAME)
session.write_stdin("exit 3\n")
session.run_forever(timeout=20)
check("it has an exit code", session.returncode, 3)

forwarded = portforward(core.connect_get_namespaced_pod_portforward, NAME, SPACE, ports="80")
forwarded.socket(80).setblocking(True)
forwarded.socket(80).sendall(b"python")
check("a forwarded port", forwarded.socket(80).recv(100), b"answer to python")
check("without an error", forwarded.error(80), None)

lines = []
following = watch.Watch()
threading.Timer(0.5, lambda: core.delete_namespaced_pod(NAME, SPACE, grace_period_seconds=1)).start()
for line in following.stream(core.read_namespaced_pod_log, NAME, SPACE, tail_lines=0):
    lines.append(line)
    following.stop()
check("a log that is followed", lines[0].startswith("container web ended with exit code"), True)
