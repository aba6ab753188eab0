"""Reads the public repositories of Kubernetes' types at one version, without a work tree."""

import io
import re
import subprocess
import tarfile
from pathlib import Path

REPOSITORIES = ("api", "apimachinery", "apiextensions-apiserver", "kube-aggregator")
# Packages of types without a form in protobuf.
PLAIN = ("pkg/types", "pkg/version")
# What makes no type: tests, and code that is itself made from the types.
SKIPPED = re.compile(r"_test\.go$|/(zz_generated|generated\.pb|types_swagger|generated\.protomessage)[^/]*\.go$|/(testdata|testing|fuzzer)/")


class Failure(Exception):
    """An input that is missing or is not as expected, with what to do about it."""


class Repository:
    """A clone at the commit of one version."""

    def __init__(self, git_dir, commit, name):
        self.git_dir, self.commit, self.name = git_dir, commit, name

    def __str__(self):
        return f"{self.name} {self.commit}"

    def git(self, *arguments, text=True):
        command = ["git", f"--git-dir={self.git_dir}", *arguments]
        run = subprocess.run(command, capture_output=True, text=text)
        if run.returncode:
            error = run.stderr if text else run.stderr.decode()
            raise Failure(f"`{' '.join(command)}` failed: {error.strip()}")
        return run.stdout

    def packages(self):
        """Returns the texts of Go and protobuf sources: directory -> name of the file -> text."""
        packages = select(self.git("ls-tree", "-r", "--name-only", self.commit).split("\n"))
        archive = self.git("archive", "--format=tar", self.commit, *sorted(packages), text=False)
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            return {
                directory: {name: tar.extractfile(f"{directory}/{name}").read().decode() for name in names}
                for directory, names in packages.items()
            }


class Tree:
    """The same below staging of a checkout of kubernetes/kubernetes."""

    def __init__(self, checkout, name):
        self.root, self.name = checkout / "staging/src/k8s.io" / name, f"kubernetes/{name}"
        if not self.root.is_dir():
            raise Failure(f"{self.root} is not there: give a checkout of kubernetes/kubernetes, or --clones")

    def __str__(self):
        return f"{self.name} of the checkout"

    def packages(self):
        packages = select(str(path.relative_to(self.root)) for path in sorted(self.root.rglob("*")) if path.is_file())
        return {
            directory: {name: (self.root / directory / name).read_text(encoding="utf-8") for name in names}
            for directory, names in packages.items()
        }


def select(names):
    """Returns the files of packages that have types: directory -> their names."""
    wanted = {}
    for name in names:
        directory, _, file = name.rpartition("/")
        if directory and re.search(r"\.go$|^generated\.proto$", file) and not SKIPPED.search(name):
            wanted.setdefault(directory, []).append(file)
    return {directory: files for directory, files in sorted(wanted.items()) if "generated.proto" in files or directory in PLAIN}


def git_directory(directory, name):
    """Finds the clone of k8s.io/NAME: NAME or kubernetes+NAME/repo, with a work tree or bare."""
    for path in (directory / name, directory / f"kubernetes+{name}/repo"):
        if path.is_dir():
            return path / ".git" if (path / ".git").exists() else path
    raise Failure(f"no clone of kubernetes/{name} in {directory}: `git clone https://github.com/kubernetes/{name} {directory / name}`")


def open_repository(directory, name, version):
    """Opens a clone at the tag of a version (1.36.2: v0.36.2), else at what is newest of its minor version."""
    probe = Repository(git_directory(Path(directory), name), "HEAD", f"kubernetes/{name}")
    minor = version.split(".")[1]
    tags = probe.git("tag", "--list", f"v0.{minor}.*", "--sort=version:refname").split()
    exact = version.replace("1.", "v0.", 1)
    releases = [tag for tag in tags if re.fullmatch(r"v0\.\d+\.\d+", tag)]
    branches = probe.git("for-each-ref", "--format=%(refname:short)", f"refs/heads/release-1.{minor}", f"refs/remotes/*/release-1.{minor}").split()
    for commit in (exact if exact in tags else None, *releases[-1:], *branches[:1], *tags[-1:]):
        if commit:
            return Repository(probe.git_dir, commit, probe.name)
    raise Failure(f"the clone of kubernetes/{name} has neither a tag v0.{minor}.* nor a branch release-1.{minor}: fetch it again")
