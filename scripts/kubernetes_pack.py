#!/usr/bin/env python3
"""Packs the data of versions of Kubernetes into fakeserver/versions/data.

    scripts/kubernetes_pack.py FOLDER [VERSION...]

FOLDER has one folder for each minor version (FOLDER/1.35), with the files that `FILES` lists, as a server of that version
has them. `types.json` names the release in `server`. With VERSIONs, only these are written, and the others stay as they are.

What is written is text that is laid out in short lines. The version BASE is whole; each other one is, file by file, a
unified diff without context from its neighbour on the side of BASE. `unpack` returns what the diffs make.
"""

import difflib
import json
import pathlib
import sys

BASE = "1.36"
FILES = (
    "types.json",
    "openapi-structure.json",
    "discovery.json",
    "table-columns.json",
    "initial-objects.jsonl",
    "feature-gates.txt",
    "kube-apiserver-flags.txt",
)
WIDTH = 120
DATA = pathlib.Path(__file__).resolve().parent.parent / "fakeserver" / "versions" / "data"


def packed_name(file):
    """The name of a packed file. Laid out, the values of lines are no lines any more."""
    return file.removesuffix("l") if file.endswith(".jsonl") else file


def minor(version):
    return int(version.split(".")[1])


def neighbour(version):
    """The version from which another one is a difference."""
    step = 1 if minor(version) < minor(BASE) else -1
    return f"1.{minor(version) + step}"


def lay_out(value, out, before="", after=""):
    """Appends the lines of a value: one for each part that fits."""
    line = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if len(line) <= WIDTH or not value or not isinstance(value, (dict, list)):
        out.append(before + line + after)
        return
    if isinstance(value, dict):
        parts = [(json.dumps(name, ensure_ascii=False) + ":", part) for name, part in value.items()]
        brackets = "{}"
    else:
        parts = [("", part) for part in value]
        brackets = "[]"
    out.append(before + brackets[0])
    for at, (name, part) in enumerate(parts, 1):
        lay_out(part, out, name, "," if at < len(parts) else "")
    out.append(brackets[1] + after)


def lines_of(folder, file):
    """The lines of a full file."""
    text = (folder / file).read_text()
    out = []
    if file.endswith(".json"):
        lay_out(json.loads(text), out)
    elif file.endswith(".jsonl"):
        # A server that was built under a name with its version writes under that name.
        text = text.replace(f'"kube-apiserver-{folder.name}"', '"kube-apiserver"')
        for line in text.splitlines():
            lay_out(json.loads(json.dumps(json.loads(line), sort_keys=True)), out)
    elif file == "feature-gates.txt":
        stages = folder / "feature-stages.txt"
        stages = dict(line.split() for line in stages.read_text().splitlines())
        for line in text.splitlines():
            name, default, *locked = line.split()
            # What no source has a stage of is told by its default.
            stage = stages.get(name, "BETA" if default == "true" else "ALPHA")
            out.append(" ".join([name, stage, default, *locked]))
    else:
        out = text.splitlines()
    return out


def apply(old, diff):
    """The lines that a unified diff without context makes of others."""
    new, at = [], 0
    for line in diff:
        if line.startswith("@@ "):
            start, _, count = line.split()[1][1:].partition(",")
            # A hunk that removes nothing names the line before it.
            start = int(start) - (count != "0")
            new.extend(old[at:start])
            at = start
        elif line.startswith("-"):
            assert old[at] == line[1:], f"line {at + 1} is {old[at]!r}, not {line[1:]!r}"
            at += 1
        else:
            new.append(line[1:])
    return new + old[at:]


def unpack(version, file, data=DATA):
    """The lines of a file of a version, as the packed data has them."""
    name = packed_name(file)
    if version == BASE:
        return (data / version / name).read_text().splitlines()
    diff = (data / version / f"{name}.diff").read_text().splitlines()
    return apply(unpack(neighbour(version), file, data), diff)


def pack(source, version, data=DATA):
    """Writes the data of a version, whose neighbour is packed already."""
    folder, packed = source / version, data / version
    packed.mkdir(parents=True, exist_ok=True)
    release = json.loads((folder / "types.json").read_text())["server"].rpartition("v")[2]
    (packed / "release.txt").write_text(release + "\n")
    for file in FILES:
        if version == BASE:
            (packed / packed_name(file)).write_text("".join(line + "\n" for line in lines_of(folder, file)))
            continue
        old = unpack(neighbour(version), file, data)
        # What nobody has recorded is that of the neighbour.
        new = lines_of(folder, file) if (folder / file).exists() else old
        diff = list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]
        (packed / f"{packed_name(file)}.diff").write_text("".join(line + "\n" for line in diff))
        assert unpack(version, file, data) == new, f"{version}/{file}"


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1])
    versions = sys.argv[2:] or [entry.name for entry in source.iterdir() if entry.name.startswith("1.")]
    # The base first, then those next to it.
    for version in sorted(versions, key=lambda version: abs(minor(version) - minor(BASE))):
        pack(source, version)
        print(version)


if __name__ == "__main__":
    main()
