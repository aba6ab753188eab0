#!/usr/bin/env python3
"""Writes informer/data/protobuf.txt: the fields of the built-in types in protobuf, and how JSON shows them.

    scripts/protobuf_table.py DIRECTORY TAG [LATER_TAG]

DIRECTORY has Git clones of kubernetes/api, apimachinery, apiextensions-apiserver and kube-aggregator, each under its own
name or as kubernetes+NAME/repo. Numbers and types come from generated.proto, names and what JSON leaves out from the tags of
the Go types. Types and fields that LATER_TAG adds are added; what TAG has stays as it is.
"""

import sys
from pathlib import Path

from kubernetes_data.clones import Failure
from kubernetes_data.sources import Sources, proto_package

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


def tags_of(sources, message):
    """Returns the tags of a struct: number -> (name in JSON, options, is a pointer, is inline)."""
    struct = sources.struct(sources.go_type(message))
    fields = {}
    for field in struct.fields if struct else ():
        if not field.protobuf or field.json is None:
            continue
        json_name, *options = field.json.split(",")
        is_inline = field.name is None and not json_name
        fields[int(field.protobuf.split(",")[1])] = (json_name, options, field.type.startswith("*"), is_inline)
    return fields


def read(directory, tag):
    """Returns messages, the tags of their Go types, and the groups of packages."""
    sources = Sources.of_clones(directory, tag.replace("v0.", "1.", 1))
    messages = {
        message: {
            number: (name, kind, "%" if is_map else "*" if label == "repeated" else "")
            for number, name, kind, label, is_map in fields
        }
        for message, fields in sources.messages.items()
    }
    tags = {message: tags_of(sources, message) for message in messages}
    packages = {proto_package(path): package for path, package in sources.packages.items()}
    groups = {name: f"{package.group}/{name.rsplit('.', 1)[1]}".lstrip("/") for name, package in packages.items() if package.group is not None}
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


try:
    main()
except Failure as failure:
    sys.exit(f"protobuf_table.py: {failure}")
