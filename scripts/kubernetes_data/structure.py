"""Makes openapi-structure.json from the OpenAPI v3 documents of a server."""

PREFIX = "#/components/schemas/"


def make(documents, server):
    definitions = {}
    for document in documents.values():
        for name, schema in document.get("components", {}).get("schemas", {}).items():
            # Of types that all groups share, each document lists other kinds: the first is that of the core group.
            definitions.setdefault(name, reduce(schema))
    return {"definitions": dict(sorted(definitions.items())), "server": server}


def reduce(schema):
    """Leaves out prose, and that a reference stands in `allOf` so that a description or a default can stand beside it."""
    of = schema.get("allOf")
    if of and len(of) == 1 and "$ref" in of[0]:
        rest = {key: value for key, value in schema.items() if key not in ("allOf", "default")}
        return reduce({"$ref": of[0]["$ref"], **rest})
    out = {}
    for key, value in sorted(schema.items()):
        if key == "properties":
            out[key] = {name: reduce(of) for name, of in sorted(value.items())}
        elif key == "$ref":
            out[key] = value.removeprefix(PREFIX)
        elif key != "description":
            out[key] = reduce(value) if key in ("items", "additionalProperties") and isinstance(value, dict) else value
    return out
