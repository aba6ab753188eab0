"""Mistakes, and what is said about each."""

import os
import sys
import textwrap

import fakeserver
import pytest
from conftest import DEFINITION, config_map, order

#: A marker or a body of a test, and what pytest prints about it.
MARKERS = {
    "an unknown flag": ("flags=['--nope']", ["unexpected argument '--nope'", "with status 2"]),
    "a value that a flag refuses": ("flags=['--controllers', 'x']", ['no controller "x"']),
    "flags as one word": ("flags='--tls'", ["a list of words is needed", "not '--tls'"]),
    "a flag that the plugin sets": (
        "flags=['--listen=127.0.0.1:1']",
        ["--listen=127.0.0.1:1 is set already: a free port"],
    ),
    "an unknown argument": (
        "object=[]",
        ["unknown argument object; there are flags=[...], objects=[...] and kubernetes_version=..."],
    ),
    "an argument without a name": ("['--tls']", ["arguments without a name"]),
    "an object that is not one of a list": ("objects={}", ["objects: a list is needed"]),
    "an object without a kind": (
        "objects=[{'metadata': {'name': 'x'}}]",
        ["an object x: needs an apiVersion and a kind; `apiVersion` and `kind` are missing"],
    ),
    "an object without a version": (
        "objects=[{'kind': 'Foo'}]",
        ["Foo (without a name): needs an apiVersion and a kind; `apiVersion` is missing"],
    ),
    "an object whose kind is no text": (
        "objects=[{'apiVersion': 'v1', 'kind': 3}]",
        ["needs an apiVersion and a kind; `kind` is 3, no text"],
    ),
    "an object of an unknown kind": (
        "objects=[{'apiVersion': 'apps/v1', 'kind': 'Deploymnt', 'metadata': {'name': 'x'}}]",
        ["Deploymnt x: the server has no kind Deploymnt in apps/v1", "CustomResourceDefinition"],
    ),
    "an object that the server refuses": (
        "objects=[{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'A_B'}}]",
        ['ConfigMap A_B: ConfigMap "A_B" is invalid: metadata.name', "(status 422)"],
    ),
    "an object in a namespace that does not exist": (
        "objects=[{'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'a', 'namespace': 'shop'}}]",
        ['ConfigMap shop/a: namespaces "shop" not found; its Namespace stands before it', "(status 404)"],
    ),
    "a file that does not exist": ("objects=['no.json']", ["no.json cannot be read"]),
}


@pytest.mark.parametrize("name", MARKERS)
def test_a_marker(suite, name):
    arguments, said = MARKERS[name]
    outcomes, output = suite(f"""
        import pytest
        @pytest.mark.kube({arguments})
        def test_it(kube):
            pass
        def test_another(kube):
            assert kube.stats()["revision"] > 0
    """)
    assert outcomes == {"errors": 1, "passed": 1}, output
    for each in said:
        assert each in output, output
    # The mistake is the user's: no line of this package helps.
    assert "Traceback" not in output, output
    assert "During handling" not in output, output


def test_flags_of_the_configuration(suite, pytester):
    pytester.makeini("[pytest]\nkube_flags = --authorization rbac --keep")
    outcomes, output = suite("def test_it(kube): pass\ndef test_cluster(kube_cluster): pass")
    assert outcomes == {"errors": 2}, output
    assert "kube_flags: flags: --keep is set already: the kubeconfig ends with the server" in output
    pytester.makeini("[pytest]\nkube_flags = --authorization rbac")
    outcomes, output = suite("""
        def test_it(kube, kube_cluster):
            assert "Authorization" in kube._access.headers
            assert "Authorization" in kube_cluster._access.headers
    """)
    assert outcomes == {"passed": 1}, output


FAULTS = {
    "an unknown fault": ({"fault": "nope"}, "fault"),
    "a parameter of another type": ({"fault": "throttle", "retryAfterSeconds": "soon"}, "retryAfterSeconds"),
    "an unknown field": ({"fault": "throttle", "whn": {}}, "whn"),
    "a probability above 1": ({"fault": "throttle", "when": {"probability": 2}}, "when.probability"),
    "a kind in place of a plural": ({"fault": "conflict", "match": {"resource": "ConfigMap"}}, "match.resource"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault(kube_faults, name):
    fault, field = FAULTS[name]
    with pytest.raises(fakeserver.FaultRefusedError) as refused:
        kube_faults.install(fault)
    assert field in str(refused.value)
    # One error, without the request behind it.
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__
    assert kube_faults.installed() == []
    with pytest.raises(fakeserver.ControlError) as error:
        kube_faults._server.control.install_faults(fault)
    assert error.value.status == 400


def test_a_fault_that_is_misspelt(kube_faults):
    with pytest.raises(fakeserver.FaultRefusedError) as refused:
        kube_faults.install({"fault": "server_eror"})
    assert 'did you mean "server_error"?' in str(refused.value)
    assert "`kube.control.fault_catalogue()`" in str(refused.value)


def test_a_fault_for_a_resource_that_is_not_served(kube, kube_faults, recwarn):
    def told():
        return [(str(each.message), each.filename) for each in recwarn if each.category is fakeserver.FakeserverWarning]

    kube_faults.install({"fault": "conflict", "match": {"resource": "configmaps"}})
    assert told() == []
    kube_faults.install({"fault": "conflict", "match": {"resource": "configmap"}})
    expected = 'conflict: match.resource: no resource "configmap" is served now; did you mean "configmaps"?'
    assert told() == [(expected, __file__)]
    kube_faults.install({"fault": "conflict", "match": {"resource": "orders"}})
    assert "defined later, or never fires" in told()[1][0]
    kube.create(DEFINITION)
    kube_faults.install({"fault": "conflict", "match": {"resource": "orders"}})
    assert len(told()) == 2


def test_a_marker_without_the_fixture(suite):
    outcomes, output = suite("""
        import pytest
        pytestmark = pytest.mark.kube(objects=[])
        @pytest.mark.kube(flags=["--tls"])
        def test_marked():
            pass
        @pytest.mark.kube(flags=["--tls"])
        def test_takes_it(kube):
            assert kube.url.startswith("https:")
        @pytest.mark.kube(flags=["--tls"])
        def test_takes_it_late(request):
            assert request.getfixturevalue("kube").url.startswith("https:")
        def test_of_a_marked_module():
            pass
    """)
    assert outcomes == {"passed": 4, "warnings": 1}, output
    assert "FakeserverWarning: @pytest.mark.kube has no effect" in output
    assert "write `def test_marked(kube)`" in output


def test_a_custom_resource_that_breaks_its_schema(kube):
    with pytest.raises(fakeserver.ObjectRefusedError) as refused:
        kube.create(DEFINITION, order("good", 1), order("bad", 0))
    assert str(refused.value).startswith('Order default/bad: Order.shop.example.com "bad" is invalid: spec.count')
    with pytest.raises(fakeserver.ObjectRefusedError, match="default/good: .*already exists"):
        kube.create(order("good", 1))


def test_a_server_that_dies(suite):
    outcomes, output = suite("""
        import os, signal, pytest, fakeserver
        def test_dies(kube, kube_faults):
            os.kill(kube.pid, signal.SIGKILL)
            with pytest.raises(fakeserver.ServerEndedError, match="by signal 9"):
                kube.stats()
        def test_next(kube):
            assert kube.stats()["revision"] > 0
        def test_cluster(kube_cluster):
            os.kill(kube_cluster.pid, signal.SIGTERM)
            with pytest.raises(fakeserver.ServerEndedError, match="with status 0"):
                while True:
                    kube_cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "a-"}})
    """)
    assert outcomes == {"passed": 3, "errors": 2}, output
    assert "kube: the server has ended by itself, by signal 9; it wrote nothing" in output
    assert "kube_cluster: the server has ended by itself, with status 0" in output


@pytest.mark.parametrize(("method", "package"), [("api_client", "kubernetes"), ("kr8s", "kr8s"), ("lightkube",) * 2])
def test_a_missing_package(kube, monkeypatch, method, package):
    for name in list(sys.modules):
        if name.split(".")[0] == package:
            monkeypatch.delitem(sys.modules, name)

    class Missing:
        def find_spec(self, name, path=None, target=None):
            if name == package:
                raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    with pytest.raises(ImportError, match=rf"{package} is not installed: pip install 'fakeserver\[{package}\]'"):
        getattr(kube, method)()


def test_yaml_without_a_parser(kube, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    file = tmp_path / "objects.yaml"
    file.write_text("kind: ConfigMap")
    with pytest.raises(ImportError, match=r"pip install 'fakeserver\[yaml\]', or give JSON"):
        kube.create(file)


def test_files(kube, tmp_path):
    file = tmp_path / "objects.json"
    file.write_text("{")
    with pytest.raises(fakeserver.ObjectRefusedError, match=r"objects\.json is no JSON"):
        kube.create(file)
    file.write_text('{"kind": "List", "items": [%s]}' % str(config_map("listed")).replace("'", '"'))
    assert kube.create(file)[0]["metadata"]["name"] == "listed"
    pytest.importorskip("yaml")
    file = tmp_path / "objects.yaml"
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n"
    file.write_text("---\n".join(text.format(name) for name in "ab"))
    assert [each["metadata"]["name"] for each in kube.create(file)] == ["a", "b"]
    file.write_text("a: [")
    with pytest.raises(fakeserver.ObjectRefusedError, match=r"objects\.yaml is no YAML"):
        kube.create(file)
    with pytest.raises(fakeserver.UsageError, match="neither a dict nor the path of a file"):
        kube.create(3)


def program(tmp_path, monkeypatch, text):
    """Makes a script the server's program."""
    path = tmp_path / "program"
    path.write_text("#!/bin/sh\n" + textwrap.dedent(text))
    path.chmod(0o755)
    monkeypatch.setenv("FAKESERVER_BIN", str(path))


def test_a_program_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKESERVER_BIN", str(tmp_path / "none"))
    with pytest.raises(fakeserver.BinaryNotFoundError, match="none is no program; unset it"):
        fakeserver.Server().start()
    monkeypatch.delenv("FAKESERVER_BIN")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("fakeserver._binary._script_folders", lambda: [tmp_path])
    with pytest.raises(fakeserver.BinaryNotFoundError, match="pip install --force-reinstall fakeserver"):
        fakeserver.Server().start()


def test_a_program_that_does_not_listen(tmp_path, monkeypatch):
    program(tmp_path, monkeypatch, "echo still busy >&2; exec sleep 60")
    with pytest.raises(fakeserver.StartError, match=r"does not listen within 0\.3 s(.|\n)*still busy"):
        fakeserver.Server(start_limit=0.3).start()


def test_a_program_that_is_another_one(tmp_path, monkeypatch):
    program(tmp_path, monkeypatch, "echo hello; exec sleep 60")
    with pytest.raises(fakeserver.StartError, match="another program than fakeserver: it begins with 'hello'"):
        fakeserver.Server().start()
    program(tmp_path, monkeypatch, "echo no disk >&2; exit 3")
    with pytest.raises(fakeserver.StartError, match=r"has ended with status 3; it wrote to standard error:\nno disk"):
        fakeserver.Server().start()
    path = tmp_path / "program"
    path.write_bytes(os.urandom(64))
    with pytest.raises(fakeserver.StartError, match="cannot be run"):
        fakeserver.Server().start()


def test_a_server_that_is_not_running():
    server = fakeserver.Server()
    with pytest.raises(fakeserver.FakeserverError, match="is not started"):
        _ = server.url
    with server:
        with pytest.raises(fakeserver.FakeserverError, match="was started already"):
            server.start()
        url = server.url
    assert url.startswith("http://127.0.0.1:")
    server.close()
    with pytest.raises(fakeserver.FakeserverError, match="is closed"):
        server.stats()
