#!/usr/bin/env python3
"""Makes the data of one Kubernetes version: what the server embeds of its types, schemas, discovery, tables, objects and gates.

    scripts/kubernetes.py 1.37.0 --checkout ../kubernetes
    scripts/kubernetes.py 1.37.0 --checkout ../kubernetes --server https://127.0.0.1:6443 --token-file token --record ../answers
    scripts/kubernetes.py 1.36.2 --checkout ../kubernetes --clones .. --recorded ../answers --output /tmp/versions

The checkout is of kubernetes/kubernetes at the tag of the version. With --clones, the types are those of the tagged clones of
kubernetes/api, apimachinery, apiextensions-apiserver and kube-aggregator. A server has to be a fresh one, and its token that of
an administrator. What no server answers is derived: schemas from the types, discovery from what the release publishes, columns and
gates from the sources; initial objects cannot be. The file SOURCES says of each file where it is from. CONTRIBUTING.md has the steps
under "Move to the next Kubernetes".
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from kubernetes_data import answers, discovery, flags, gates, objects, schemas, structure, tables, types
from kubernetes_data.clones import Failure
from kubernetes_data.sources import Sources

ROOT = Path(__file__).resolve().parent.parent
PRESENT_FLAGS = "fakeserver/*/data/**/kube-apiserver-flags.txt"
PACK = ROOT / "scripts/kubernetes_pack.py"


def arguments():
    summary, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", metavar="VERSION", help="as 1.37.0; a clone that lacks it gives its newest patch release")
    parser.add_argument("--checkout", type=Path, required=True, help="work tree of kubernetes/kubernetes at the version")
    parser.add_argument("--clones", type=Path, help="folder with clones of the repositories of the types, instead of the checkout's")
    parser.add_argument("--recorded", type=Path, help="folder of recorded answers of a server of the version")
    parser.add_argument("--server", help="address of a fresh server of the version")
    parser.add_argument("--token-file", type=Path, help="file with an administrator's bearer token for --server")
    parser.add_argument("--insecure", action="store_true", help="do not verify the certificate of --server")
    parser.add_argument("--program", help="the program kube-apiserver of the version, for its flags")
    parser.add_argument("--record", type=Path, help="folder for the answers of --server, for --recorded later")
    parser.add_argument("--leave-out", metavar="TEXT", help="initial objects with this in their names are a distributor's: leave them out")
    parser.add_argument("--output", type=Path, help="folder that gets a folder of the minor version [target/kubernetes]")
    parser.add_argument("--pack", action="store_true", help="embed the files with scripts/kubernetes_pack.py")
    options = parser.parse_args()
    if options.server and options.recorded:
        parser.error("--server and --recorded are two sources of the same answers: give one")
    if options.server and not options.record:
        parser.error("--server needs --record, a folder for its answers")
    if not re.fullmatch(r"1\.\d+(\.\d+(-[\w.]+)?)?", options.version):
        parser.error(f"{options.version} is no version: write it as 1.37.0")
    return options


def recorded_of(options):
    """Returns the answers of a server of the version, or None."""
    if options.server:
        token = options.token_file.read_text(encoding="utf-8").strip() if options.token_file else None
        recorded = answers.Server(options.server, token, not options.insecure).record(options.record, options.program)
    elif options.recorded:
        recorded = answers.Recorded(options.recorded)
    else:
        return None
    found = answers.version_of(recorded)
    if found and found.split(".")[:2] != options.version.split(".")[:2]:
        raise Failure(f"the server is {found}, not {options.version}")
    return recorded


class Output:
    """The folder of a version, and where its files are from."""

    def __init__(self, folder):
        self.folder, self.lines = folder, []
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, name, text, origin):
        (self.folder / name).write_text(text, encoding="utf-8")
        self.note(name, origin)

    def note(self, name, origin):
        self.lines.append(f"{name}: {origin}")
        print(f"{name}: {origin}", file=sys.stderr, flush=True)

    def finish(self):
        (self.folder / "SOURCES").write_text("\n".join(self.lines) + "\n", encoding="utf-8")


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def make(options):
    minor = ".".join(options.version.split(".")[:2])
    output = Output((options.output or ROOT / "target/kubernetes") / minor)
    recorded = recorded_of(options)
    server = f"kube-apiserver v{recorded and answers.version_of(recorded) or options.version}"
    sources = Sources.of_clones(options.clones, options.version) if options.clones else Sources.of_checkout(options.checkout, options.version)
    core, groups = write_discovery(output, recorded, options.checkout)
    write_schemas(output, recorded, sources, server, (core, groups))
    write_gates(output, recorded, options.checkout, sources.minor)
    write_tables(output, recorded, options.checkout, core + groups)
    write_objects(output, recorded, options.leave_out)
    write_flags(output, recorded)
    output.finish()
    return output.folder


def write_discovery(output, recorded, checkout):
    """Writes what is served, and returns it with what a gate adds."""
    core, groups, every = discovery.published(checkout)
    origin = f"derived from {discovery.PUBLISHED} and {discovery.PUBLISHED_CORE}"
    if recorded and recorded.text(answers.DISCOVERY):
        core, groups = recorded.json(answers.DISCOVERY_CORE)["items"], recorded.json(answers.DISCOVERY)["items"]
        origin = "recorded; what a gate adds derived from what the release publishes"
    gated = discovery.gated(every)
    output.write("discovery.json", discovery.text(core, groups, gated), origin)
    return core + gated, groups


def write_schemas(output, recorded, sources, server, discovered):
    core, groups = discovered
    made = schemas.make(sources, core + groups, server)
    origin = f"derived from the Go types of {sources}"
    if recorded and recorded.text(answers.OPENAPI):
        answer = recorded.json(answers.OPENAPI)
        found = structure.make(answer.get("documents", answer), server)
        for name, schema in made["definitions"].items():
            found["definitions"].setdefault(name, schema)
        found["definitions"] = dict(sorted(found["definitions"].items()))
        made, origin = found, "recorded; what a gate adds derived from the Go types"
    output.write("openapi-structure.json", compact(made), origin)
    output.write("types.json", compact(types.make(sources, made["definitions"], server)), f"derived from {sources}")


def write_gates(output, recorded, checkout, minor):
    found, origin = gates.declared(checkout, minor), "derived from the sources of the gates"
    if recorded and recorded.text(answers.METRICS):
        reported = gates.reported(recorded.text(answers.METRICS))
        for name in sorted(set(found) - set(reported)):
            print(f"the sources declare the gate {name}, the server does not report it", file=sys.stderr)
        found, origin = gates.merge(found, reported), "recorded, with locks from the sources"
    output.write("feature-gates.txt", gates.text(found), origin)
    output.write("feature-stages.txt", gates.stages(found), origin)


def write_tables(output, recorded, checkout, groups):
    rows, origin = tables.derived(checkout, groups), "derived from the columns that the sources declare"
    if recorded and recorded.text(answers.TABLES):
        rows, origin = rows | tables.recorded(recorded.json(answers.TABLES)), "recorded; what a gate adds derived"
    output.write("table-columns.json", tables.text(rows), origin)


def write_objects(output, recorded, left_out):
    if not (recorded and recorded.text(answers.OBJECTS)):
        output.note("initial-objects.jsonl", "missing: only a fresh server has them; those of the nearest version stand in")
        return
    lines = objects.text(recorded.json(answers.OBJECTS), left_out)
    output.write("initial-objects.jsonl", lines, "recorded" + (f", without what has {left_out} in its name" if left_out else ""))


def write_flags(output, recorded):
    help_text = recorded and recorded.text(answers.FLAGS)
    if not help_text:
        output.note("kube-apiserver-flags.txt", "missing: it needs the program's --help; those of the nearest version stand in")
        return
    # What was said of flags by hand is kept, also in a file that is made again.
    files = [*sorted(ROOT.glob(PRESENT_FLAGS)), output.folder / "kube-apiserver-flags.txt"]
    present = "".join(path.read_text(encoding="utf-8") for path in files if path.exists())
    lines, fresh, hidden = flags.text(help_text, present)
    output.write("kube-apiserver-flags.txt", lines, "recorded; what they mean here by hand")
    if fresh:
        print(f"say in kube-apiserver-flags.txt what these mean here: {', '.join(fresh)}", file=sys.stderr)
    print(f"flags that the help does not name, hidden ones or gone: {', '.join(hidden)}", file=sys.stderr)


def main():
    options = arguments()
    try:
        folder = make(options)
    except Failure as failure:
        sys.exit(f"kubernetes.py: {failure}")
    print(folder)
    if options.pack:
        subprocess.run([sys.executable, PACK, folder.parent, folder.name], check=True)


main()
