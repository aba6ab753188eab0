"""Reads generated.proto."""

import re

SCALARS = ("string", "bool", "int32", "int64", "double", "bytes")
FIELD = re.compile(r"^  (?:(optional|repeated|required) )?(map<string, [\w.]+>|[\w.]+) (\w+) = (\d+);", re.M)


def read_messages(text):
    """Returns the fields of every message: name with its package -> [(number, name, type, label, is a map)]."""
    package = re.search(r"^package ([\w.]+);", text, re.M).group(1)
    messages = {}
    for name, body in re.findall(r"^message (\w+) \{$(.*?)^\}$", text, re.M | re.S):
        fields = []
        for label, kind, field, number in FIELD.findall(body):
            is_map = kind.startswith("map<")
            kind = kind[len("map<string, "):-1] if is_map else kind
            if kind not in SCALARS:
                kind = kind[1:] if kind.startswith(".") else kind if "." in kind else f"{package}.{kind}"
            fields.append((int(number), field, kind, label, is_map))
        messages[f"{package}.{name}"] = fields
    return messages
