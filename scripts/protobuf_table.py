#!/usr/bin/env python3
"""Writes informer/data/protobuf.txt: the fields of the built-in types in protobuf, and how JSON shows them.

    scripts/protobuf_table.py DIRECTORY TAG [LATER_TAG]

DIRECTORY has Git clones of kubernetes/api, apimachinery, apiextensions-apiserver and kube-aggregator, each under its own
name or as kubernetes+NAME/repo. Numbers and types come from generated.proto, names and what JSON leaves out from the tags of
the Go types. Types and fields that LATER_TAG adds are added; what TAG has stays as it is.
"""

import re
import subprocess
import sys
from pathlib import Path

CLONES = ("api", "apimachinery", "apiextensions-apiserver", "kube-aggregator")
OUT = Path(__file__).parent.parent / "informer/data/protobuf.txt"

META = "k8s.io.apimachinery.pkg.apis.meta.v1"
SCALARS = {"string": "s", "bool": "b", "int32": "i", "int64": "l", "double": "d", "bytes": "y"}
# Messages that answers have without being objects in a list.
EXTRA_ROOTS = [f"{META}.{name}" for name in ("Status", "ListMeta", "PartialObjectMetadata")]
# Types whose JSON is not an object of their fields, by the name of their package's last parts.
FORMS = {
    f"{META}.Time": "time",
    f"{META}.MicroTime": "microtime",
    f"{META}.FieldsV1": "json",
    f"{META}.Verbs": "list",
    "k8s.io.apimachinery.pkg.api.resource.Quantity": "quantity",
    "k8s.io.apimachinery.pkg.util.intstr.IntOrString": "intorstring",
    "k8s.io.apimachinery.pkg.runtime.RawExtension": "json",
}
FORMS_BY_NAME = {
    "ExtraValue": "list",
    "JSON": "json",
    "JSONSchemaPropsOrArray": "either",
    "JSONSchemaPropsOrBool": "schemaorbool",
    "JSONSchemaPropsOrStringArray": "either",
}


class Clones:
    def __init__(self, directory, tag):
        self.directory, self.tag = directory, tag

    def git(self, clone, *args):
        for path in (self.directory / f"kubernetes+{clone}/repo", self.directory / clone):
            if path.exists():
                git_dir = path / ".git" if (path / ".git").exists() else path
                tag = self.tag if self.has(git_dir, self.tag) else self.newest(git_dir)
                args = [arg.replace("TAG", tag) for arg in args]
                return subprocess.run(
                    ["git", f"--git-dir={git_dir}", *args], check=True, capture_output=True, text=True
                ).stdout
        sys.exit(f"no clone of {clone} in {self.directory}")

    @staticmethod
    def has(git_dir, tag):
        return subprocess.run(["git", f"--git-dir={git_dir}", "rev-parse", "-q", "--verify", tag], capture_output=True).returncode == 0

    def newest(self, git_dir):
        """The newest release of the tag's minor version: not every clone has every patch."""
        minor = ".".join(self.tag.split(".")[:2])
        tags = subprocess.run(
            ["git", f"--git-dir={git_dir}", "tag", "--list", f"{minor}.*", "--sort=version:refname"],
            check=True, capture_output=True, text=True,
        ).stdout.split()
        return tags[-1]

    def files(self):
        """Yields package directories: their proto, their Go sources, their group."""
        for clone in CLONES:
            names = self.git(clone, "ls-tree", "-r", "TAG", "--name-only").split()
            for proto in (name for name in names if name.endswith("/generated.proto")):
                directory = proto.rsplit("/", 1)[0]
                sources = [
                    self.git(clone, "show", f"TAG:{name}")
                    for name in names
                    if re.fullmatch(re.escape(directory) + r"/[^/]*\.go", name)
                    and not re.search(r"_test\.go$|zz_generated|generated\.pb|swagger", name)
                ]
                yield self.git(clone, "show", f"TAG:{proto}"), "\n".join(sources)


def parse_proto(text):
    package = re.search(r"^package ([\w.]+);", text, re.M).group(1)
    messages = {}
    for name, body in re.findall(r"^message (\w+) \{$(.*?)^\}$", text, re.M | re.S):
        fields = {}
        pattern = r"^  (?:(optional|repeated|required) )?(map<string, [\w.]+>|[\w.]+) (\w+) = (\d+);"
        for label, kind, field, number in re.findall(pattern, body, re.M):
            is_map = kind.startswith("map<")
            kind = kind[len("map<string, "):-1] if is_map else kind
            if kind not in SCALARS:
                kind = kind[1:] if kind.startswith(".") else f"{package}.{kind}"
            shape = "%" if is_map else "*" if label == "repeated" else ""
            fields[int(number)] = (field, kind, shape)
        messages[f"{package}.{name}"] = fields
    return package, messages


def parse_go(text):
    """The tags of each struct: number -> (name in JSON, options, is a pointer, is inline)."""
    structs = {}
    for name, body in re.findall(r"^type (\w+) struct \{$(.*?)^\}$", text, re.M | re.S):
        fields = {}
        for line in body.splitlines():
            tagged = re.match(r"\s*(.*?)\s*`(.*)`", line)
            if not tagged or line.strip().startswith("//"):
                continue
            declared, tags = tagged.groups()
            number = re.search(r'protobuf:"[^",]*,(\d+)', tags)
            json = re.search(r'json:"([^"]*)"', tags)
            if not number or not json:
                continue
            words = declared.split()
            json_name, *options = json.group(1).split(",")
            is_inline = len(words) == 1 and not json_name
            fields[int(number.group(1))] = (json_name, options, words[-1].startswith("*"), is_inline)
        structs[name] = fields
    # A type that is declared as one of another version has its fields.
    for name, other in re.findall(r"^type (\w+) =? ?\w+\.(\w+)$", text, re.M):
        structs.setdefault(name, other)
    return structs


def read(directory, tag):
    messages, tags, groups = {}, {}, {}
    for proto, go in Clones(directory, tag).files():
        package, found = parse_proto(proto)
        messages.update(found)
        for name, fields in parse_go(go).items():
            tags[f"{package}.{name}"] = fields
        group = re.search(r'GroupName\s*(?:string)?\s*= "([^"]*)"', go)
        if group:
            version = package.rsplit(".", 1)[1]
            groups[package] = f"{group.group(1)}/{version}".lstrip("/")
    for name, fields in list(tags.items()):
        if isinstance(fields, str):
            group = name.rsplit(".", 2)[0]
            others = [other for other in tags if other.startswith(group) and other.endswith(f".{fields}")]
            others = [tags[other] for other in others if isinstance(tags[other], dict)]
            tags[name] = others[0] if others else {}
    return messages, tags, groups


def form_of(message):
    return FORMS.get(message) or FORMS_BY_NAME.get(message.rsplit(".", 1)[1])


def main():
    directory, tags_read = Path(sys.argv[1]), sys.argv[2:]
    messages, tags, groups = read(directory, tags_read[0])
    for tag in tags_read[1:]:
        more = read(directory, tag)
        for message, fields in more[0].items():
            own = messages.setdefault(message, {})
            for number, field in fields.items():
                own.setdefault(number, field)
        for name, fields in more[1].items():
            own = tags.setdefault(name, {})
            for number, field in fields.items():
                own.setdefault(number, field)
        for package, group in more[2].items():
            groups.setdefault(package, group)

    skipped = ("testapigroup", "apidiscovery")
    roots = [
        message
        for message, fields in messages.items()
        if fields.get(1, ("", "", ""))[1] == f"{META}.ObjectMeta"
        and f"{message}List" in messages
        and not any(f".{group}." in message for group in skipped)
    ]
    reached, waiting = set(), roots + EXTRA_ROOTS
    while waiting:
        message = waiting.pop()
        if message in reached:
            continue
        reached.add(message)
        waiting += [kind for _, kind, _ in messages[message].values() if kind not in SCALARS]

    packages = sorted({message.rsplit(".", 1)[0] for message in reached})
    lines = [
        "# The fields of Kubernetes' built-in types in protobuf, and how JSON shows them. Written by scripts/protobuf_table.py",
        f"# from {', '.join(tags_read)}. Its format is told by informer/src/protobuf/table.rs.",
    ]
    for place, package in enumerate(packages):
        lines.append(f"= {package} {groups.get(package, '-')}")
        for message in sorted(m for m in reached if m.rsplit(".", 1)[0] == package):
            name = message.rsplit(".", 1)[1]
            form = form_of(message)
            mark = "+" if message in roots else ""
            words = [f"{name}{mark}" + (f"={form}" if form else "")]
            for number, (field, kind, shape) in sorted(messages[message].items()):
                words.append(print_field(message, number, field, kind, shape, tags, packages, package, form))
            lines.append(" ".join(words))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("\n".join(lines) + "\n")
    print(f"{OUT}: {len(reached)} types, {len(roots)} of them objects in lists")


def print_field(message, number, field, kind, shape, tags, packages, package, form):
    code = SCALARS.get(kind)
    if not code:
        of, name = kind.rsplit(".", 1)
        code = name if of == package else f"{packages.index(of)}.{name}"
    known = tags.get(message, {}).get(number)
    if known is None:
        if not form:
            sys.exit(f"no Go field has number {number} of {message}")
        return f"{number}:{field}:{code}{shape}"
    json_name, options, is_pointer, is_inline = known
    flags = ""
    may_be_nil = is_pointer or shape or kind == "bytes"
    if is_inline:
        flags = ">"
    elif "omitempty" not in options and "omitzero" not in options:
        flags = "!" if may_be_nil else ""
    elif "omitzero" in options and not is_pointer:
        flags = "?"
    elif not may_be_nil and kind in SCALARS or kind == "bytes" and not shape:
        flags = "?"
    return f"{number}:{json_name or field}:{code}{shape}{flags}"


main()
