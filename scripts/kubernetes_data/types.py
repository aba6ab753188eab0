"""Makes types.json: the fields of the Go types, their numbers in protobuf, and when JSON leaves them out."""

import re

from .clones import Failure
from .protobuf import SCALARS
from .sources import definition

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
# What requests and answers have beside the resources' own types.
EXTRA_ROOTS = [
    f"{META}.{name}"
    for name in ("CreateOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "PartialObjectMetadata", "PartialObjectMetadataList")
]
# Types that print as something else than an object of their fields: they have those of protobuf.
PLAIN = {
    f"{META}.FieldsV1", f"{META}.MicroTime", f"{META}.Time", f"{META}.Verbs",
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
}
# How Go's reflection names a type, where that does not follow from the field's type of protobuf.
GO_SCALARS = {"double": "float64", "bytes": "[]uint8"}


def make(sources, definitions, server):
    """Returns the table for the definitions of OpenAPI and what they need beside."""
    wanted, waiting = {}, [name for name in [*definitions, *EXTRA_ROOTS] if name in sources.by_definition]
    while waiting:
        name = waiting.pop()
        if name in wanted:
            continue
        wanted[name] = row = Row(sources, sources.by_definition[name]).read()
        for field in row["fields"]:
            of = re.sub(r"^map<string,(.*)>$", r"\1", field["type"])
            if of not in SCALARS:
                waiting.append(of)
    return {"server": server, "types": dict(sorted(wanted.items()))}


class Row:
    """One type as the table has it."""

    def __init__(self, sources, message):
        self.sources, self.message = sources, message
        self.fields = {number: rest for number, *rest in sources.messages[message]}
        self.go = sources.go_type(message)

    def read(self):
        name = definition(self.message)
        if name in PLAIN or self.go is None or not self.struct_fields():
            return {"fields": [self.plain(number) for number in self.fields]}
        row, fields = {}, []
        for declared in self.struct_fields():
            if declared.name is None and declared.type.endswith("TypeMeta"):
                row["typeMeta"] = True
            elif declared.protobuf and declared.protobuf != "-":
                fields.append(self.field(declared))
        missing = set(self.fields) - {field["number"] for field in fields}
        if missing:
            raise Failure(f"{self.message} has the fields {sorted(missing)} in protobuf but not in Go")
        row["fields"] = fields
        return row

    def struct_fields(self):
        """The fields of the struct, or of the one that it is declared as."""
        declared = self.sources.struct(self.go)
        self.go = declared or self.go
        return declared.fields if declared else None

    def plain(self, number):
        name, kind, label, is_map = self.fields[number]
        row = {"number": number, "name": name, "type": kind_of(kind, is_map)}
        if label == "repeated":
            row["repeated"] = True
        return row

    def field(self, declared):
        number = int(declared.protobuf.split(",")[1])
        if number not in self.fields:
            raise Failure(f"{self.message}: Go's field {declared.name or declared.type} has the number {number}, which protobuf lacks")
        name, kind, label, is_map = self.fields[number]
        json_name, *options = (declared.json or "").split(",")
        is_inline = declared.name is None and not json_name
        row = {"number": number, "name": name if is_inline or json_name in ("", "-") else json_name, "type": kind_of(kind, is_map)}
        if label == "repeated":
            row["repeated"] = True
        if declared.type.startswith("*"):
            row["pointer"] = True
        if is_inline:
            row["inline"] = True
            return row
        if "omitzero" in options:
            row["omit"] = "zero"
        elif "omitempty" in options or declared.json is None:
            row["omit"] = "empty"
        go, element = self.go_names(declared.type.lstrip("*"))
        shape = "repeated" if label == "repeated" else "map" if is_map else "single"
        usual_element = usual_name(kind)
        usual = {"repeated": f"[]{usual_element}", "map": f"map[string]{usual_element}", "single": usual_element}[shape]
        if go != usual:
            row["go"] = go
        if element is not None and shape != "single" and element != usual_element:
            row["element"] = element
        return row

    def go_names(self, written):
        """Returns how errors name the field's type, and one value of it, if it is a list or a map as written."""
        if written.startswith("[]"):
            of = self.go_name(written[2:])
            return f"[]{of}", of.lstrip("*")
        if match := re.match(r"map\[([\w.]+)\](.+)$", written):
            of = self.go_name(match.group(2))
            return f"map[{self.go_name(match.group(1))}]{of}", of.lstrip("*")
        return self.go_name(written), None

    def go_name(self, written):
        if written.startswith("*"):
            return "*" + self.go_name(written[1:])
        if written.startswith("[]") or written.startswith("map["):
            return self.go_names(written)[0]
        if written == "byte":
            return "uint8"
        declared = self.sources.resolve(self.go.package, self.go.imports, written)
        if declared and declared.is_alias:
            inner = Row.__new__(Row)
            inner.sources, inner.go = self.sources, declared
            return inner.go_name(declared.underlying)
        qualifier, _, bare = written.rpartition(".")
        if qualifier:
            return self.go.imports.get(qualifier, qualifier).rsplit("/", 1)[-1] + "." + bare
        return self.go.package.rsplit("/", 1)[-1] + "." + bare if declared else bare


def kind_of(kind, is_map):
    kind = kind if kind in SCALARS else definition(kind)
    return f"map<string,{kind}>" if is_map else kind


def usual_name(kind):
    if kind in SCALARS:
        return GO_SCALARS.get(kind, kind)
    return ".".join(kind.rsplit(".", 2)[-2:])
