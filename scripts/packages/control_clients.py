"""Writes the clients of the control API in Python, JavaScript, TypeScript, Go and Java, from the OpenAPI document of a server.

    python3 scripts/packages/control_clients.py FAKESERVER           writes what is between the markers of each file anew
    python3 scripts/packages/control_clients.py FAKESERVER --check   fails if a file is not as it would be written

FAKESERVER is the program; it serves while this runs. The transport, outside of the markers, is written by hand.
"""

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

PACKAGES = Path(__file__).resolve().parent.parent.parent / "fakeserver" / "packages"
BEGIN = "generated from /_control/openapi.json by scripts/packages/control_clients.py"
END = "end of what is generated"
LIMIT = 20

Schema = dict[str, Any]


class Operation(NamedTuple):
    """An operation: its names, its request, and the schema of its answer, which is a text if it is no object.

    Its body is faults, an object of one text that has the name of the body, or nothing.
    """

    name: str
    method: str
    path: str
    summary: str
    has_id: bool
    body: str
    answer: Schema | None

    @property
    def has_faults(self) -> bool:
        return self.body == "faults"


def fetch(program: str) -> Schema:
    """Returns the document of a server that is started for it."""
    command = [program, "serve", "--listen", "127.0.0.1:0", "--quiet", "--end-with-parent"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            url = server.stdout.readline().removeprefix("listening on ").strip()
            with urllib.request.urlopen(f"{url}/_control/openapi.json", timeout=LIMIT) as answer:
                return json.load(answer)
        finally:
            server.terminate()


def operations(document: Schema) -> list[Operation]:
    found = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            answers = [answer for code, answer in operation["responses"].items() if code != "default"]
            content = list(answers[0].get("content", {}).values())
            found.append(
                Operation(
                    name=operation["operationId"],
                    method=method.upper(),
                    path=path.removeprefix("/_control/"),
                    summary=operation["summary"],
                    has_id="parameters" in operation,
                    body=body(operation),
                    answer=content[0]["schema"] if content else None,
                )
            )
    order = ["stats", "snapshot", "saveSnapshot", "compact", "expire", "disconnect", "reset"]
    return sorted(found, key=lambda one: (order.index(one.name) if one.name in order else len(order), one.path, one.method))


def body(operation: Schema) -> str:
    """Returns the argument that becomes the body of an operation: `faults`, the name of a text, or nothing."""
    if "requestBody" not in operation:
        return ""
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    return next(iter(schema.get("properties", {})), "faults")


def named(schema: Schema) -> str | None:
    """Returns the name of a schema that is a reference."""
    return schema["$ref"].rpartition("/")[2] if "$ref" in schema else None


def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def pascal(name: str) -> str:
    words = re.split(r"_|(?=[A-Z])", name)
    return "".join({"id": "ID", "tcp": "TCP"}.get(word.lower(), word[:1].upper() + word[1:]) for word in words)


def first_low(text: str) -> str:
    return text[:1].lower() + text[1:]


def python(document: Schema) -> str:
    text = ""
    for one in operations(document):
        sent = ", faults: Any" if one.has_faults else f", {one.body}: str" if one.body else ""
        arguments = (", fault_id: int" if one.has_id else "") + sent
        ignored = "  # noqa: ANN401" if one.has_faults else ""
        path = f'"{one.path}"' if not one.has_id else f"""f"{one.path.replace("{id}", "{fault_id:d}")}\""""
        body = ", json.dumps(faults)" if one.has_faults else f', json.dumps({{"{one.body}": {one.body}}})' if one.body else ""
        answer = one.answer
        if answer is None:
            kind, lines = "None", [f'self._request("{one.method}", {path}{body})']
        elif answer.get("type") == "string":
            kind, lines = "str", [f'return self._request("{one.method}", {path}{body})']
        else:
            kind = "list[dict[str, Any]]" if answer.get("type") == "array" else "dict[str, Any]"
            lines = [f'answer: {kind} = self._json("{one.method}", {path}{body})', "return answer"]
        text += f"    def {snake(one.name)}(self{arguments}) -> {kind}:{ignored}\n"
        text += f'        """{one.summary}"""\n' + "".join(f"        {line}\n" for line in lines) + "\n"
    return text


def javascript(document: Schema) -> str:
    text = ""
    for one in operations(document):
        argument = "id" if one.has_id else one.body
        path = f"'/{one.path}'" if not one.has_id else f"`/{one.path.replace('{id}', '${encodeURIComponent(id)}')}`"
        body = ", faults" if one.has_faults else f", {{ {one.body} }}" if one.body else ""
        call = f"('{one.name}', '{one.method}', {path}{body})"
        text += f"    /** {one.summary} */\n"
        if one.answer is None:
            text += f"    async {one.name}({argument}) {{\n        await this.#send{call};\n    }}\n\n"
        else:
            send = "send" if one.answer.get("type") == "string" else "json"
            text += f"    {one.name}({argument}) {{\n        return this.#{send}{call};\n    }}\n\n"
    return text


def typescript_type(schema: Schema) -> str:
    if name := named(schema):
        return name
    if "oneOf" in schema:
        return " | ".join(typescript_type(each) for each in schema["oneOf"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "enum" in schema:
        return " | ".join("null" if value is None else f"'{value}'" for value in schema["enum"])
    if kinds == ["array"]:
        return typescript_type(schema["items"]) + "[]"
    if kinds == ["object"]:
        return f"Record<string, {typescript_type(schema['additionalProperties'])}>"
    names = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}
    return " | ".join(names[kind] for kind in kinds)


def typescript_types(document: Schema) -> str:
    text = ""
    for name, schema in document["components"]["schemas"].items():
        text += f"/** {schema.get('description') or name} */\nexport interface {name} {{\n"
        required = schema.get("required", [])
        for field, of_field in schema["properties"].items():
            if "description" in of_field:
                text += f"    /** {of_field['description']} */\n"
            text += f"    {field}{'' if field in required else '?'}: {typescript_type(of_field)};\n"
        text += "}\n\n"
    return text


def typescript(document: Schema) -> str:
    text = ""
    for one in operations(document):
        sent = "faults: Fault | Fault[]" if one.has_faults else f"{one.body}: string" if one.body else ""
        argument = "id: number" if one.has_id else sent
        answer = "void" if one.answer is None else typescript_type(one.answer)
        text += f"    /** {one.summary} */\n    {one.name}({argument}): Promise<{answer}>;\n"
    return text


def go_type(schema: Schema) -> str:
    if name := named(schema):
        return name
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if kinds == ["array"]:
        return "[]" + go_type(schema["items"])
    if kinds == ["object"]:
        return f"map[string]{go_type(schema['additionalProperties'])}"
    name = {"integer": "uint64", "number": "float64", "string": "string", "boolean": "bool"}[kinds[0]]
    return "*" + name if "null" in kinds else name


def go_types(document: Schema) -> str:
    text = ""
    schemas = document["components"]["schemas"]
    for name in ["InstalledFault", "FaultList", "CatalogueEntry", "Stats", "KubernetesVersions", "UpgradeReport"]:
        text += f"// {name}: {first_low(schemas[name]['description'])}\ntype {name} struct {{\n"
        for field, schema in schemas[name]["properties"].items():
            # With a comment on each line gofmt aligns nothing.
            text += f"\t// {pascal(field)}: {first_low(schema.get('description', 'see its type.'))}\n"
            text += f'\t{pascal(field)} {go_type(schema)} `json:"{field}"`\n'
        text += "}\n\n"
    return text


def go(document: Schema) -> str:
    text = ""
    for one in operations(document):
        name = pascal(one.name)
        text += f"// {name} {first_low(one.summary)}\n"
        sent = ", faults ...Fault" if one.has_faults else f", {one.body} string" if one.body else ""
        arguments = "ctx context.Context" + (", id uint64" if one.has_id else sent)
        path = f'fmt.Sprintf("/{one.path.replace("{id}", "%d")}", id)' if one.has_id else f'"/{one.path}"'
        start = f'ctx, "{one.name}", http.Method{one.method.capitalize()}, {path}'
        answer = one.answer
        if answer is None:
            kind, call = "error", f"c.do({start})"
        elif answer.get("type") == "string":
            kind, call = "([]byte, error)", f"c.send({start}, nil)"
        elif answer.get("type") == "array":
            item = go_type(answer["items"])
            kind, call = f"([]{item}, error)", f"receiveAll[{item}]({start.replace('ctx', 'ctx, c', 1)})"
        else:
            text_body = f'map[string]string{{"{one.body}": {one.body}}}' if one.body else "nil"
            body = "faults" if one.has_faults else text_body
            kind, call = f"(*{named(answer)}, error)", f"receive[{named(answer)}]({start.replace('ctx', 'ctx, c', 1)}, {body})"
        text += f"func (c *Client) {name}({arguments}) {kind} {{\n\treturn {call}\n}}\n\n"
    return text


def go_faults(document: Schema) -> str:
    schema = document["components"]["schemas"]["Fault"]["properties"]["fault"]
    width = max(len(pascal(name)) for name in schema["enum"])
    names = "".join(f'\tFault{pascal(name):{width}} = "{name}"\n' for name in schema["enum"])
    return f"// The names of faults: Fault.Name. The catalogue tells what they do, and their parameters.\nconst (\n{names})\n"


def java(document: Schema) -> str:
    text = ""
    for one in operations(document):
        sent = "Fault... faults" if one.has_faults else f"String {one.body}" if one.body else ""
        argument = "long id" if one.has_id else sent
        path = f'"/{one.path.removesuffix("{id}")}" + id' if one.has_id else f'"/{one.path}"'
        text_body = f'Json.write(Map.of("{one.body}", {one.body}))' if one.body else "null"
        body = "bodyOf(faults)" if one.has_faults else text_body
        send = f'send("{one.name}", "{one.method}", {path}, {body})'
        answer = one.answer
        if answer is None:
            kind, call = "void", send
        elif answer.get("type") == "string":
            kind, call = "String", f"return {send}"
        elif answer.get("type") == "array":
            item = named(answer["items"])
            kind, call = f"List<{item}>", f"return all({send}, Control::{first_low(item or '')})"
        else:
            name = named(answer) or ""
            kind, call = name, f"return {first_low(name)}(cast(Json.read({send})))"
        text += f"    /** {one.summary} */\n    public {kind} {one.name}({argument}) {{\n        {call};\n    }}\n\n"
    return text


def java_faults(document: Schema) -> str:
    schema = document["components"]["schemas"]["Fault"]["properties"]["fault"]
    return "".join(f'    public static final String {name.upper()} = "{name}";\n' for name in schema["enum"])


# File, sign of comments, and what is between its markers, from the first to the last.
FILES = [
    ("python/python/fakeserver/_control.py", "#", [python]),
    ("npm/control.mjs", "//", [javascript]),
    ("npm/control.d.ts", "//", [typescript_types, typescript]),
    ("go/control/control.go", "//", [go_types, go]),
    ("go/control/faults.go", "//", [go_faults]),
    ("java/src/main/java/fakeserver/Control.java", "//", [java]),
    ("java/src/main/java/fakeserver/Faults.java", "//", [java_faults]),
]


def rewritten(text: str, comment: str, parts: list[str], name: str) -> str:
    """Returns the text with other parts between its markers."""
    pattern = re.compile(rf"^([ \t]*){comment} {re.escape(BEGIN)}\n(.*?)^[ \t]*{comment} {END}\n", re.MULTILINE | re.DOTALL)
    left = iter(parts)

    def replaced(found: re.Match[str]) -> str:
        indent, part = found[1], next(left, None)
        if part is None:
            sys.exit(f"control_clients: {name} has more markers than parts")
        return f"{indent}{comment} {BEGIN}\n\n{part.rstrip()}\n\n{indent}{comment} {END}\n"

    result = pattern.sub(replaced, text)
    if next(left, None) is not None:
        sys.exit(f"control_clients: {name} has fewer markers than parts")
    return result


def main() -> None:
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-") or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__)
    document = fetch(sys.argv[1])
    stale = []
    for name, comment, emitters in FILES:
        file = PACKAGES / name
        old = file.read_text(encoding="utf-8")
        new = rewritten(old, comment, [emit(document) for emit in emitters], name)
        if new != old:
            stale.append(name)
            if not sys.argv[2:]:
                file.write_text(new, encoding="utf-8")
    if sys.argv[2:] and stale:
        sys.exit(f"control_clients: not as the server describes it: {', '.join(stale)}; run this without --check")
    for name in stale:
        print(PACKAGES / name)


if __name__ == "__main__":
    main()
