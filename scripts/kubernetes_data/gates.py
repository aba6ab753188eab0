"""Makes feature-gates.txt: names, defaults and locks, from the sources of a version and what a server reports in /metrics."""

import re

# Where the gates that kube-apiserver takes are declared, below a checkout of kubernetes/kubernetes.
DECLARATIONS = (
    "pkg/features/*kube_features.go",
    "staging/src/k8s.io/*/features/k*_features.go",
    "staging/src/k8s.io/*/*/features/k*_features.go",
    "staging/src/k8s.io/component-base/logs/api/v1/kube_features.go",
)
# `Gate featuregate.Feature = "Gate"`, `Gate = featuregate.Feature("Gate")`.
NAME = re.compile(r'^\s*(?:const |var )?(\w+)(?:\s+(?:\w+\.)?Feature)?\s*= (?:(?:\w+\.)?Feature\()?"(\w+)"', re.M)
# A map of gates, and one of its entries.
LIST = re.compile(r"map\[(?:featuregate\.)?Feature\](?:featuregate\.)?(?:VersionedSpecs|FeatureSpec) ?\{")
ENTRY = re.compile(r"(?:\w+\.)?(\w+):\s*\{")
SPEC = re.compile(r"\{?\s*(?:Version: (?:\w+\.)?(?:MustParse|MajorMinor)\(([^)]*)\), )?((?:Default|PreRelease): [^}]*)")
REPORTED = re.compile(r'^kubernetes_feature_enabled\{name="(\w+)",stage="(\w*)"\} (\d)', re.M)
STAGES = {"Alpha": "ALPHA", "Beta": "BETA", "GA": "", "Deprecated": "DEPRECATED"}


class Gate:
    """A gate at one version."""

    def __init__(self, is_on, is_locked, stage):
        self.is_on, self.is_locked, self.stage = is_on, is_locked, stage


def declared(checkout, minor):
    """Returns the gates of 1.MINOR by name."""
    names, bodies = {}, []
    for pattern in DECLARATIONS:
        for path in sorted(checkout.glob(pattern)):
            text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
            for match in NAME.finditer(text):
                names[match.group(1)] = match.group(2)
            bodies.append(text)
    # The first two are in no list: they stand for the others.
    gates = {"AllAlpha": Gate(False, False, "ALPHA"), "AllBeta": Gate(False, False, "BETA")}
    for text in bodies:
        for start in LIST.finditer(text):
            for constant, body in entries(text[start.end():closing_brace(text, start.end())]):
                gate = at_version(body, minor)
                if gate and constant in names:
                    gates[names[constant]] = gate
    return gates


def closing_brace(text, at):
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at - 1


def entries(block):
    """Yields the keys of a map and the text of their values."""
    at = 0
    while match := ENTRY.search(block, at):
        at = closing_brace(block, match.end())
        yield match.group(1), block[match.end():at]


def at_version(body, minor):
    """Returns the newest of a gate's specifications that holds, or None if the gate came later."""
    found = None
    for version, fields in SPEC.findall(body):
        if version and int(re.findall(r"\d+", version)[1]) > minor:
            continue
        stage = re.search(r"PreRelease: (?:\w+\.)?(\w+)", fields)
        stage = STAGES.get(stage.group(1), "") if stage else ""
        found = Gate(bool(re.search(r"\bDefault: true", fields)), "LockToDefault: true" in fields, stage)
    return found


def reported(metrics):
    """Returns what a server's /metrics reports: name -> (stage, is on)."""
    return {name: (stage, on == "1") for name, stage, on in REPORTED.findall(metrics)}


def text(gates):
    lines = [f"{name} {'true' if gate.is_on else 'false'}{' locked' if gate.is_locked else ''}" for name, gate in sorted(gates.items())]
    return "\n".join(lines) + "\n"


def stages(gates):
    return "".join(f"{name} {gate.stage or 'GA'}\n" for name, gate in sorted(gates.items()))


def merge(declared, reported):
    """Returns the gates as a server reports them, with the locks that the sources declare.

    Gates that the server has beside are a distributor's.
    """
    return {name: Gate(reported[name][1], gate.is_locked, reported[name][0]) for name, gate in declared.items() if name in reported}
