"""What a running API server answers of its version, or what it answered once, from a folder."""

import json
import lzma
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from .clones import Failure

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
# A file for each, with .xz or not.
DISCOVERY_CORE, DISCOVERY, VERSION = "discovery-api.json", "discovery-apis.json", "version.json"
OPENAPI, METRICS, TABLES, OBJECTS, FLAGS = "openapi-v3.json", "feature-gates.txt", "tables.json", "objects.json", "flags.txt"


class Recorded:
    """Answers in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise Failure(f"{folder} is no folder of recorded answers")

    def text(self, name):
        """Returns an answer, or None if it was not recorded."""
        plain, packed = self.folder / name, self.folder / f"{name}.xz"
        if plain.exists():
            return plain.read_text(encoding="utf-8")
        return lzma.decompress(packed.read_bytes()).decode() if packed.exists() else None

    def json(self, name):
        text = self.text(name)
        return json.loads(text) if text is not None else None


class Server:
    """A server that has just started, with nothing in it but what it makes itself."""

    def __init__(self, address, token, is_verified):
        self.address, self.token = address.rstrip("/"), token
        self.context = None
        if address.startswith("https:") and not is_verified:
            self.context = ssl.create_default_context()
            self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE

    def get(self, path, accept="application/json"):
        request = urllib.request.Request(self.address + path, headers={"Accept": accept})
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=60, context=self.context) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise Failure(f"GET {self.address}{path}: {error.code} {error.read(300).decode(errors='replace')}") from error
        except OSError as error:
            raise Failure(f"GET {self.address}{path}: {error}") from error

    def record(self, folder, program):
        """Writes all answers into a folder, and the flags of the program if it is given."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write = lambda name, text: (folder / name).write_text(text, encoding="utf-8")  # noqa: E731
        write(VERSION, self.get("/version"))
        core, groups = self.get("/api", AGGREGATED), self.get("/apis", AGGREGATED)
        write(DISCOVERY_CORE, core)
        write(DISCOVERY, groups)
        metrics = self.get("/metrics", "text/plain").split("\n")
        write(METRICS, "\n".join(sorted(line for line in metrics if line.startswith("kubernetes_feature_enabled{"))) + "\n")
        paths = json.loads(self.get("/openapi/v3"))["paths"]
        documents = {}
        for number, (path, entry) in enumerate(sorted(paths.items()), 1):
            progress(f"OpenAPI {number}/{len(paths)} {path}")
            documents[path] = json.loads(self.get(entry["serverRelativeURL"]))
        write(OPENAPI, json.dumps({"documents": documents}, separators=(",", ":")))
        tables, objects = {}, {}
        rows = list(listed(json.loads(core)["items"] + json.loads(groups)["items"]))
        for number, (group, version, resource) in enumerate(rows, 1):
            progress(f"tables and objects {number}/{len(rows)} {resource}")
            path = f"/apis/{group}/{version}/{resource}" if group else f"/api/{version}/{resource}"
            tables[path.split("/", 2)[2]] = json.loads(self.get(path, TABLE))["columnDefinitions"]
            objects.setdefault(f"{group}/{resource}", json.loads(self.get(path))["items"])
        write(TABLES, json.dumps(tables))
        write(OBJECTS, json.dumps(objects))
        if program:
            run = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60)
            write(FLAGS, run.stdout)
        return Recorded(folder)


def listed(groups):
    """Yields group, version and resource of everything that can be listed, the preferred version first."""
    for group in groups:
        for version in group["versions"]:
            for row in version["resources"]:
                if "list" in row["verbs"]:
                    yield group["metadata"].get("name", ""), version["version"], row["resource"]


def version_of(recorded):
    """Returns the version of the recorded server, as 1.36.2."""
    answer = recorded.json(VERSION)
    found = re.match(r"v(\d+\.\d+\.\d+)", answer["gitVersion"]) if answer else None
    return found and found.group(1)


def progress(words):
    print(words, file=sys.stderr, flush=True)
