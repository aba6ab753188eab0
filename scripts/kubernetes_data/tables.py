"""Makes table-columns.json: of a server's answers, or of the columns that the sources declare."""

import json
import re

from .answers import listed

# What a resource without columns of its own has.
DEFAULT = [["Name", "string", "name", 0], ["Created At", "date", "", 0]]
PRINTERS = "pkg/printers/internalversion/printers.go"
# The folders of those that are declared elsewhere, by kind.
ELSEWHERE = {
    "APIService": "staging/src/k8s.io/kube-aggregator/pkg/registry/apiservice",
    "CustomResourceDefinition": "staging/src/k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition",
}
# `podColumns := []...{`, and `podColumns = append(podColumns, []...{`.
COLUMNS = re.compile(r"(?:(\w+) :?= (?:append\(\w+, )?)?\[\]metav1\.TableColumnDefinition\{\n(.*?)^\t*\}", re.M | re.S)
COLUMN = re.compile(r'\{Name: "([^"]*)", Type: "(\w+)"(.*)\}')
HANDLER = re.compile(r"TableHandler\((\w+), (\w+)\)")


def recorded(answers):
    return {path: [[c["name"], c["type"], c["format"], c["priority"]] for c in columns] for path, columns in answers.items()}


def derived(checkout, groups):
    """Returns the columns of everything in discovery that can be listed."""
    of_kind = declared(checkout)
    rows = {}
    for group, version, resource in listed(groups):
        kind = kind_of(groups, group, version, resource)
        rows["/".join(filter(None, (group, version, resource)))] = of_kind.get(kind, DEFAULT)
    return rows


def kind_of(groups, group, version, resource):
    for candidate in groups:
        for of_version in candidate["versions"]:
            if candidate["metadata"].get("name", "") == group and of_version["version"] == version:
                return next(row["responseKind"]["kind"] for row in of_version["resources"] if row["resource"] == resource)
    return None


def declared(checkout):
    """Returns the columns of each kind that the sources declare."""
    text = (checkout / PRINTERS).read_text(encoding="utf-8")
    definitions = {}
    for name, body in COLUMNS.findall(text):
        definitions.setdefault(name, []).extend(columns(body))
    # Some kinds have columns that no storage uses.
    unused = {path.parts[-3] for path in (checkout / "pkg/registry").glob("*/*/storage/storage.go") if is_default(path)}
    found = {}
    for name, function in HANDLER.findall(text):
        kind = re.search(rf"^func {function}\(\w+ \*(?:\w+\.)?(\w+)", text, re.M)
        if kind and name in definitions and kind.group(1).lower() not in unused:
            found[kind.group(1)] = definitions[name]
    for kind, folder in ELSEWHERE.items():
        for path in sorted((checkout / folder).rglob("*.go")):
            if match := COLUMNS.search(path.read_text(encoding="utf-8")):
                found[kind] = columns(match.group(2))
    return found


def is_default(path):
    return "NewDefaultTableConvertor" in path.read_text(encoding="utf-8")


def columns(body):
    rows = []
    for name, kind, rest in COLUMN.findall(body):
        form = re.search(r'Format: "(\w*)"', rest)
        priority = re.search(r"Priority: (\d+)", rest)
        rows.append([name, kind, form.group(1) if form else "", int(priority.group(1)) if priority else 0])
    return rows


def text(rows):
    lines = [f'"{path}": {json.dumps(columns, separators=(",", ":"))}' for path, columns in sorted(rows.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"
