"""Servers without fixtures, and their ends."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import fakeserver
import pytest
from conftest import config_map

LIMIT = 20


def has_ended(pid):
    """Returns whether a process ends within the limit."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        try:
            # A zombie has ended; somebody else has to wait for it.
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(pid, 0)
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def test_a_server_has_its_objects_and_faults():
    fault = {"fault": "throttle", "match": {"verb": "list"}}
    with fakeserver.Server(objects=[config_map("one")], faults=fault, seed=7) as server:
        for _ in range(2):
            assert [each["spec"]["fault"] for each in server.faults.installed()] == ["throttle"]
            assert '"name":"one"' in server.control.snapshot()
            server.reset()
        folder = server.kubeconfig.parent
        assert folder.stat().st_mode & 0o077 == 0
        pid = server.pid
    assert not folder.exists()
    assert has_ended(pid)


def test_equal_seeds_give_equal_uids():
    uids = []
    for seed in [1, 1, 2]:
        with fakeserver.Server(seed=seed) as server:
            uids.append(server.create(config_map("one"))[0]["metadata"]["uid"])
    assert uids[0] == uids[1] != uids[2]


def version_of(server):
    """Returns the version that a server says it is of."""
    with urllib.request.urlopen(f"{server.url}/version", timeout=LIMIT) as answer:
        return json.load(answer)["gitVersion"]


def test_a_server_is_of_the_version_that_was_asked_for(monkeypatch):
    monkeypatch.setenv("FAKESERVER_KUBERNETES_VERSION", "1.33")
    for asked, version in [("1.34", "v1.34.9"), ("1.35.x", "v1.35.6"), (None, "v1.33.13")]:
        with fakeserver.Server(kubernetes_version=asked) as server:
            assert version_of(server) == version
    unknown = fakeserver.Server(kubernetes_version="1.30")
    with pytest.raises(fakeserver.StartError, match=r"no version .1\.30.*there are"):
        unknown.start()
    with pytest.raises(fakeserver.UsageError, match="a text is needed"):
        fakeserver.Server(kubernetes_version=1.34)


@pytest.mark.parametrize(
    "version",
    [
        pytest.param("v1.34.9", marks=pytest.mark.kube(kubernetes_version="1.34")),
        pytest.param("v1.36.2", marks=pytest.mark.kube(flags=["--kubernetes-version", "1.36"])),
    ],
)
def test_a_marker_chooses_the_version(kube, version):
    assert version_of(kube) == version


@pytest.mark.kube(kubernetes_version="1.31")
class TestOfAVersion:
    def test_the_class_chooses(self, kube):
        assert version_of(kube) == "v1.31.14"

    @pytest.mark.kube(flags=["--seed", "7", "--kubernetes-version", "1.33"], kubernetes_version="1.32")
    def test_the_innermost_marker_counts(self, kube):
        assert version_of(kube) == "v1.32.13"


def test_a_server_is_secured():
    with fakeserver.Server(tls=True, flags=["--authorization", "rbac", "--token", "t=alice"]) as server:
        assert server.url.startswith("https://")
        server.create(config_map("one"))
        assert server.stats()["revision"] > 0


def test_a_server_closes_with_an_open_watch_soon():
    import http.client
    from urllib.parse import urlsplit

    with fakeserver.Server() as server:
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=LIMIT)
        connection.request("GET", "/api/v1/namespaces?watch=true")
        answer = connection.getresponse()
        answer.read1(10)
        start = time.monotonic()
    assert time.monotonic() - start < 5
    connection.close()


def test_a_server_that_ignores_its_end_is_killed(tmp_path, monkeypatch):
    path = tmp_path / "program"
    path.write_text(
        "#!/bin/sh\ntrap '' TERM\n"
        "while [ $# -gt 0 ]; do [ $1 = --kubeconfig ] && mkdir ${2%/*} && touch $2; shift; done\n"
        "echo listening on http://127.0.0.1:1\nwhile :; do sleep 0.1; done\n"
    )
    path.chmod(0o755)
    monkeypatch.setenv("FAKESERVER_BIN", str(path))
    server = fakeserver.Server(stop_limit=0.3).start()
    pid = server.pid
    server.close()
    assert has_ended(pid)


SCRIPT = """
import os, sys, time, fakeserver
server = fakeserver.Server().start()
# As a copy of a client.
server.kubeconfig.with_name("kubeconfig-1").write_text("")
print(server.pid, server.kubeconfig, flush=True)
"""
#: The ends of a process that does not close its server.
ENDS = {
    "the last line": "",
    "an exception": "raise ValueError",
    "no cleaning up": "os._exit(3)",
    "SIGTERM": "time.sleep(60)",
    "SIGKILL": "time.sleep(60)",
    "SIGINT": "time.sleep(60)",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_server_ends_with_its_process(end):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT + ENDS[end]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    pid, kubeconfig = process.stdout.readline().split()
    if end.startswith("SIG"):
        process.send_signal(getattr(signal, end))
    process.wait(LIMIT)
    process.stdout.close()
    assert has_ended(int(pid))
    assert not Path(kubeconfig).parent.exists()


def test_a_server_survives_a_fork():
    with fakeserver.Server() as server:
        child = os.fork()
        if child == 0:
            server.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert server.is_running
        assert server.stats()["revision"] > 0


def test_no_server_outlives_a_session_that_is_killed(pytester, monkeypatch):
    folder = pytester.mkdir("tmp")
    monkeypatch.setenv("TMPDIR", str(folder))
    pytester.makepyfile("""
        import pytest, time
        @pytest.mark.kube(flags=["--tls"])
        def test_other(kube, kube_cluster):
            print(kube.pid, kube_cluster.pid, flush=True)
        def test_it(kube):
            print(kube.pid, "all", flush=True)
            time.sleep(60)
    """)
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "--no-header", "-q"]
    session = subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.PIPE, text=True)
    pids = []
    for line in session.stdout:
        words = line.replace(".", " ").split()
        pids += [int(word) for word in words if word.isdigit()]
        if "all" in words:
            break
    session.kill()
    session.wait(LIMIT)
    session.stdout.close()
    assert len(pids) == 3
    assert all(has_ended(pid) for pid in pids)
    assert list(folder.iterdir()) == []


def test_nothing_of_the_user_is_touched(pytester, suite, monkeypatch):
    home = pytester.mkdir("home")
    kubeconfig = home / ".kube" / "config"
    kubeconfig.parent.mkdir()
    kubeconfig.write_text("current-context: production\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    monkeypatch.setenv("TMPDIR", str(pytester.mkdir("tmp")))
    before = sorted(pytester.path.rglob("*"))
    outcomes, output = suite("""
        import os, pytest
        @pytest.mark.parametrize("_", [0, 1])
        def test_it(kube, kube_cluster, _):
            for package, name in [("kubernetes", "api_client"), ("kr8s", "kr8s"), ("lightkube", "lightkube")]:
                try:
                    getattr(kube, name)()
                except ImportError as error:
                    assert package in str(error)
            assert os.environ["KUBECONFIG"].endswith("home/.kube/config")
    """)
    assert outcomes["passed"] == 2, output
    ours = [path for path in pytester.path.rglob("*") if "runpytest" not in str(path) and "test_suite" not in str(path)]
    assert [path for path in sorted(ours) if path.name not in ("stdout", "stderr")] == before
    assert kubeconfig.read_text() == "current-context: production\n"


def test_parallel_workers_have_servers_of_their_own(suite):
    pytest.importorskip("xdist")
    outcomes, output = suite(
        """
        import pytest
        @pytest.mark.parametrize("turn", range(12))
        def test_it(kube, kube_cluster, turn):
            (made,) = kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
            assert kube.stats()["revision"] == int(made["metadata"]["resourceVersion"])
            print("servers:", kube.url, kube_cluster.url)
        """,
        "-n",
        "2",
        "-rP",
    )
    assert outcomes == {"passed": 12}, output
    assert len({line for line in output.splitlines() if line.startswith("servers: ")}) == 2, output


def test_the_marker_is_known(suite):
    outcomes, output = suite(
        "import pytest\n@pytest.mark.kube(flags=[])\ndef test_it(kube): pass", "--strict-markers", "-W", "error"
    )
    assert outcomes == {"passed": 1}, output
