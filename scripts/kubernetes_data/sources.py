"""The types of one version: what protobuf and Go say of each, by the name of its OpenAPI definition."""

import sys

from . import clones, go, protobuf

IMPORT_PREFIX = "k8s.io/"
META_PACKAGE = "k8s.io/apimachinery/pkg/apis/meta/v1"


def proto_package(path):
    """k8s.io/api/core/v1 is k8s.io.api.core.v1 in protobuf."""
    return path.replace("/", ".").replace("-", "_")


def definition(message):
    """k8s.io.api.core.v1.Pod is io.k8s.api.core.v1.Pod in OpenAPI."""
    return "io.k8s" + message[len("k8s.io"):].replace("_", "-")


class Sources:
    """Every type of a version."""

    def __init__(self, repositories, version):
        self.repositories, self.minor = repositories, int(version.split(".")[1])
        self.messages, self.packages = {}, {}
        for repository in repositories:
            print(f"reading {repository}", file=sys.stderr, flush=True)
            root = IMPORT_PREFIX + repository.name.rsplit("/", 1)[1]
            for directory, files in repository.packages().items():
                path = f"{root}/{directory}"
                self.packages[path] = go.read_package(path, files)
                if "generated.proto" in files:
                    self.messages |= protobuf.read_messages(files["generated.proto"])
        self.by_definition = {definition(message): message for message in self.messages}

    @classmethod
    def of_clones(cls, directory, version):
        return cls([clones.open_repository(directory, name, version) for name in clones.REPOSITORIES], version)

    @classmethod
    def of_checkout(cls, checkout, version):
        return cls([clones.Tree(checkout, name) for name in clones.REPOSITORIES], version)

    def __str__(self):
        return ", ".join(map(str, self.repositories))

    def go_type(self, message):
        """Returns the Go type of a message, or None."""
        return self.go_of_definition(definition(message))

    def go_of_definition(self, name):
        package, bare = name.rsplit(".", 1)
        found = next((p for path, p in self.packages.items() if definition(proto_package(path)) == package), None)
        return found and found.types.get(bare)

    def definition_of(self, package, name):
        return f"{definition(proto_package(package.path))}.{name}"

    def package_of(self, group, version):
        for path, package in self.packages.items():
            if package.group == group and path.endswith(f"/{version}") and path != META_PACKAGE:
                return package
        raise clones.Failure(f"no package of the clones has the group {group or 'core'} in {version}: are they of the version of the server?")

    def group_versions(self):
        """Returns the groups and versions of all packages."""
        return {(package.group, path.rsplit("/", 1)[1]) for path, package in self.packages.items() if package.group is not None}

    def resolve(self, package_path, imports, name):
        """Returns the declared type that a name means in a file, or None for the language's own."""
        qualifier, _, bare = name.rpartition(".")
        path = imports.get(qualifier) if qualifier else package_path
        package = self.packages.get(path)
        return package.types.get(bare) if package else None

    def struct(self, declared):
        """Returns the declared struct, or the one that it is declared as; None for what is none."""
        while declared and declared.fields is None:
            declared = self.resolve(declared.package, declared.imports, declared.underlying)
        return declared

    def constant(self, name):
        """Returns the value of a constant: `Name`, `k8s.io/api/core/v1.Name`."""
        path, _, bare = name.rpartition(".")
        for package in [self.packages[path]] if path in self.packages else self.packages.values():
            for constant, value in package.constants.get("", ()):
                if constant == bare:
                    return value
        raise clones.Failure(f"no constant {name} in the clones")

    def constant_value(self, package_path, value):
        """Returns a constant's text; one that is declared by another's name comes as `=alias.Name`."""
        return self.constant(value[1:]) if value.startswith("=") else value
