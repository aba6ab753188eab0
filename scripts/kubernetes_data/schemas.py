"""Derives the structural schemas that a server publishes from the Go types, by the rules of openapi-gen."""

import json
import re

from .sources import META_PACKAGE

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
# What every server has beside the types of its resources.
ALWAYS = [
    f"{META}.{name}"
    for name in ("APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "DeleteOptions", "Patch", "Status", "WatchEvent")
] + ["io.k8s.apimachinery.pkg.version.Info"]
# Kinds of requests that have no body.
OPTIONS = re.compile(r"^(Pod|Node|Service)\w+Options$")
# Types that describe themselves.
EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
SPECIAL = {
    f"{EXTENSIONS}.JSON": {},
    f"{EXTENSIONS}.JSONSchemaPropsOrArray": {},
    f"{EXTENSIONS}.JSONSchemaPropsOrBool": {},
    f"{EXTENSIONS}.JSONSchemaPropsOrStringArray": {},
    f"{META}.FieldsV1": {"type": "object"},
    f"{META}.MicroTime": {"format": "date-time", "type": "string"},
    f"{META}.Patch": {"type": "object"},
    f"{META}.Time": {"format": "date-time", "type": "string"},
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "io.k8s.apimachinery.pkg.runtime.RawExtension": {"type": "object"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
}
SCALARS = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"format": "int32", "type": "integer"},
    "int32": {"format": "int32", "type": "integer"},
    "int64": {"format": "int64", "type": "integer"},
    "float64": {"format": "double", "type": "number"},
    "byte": {"format": "byte", "type": "integer"},
}
ZERO = {"string": "", "boolean": False, "integer": 0, "number": 0}
MARKERS = {
    "listType": "x-kubernetes-list-type",
    "mapType": "x-kubernetes-map-type",
    "structType": "x-kubernetes-map-type",
    "patchStrategy": "x-kubernetes-patch-strategy",
    "patchMergeKey": "x-kubernetes-patch-merge-key",
}
# The kinds that every group has.
OF_EVERY_GROUP = ("DeleteOptions", "WatchEvent")
# Groups of types that no server registers so.
WITHOUT_SHARED_KINDS = ("meta.k8s.io", "apidiscovery.k8s.io", "testapigroup.apimachinery.k8s.io")
# Since then a document of a group lists only its own of them.
MINOR_OF_SHARED_KINDS = 36
# Since then values of lists and maps have no default.
MINOR_WITHOUT_DEFAULTS_OF_VALUES = 36


def make(sources, groups, server):
    """Returns the definitions for what discovery names."""
    generator = Generator(sources)
    generator.wanted += ALWAYS
    for group in groups:
        for version in group["versions"]:
            generator.want_version(group["metadata"].get("name", ""), version)
    return {"definitions": generator.run(), "server": server}


class Generator:
    def __init__(self, sources):
        self.sources, self.minor = sources, sources.minor
        self.wanted, self.made = [], {}

    def want_version(self, group, version):
        own = self.sources.package_of(group, version["version"])
        for row in version["resources"]:
            for below in (row, *row.get("subresources", ())):
                kind = below["responseKind"]
                package = self.sources.package_of(kind["group"], kind["version"]) if kind["version"] else own
                if kind["kind"] and not OPTIONS.match(kind["kind"]):
                    self.wanted.append(self.sources.definition_of(package, kind["kind"]))
            if "list" in row["verbs"]:
                self.wanted.append(self.sources.definition_of(own, row["responseKind"]["kind"] + "List"))

    def run(self):
        while self.wanted:
            name = self.wanted.pop()
            if name not in self.made:
                self.made[name] = self.definition(name)
        return dict(sorted(self.made.items()))

    def definition(self, name):
        if name in SPECIAL:
            return SPECIAL[name]
        declared = self.sources.go_of_definition(name)
        schema, properties, required = {}, {}, []
        self.members(declared, properties, required)
        if properties:
            schema["properties"] = dict(sorted(properties.items()))
        if required:
            schema["required"] = required
        schema["type"] = "object"
        kinds = self.kinds(declared)
        if kinds:
            schema["x-kubernetes-group-version-kind"] = kinds
        markers = markers_of(declared.comment)
        schema |= extensions(markers)
        if "union" in markers:
            schema["x-kubernetes-unions"] = [self.union(declared)]
        return dict(sorted(schema.items()))

    def kinds(self, declared):
        """Returns the kinds that a type is."""
        fields = self.sources.struct(declared).fields
        is_meta = declared.package == META_PACKAGE
        if not any(field.name is None and field.type.endswith("TypeMeta") for field in fields) and declared.name not in OF_EVERY_GROUP:
            return None
        group = "" if is_meta else self.sources.packages[declared.package].group
        found = {(group, declared.package.rsplit("/", 1)[1])}
        if is_meta and declared.name in OF_EVERY_GROUP and self.minor < MINOR_OF_SHARED_KINDS:
            found |= {of for of in self.sources.group_versions() if of[0] not in WITHOUT_SHARED_KINDS}
        return [{"group": group, "kind": declared.name, "version": version} for group, version in sorted(found)]

    def union(self, declared):
        row, fields = {}, {}
        for field in self.sources.struct(declared).fields:
            name = (field.json or "").split(",")[0]
            if "unionDiscriminator" in markers_of(field.comment):
                row["discriminator"] = name
            else:
                fields[name] = field.name
        return {**row, "fields-to-discriminateBy": dict(sorted(fields.items()))}

    def members(self, declared, properties, required):
        struct = self.sources.struct(declared)
        for field in struct.fields:
            name, *options = (field.json or "").split(",")
            if name == "-" or field.json is None and field.name is not None:
                continue
            if field.name is None and not name:
                inner = self.sources.resolve(struct.package, struct.imports, field.type)
                self.members(inner, properties, required)
                continue
            markers = markers_of(field.comment)
            may_be_absent = "omitempty" in options or "omitzero" in options
            properties[name] = self.property(struct, field.type, markers, "omitempty" in options)
            if "required" in markers or not (may_be_absent or "optional" in markers):
                required.append(name)

    def property(self, scope, written, markers, omits_empty):
        schema = self.schema(scope, written)
        if "default" in markers:
            schema["default"] = self.default(markers["default"][0])
        elif not omits_empty:
            self.set_zero(scope, written, schema)
        schema |= extensions(markers)
        return dict(sorted(schema.items()))

    def set_zero(self, scope, written, schema):
        """A value that is always there is its type's zero where it is absent."""
        is_nilable = re.match(r"\*|\[\]|map\[", self.underlying(scope, written)[1]) or written.startswith("*")
        if not is_nilable and "$ref" not in schema and schema.get("type") in ZERO:
            schema["default"] = ZERO[schema["type"]]

    def default(self, text):
        if match := re.match(r"ref\(([\w./]+)\)$", text):
            return self.sources.constant(match.group(1))
        return json.loads(text)

    def underlying(self, scope, written):
        """Looks through types that are declared as scalars, lists or maps: the scope and the type as written there."""
        found = self.sources.resolve(scope.package, scope.imports, written)
        while found and found.fields is None:
            scope, written = found, found.underlying
            found = self.sources.resolve(scope.package, scope.imports, written)
        return scope, written

    def schema(self, scope, written):
        written = written.removeprefix("*")
        found = self.sources.resolve(scope.package, scope.imports, written)
        while found and found.is_alias:
            scope, written = found, found.underlying
            found = self.sources.resolve(scope.package, scope.imports, written)
        name = found and self.sources.definition_of(self.sources.packages[found.package], found.name)
        if found and (found.fields is not None or name in SPECIAL or self.is_struct(found)):
            self.wanted.append(name)
            return {"$ref": name}
        values = self.enumeration(found) if found else None
        scope, written = self.underlying(scope, written)
        if written == "[]byte":
            return {"format": "byte", "type": "string"}
        if written.startswith("[]"):
            return {"items": self.value(scope, written[2:]), "type": "array"}
        if match := re.match(r"map\[[\w.]+\](.+)$", written):
            return {"additionalProperties": self.value(scope, match.group(1)), "type": "object"}
        schema = dict(SCALARS[written])
        if values:
            schema["enum"] = values
        return dict(sorted(schema.items()))

    def is_struct(self, declared):
        return self.sources.struct(declared) is not None

    def value(self, scope, written):
        """The schema of one value of a list or a map."""
        schema = self.schema(scope, written)
        if self.minor < MINOR_WITHOUT_DEFAULTS_OF_VALUES:
            self.set_zero(scope, written, schema)
        return dict(sorted(schema.items()))

    def enumeration(self, declared):
        if "+enum" not in declared.comment:
            return None
        constants = self.sources.packages[declared.package].constants.get(declared.name, [])
        return sorted({self.sources.constant_value(declared.package, value) for value in constants})


def markers_of(comment):
    """Returns what a comment marks: `+name` and `+name=value`."""
    found = {}
    for line in comment:
        if match := re.match(r"\+([\w:-]+)(?:=(.*))?$", line):
            found.setdefault(match.group(1), []).append((match.group(2) or "").strip())
    return found


def extensions(markers):
    out = {MARKERS[name]: values[0] for name, values in markers.items() if name in MARKERS}
    if "listMapKey" in markers:
        out["x-kubernetes-list-map-keys"] = markers["listMapKey"]
    return out
