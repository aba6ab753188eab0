"""Reads the declarations of Go sources as gofmt writes them: as much of the language as Kubernetes' types use."""

import re
from dataclasses import dataclass, field

IMPORT = re.compile(r'^\s*(?:import\s+)?(?:([\w.]+)\s+)?"([^"]+)"', re.M)
TAG = re.compile(r"^(?P<declared>.*?)\s*`(?P<tags>.*)`")


@dataclass
class GoField:
    """A field of a struct: its name (None if it is embedded), its type as written, its tags, its comment."""

    name: str | None
    type: str
    json: str | None
    protobuf: str | None
    tags: str
    comment: list = field(default_factory=list)


@dataclass
class GoType:
    """A declared type: the fields of a struct, or the type that it is defined as."""

    name: str
    package: str
    comment: list
    imports: dict
    fields: list | None = None
    underlying: str | None = None
    is_alias: bool = False


@dataclass
class GoPackage:
    """The types of a directory, the values of its string constants by their type, and its group."""

    path: str
    types: dict
    constants: dict
    group: str | None = None
    comment: list = field(default_factory=list)


def imports_of(text):
    block = re.search(r"^import \((.*?)^\)", text, re.M | re.S)
    lines = block.group(1) if block else "\n".join(re.findall(r'^import .*"', text, re.M))
    return {alias or path.rsplit("/", 1)[-1]: path for alias, path in IMPORT.findall(lines)}


def read_package(path, files):
    """Reads a directory: `path` is that of imports, `files` are the texts by name."""
    package = GoPackage(path, {}, {})
    for name in sorted(files):
        if name.endswith(".go"):
            read_file(package, files[name])
    return package


def read_file(package, text):
    imports = imports_of(text)
    group = re.search(r'^const GroupName\s*(?:string)?\s*= "([^"]*)"|^\tGroupName\s*(?:string)?\s*= "([^"]*)"', text, re.M)
    if group:
        package.group = group.group(1) or group.group(2) or ""
    lines = text.split("\n")
    before_package = text.split("\npackage ", 1)[0].split("\n") if "\npackage " in text else []
    package.comment += [line for line in before_package if line.startswith("//")]
    comment, previous, at = [], [], 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("//"):
            comment.append(line[2:].strip())
        elif line.startswith("/*"):
            while "*/" not in lines[at]:
                comment.append(lines[at].strip().lstrip("/* "))
                at += 1
        elif not line.strip():
            if comment:
                previous, comment = comment, []
        elif match := re.match(r"type (\w+) struct ?\{(\})?$", line):
            body = []
            while not match.group(2) and lines[at + 1] != "}":
                at += 1
                body.append(lines[at])
            package.types[match.group(1)] = GoType(match.group(1), package.path, previous + comment, imports, fields=read_fields(body))
            comment, previous = [], []
        elif match := re.match(r"type (\w+) (= )?(.+?)(\s*//.*)?$", line):
            name, alias, underlying = match.group(1), match.group(2), match.group(3)
            if not underlying.endswith("{"):
                package.types[name] = GoType(name, package.path, previous + comment, imports, underlying=underlying, is_alias=bool(alias))
            comment, previous = [], []
        elif line == "const (" or line == "var (":
            is_const = line == "const ("
            body = []
            while lines[at + 1] != ")":
                at += 1
                body.append(lines[at])
            if is_const:
                read_constants(package, imports, body)
            comment, previous = [], []
        elif line.startswith("const "):
            read_constants(package, imports, [line[len("const "):]])
            comment, previous = [], []
        else:
            comment, previous = [], []
        at += 1


TYPED = re.compile(r'(\w+)\s+([\w.]+)\s*= (?:[\w.]+\()?"((?:[^"\\]|\\.)*)"')
CONVERTED = re.compile(r'(\w+)(?:\s+\w+)?\s*= (\w+)\((?:"((?:[^"\\]|\\.)*)"|([\w.]+))\)')
UNTYPED = re.compile(r'(\w+)\s*= "((?:[^"\\]|\\.)*)"')


def read_constants(package, imports, lines):
    """Notes constants of strings: by their type, and under "" by their names. One that is another's comes as `=path.Name`."""
    for line in lines:
        stripped = line.strip()
        if match := CONVERTED.match(stripped):
            name, of, value, other = match.groups()
            if value is None:
                qualifier, _, bare = other.rpartition(".")
                value = f"={imports.get(qualifier, package.path)}.{bare}"
        elif match := TYPED.match(stripped):
            name, of, value = match.groups()
        elif match := UNTYPED.match(stripped):
            name, of, value = match.group(1), None, match.group(2)
        else:
            continue
        package.constants.setdefault("", []).append((name, value))
        if of:
            package.constants.setdefault(of, []).append(value)


def read_fields(lines):
    fields, comment, is_block = [], [], False
    for line in lines:
        stripped = line.strip()
        if is_block or stripped.startswith("/*"):
            is_block = "*/" not in stripped
            continue
        if stripped.startswith("//"):
            comment.append(stripped[2:].strip())
            continue
        if not stripped:
            comment = []
            continue
        tagged = TAG.match(stripped)
        declared = tagged.group("declared") if tagged else re.sub(r"\s*//.*", "", stripped)
        tags = tagged.group("tags") if tagged else ""
        words = declared.split(None, 1)
        json = re.search(r'json:"([^"]*)"', tags)
        protobuf = re.search(r'protobuf:"([^"]*)"', tags)
        fields.append(
            GoField(
                words[0] if len(words) == 2 else None,
                words[-1],
                json.group(1) if json else None,
                protobuf.group(1) if protobuf else None,
                tags,
                comment,
            )
        )
        comment = []
    return fields
