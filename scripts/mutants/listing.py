"""Mutants as `cargo mutants` lists them, and a seeded sample, stratified by module."""

import json
import math
import random
import subprocess
from dataclasses import dataclass, field

# The modules that have targets; each is a stratum. The others are strata of their own after these.
CORE = (
    "reflector",
    "decode",
    "http",
    "delta_fifo",
    "indexer",
    "compact",
    "shared_informer",
    "processor",
    "handler",
    "lister",
)


@dataclass
class Mutant:
    """A change of one place."""

    number: int
    name: str
    genre: str
    file: str
    module: str
    function: str | None
    # ((line, column), (line, column)), from one, columns in characters.
    span: tuple
    replacement: str

    @property
    def line(self):
        return self.span[0][0]

    @property
    def change(self):
        """Returns the description without the place."""
        return self.name.split(": ", 1)[1] if ": " in self.name else self.name


@dataclass
class Stratum:
    """The mutants of one module, in the seeded order in which they are drawn."""

    module: str
    mutants: list = field(default_factory=list)
    # The number of mutants to draw.
    quota: int = 0


def module_of(file):
    """Returns the first folder or file below informer/src."""
    return file.removeprefix("informer/src/").split("/")[0].removesuffix(".rs")


def point(place):
    return (place["line"], place["column"])


def list_mutants(root):
    """Lists all mutants of informer, by `cargo mutants` and its settings."""
    command = ["cargo", "mutants", "--list", "--json", "--package", "informer"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    mutants = []
    for number, entry in enumerate(sorted(json.loads(listed), key=lambda entry: entry["name"])):
        span = (point(entry["span"]["start"]), point(entry["span"]["end"]))
        function = (entry.get("function") or {}).get("function_name")
        file = entry["file"]
        mutants.append(
            Mutant(number, entry["name"], entry["genre"], file, module_of(file), function, span, entry["replacement"])
        )
    return mutants


def strata(mutants, size, seed):
    """Divides the mutants by module and shares `size` among them.

    Modules with targets get nine tenths, by their numbers of mutants but no fewer than 12; the others get the rest.
    """
    by_module = {module: Stratum(module) for module in CORE}
    for mutant in mutants:
        by_module.setdefault(mutant.module, Stratum(mutant.module)).mutants.append(mutant)
    core = [by_module[module] for module in CORE]
    others = sorted((s for s in by_module.values() if s.module not in CORE), key=lambda s: s.module)
    share(core, math.ceil(size * 0.9), least=12)
    share(others, size - math.ceil(size * 0.9), least=1)
    for stratum in core + others:
        # A module's draw does not depend on the other modules.
        random.Random(f"{seed}/{stratum.module}").shuffle(stratum.mutants)
    return [stratum for stratum in core + others if stratum.mutants]


def share(strata_, size, least):
    total = sum(len(stratum.mutants) for stratum in strata_)
    for stratum in strata_:
        fair = round(size * len(stratum.mutants) / total)
        stratum.quota = min(len(stratum.mutants), max(least, fair))


def draw(strata_, not_viable):
    """Returns the sample: of each module the first mutants of its order that are viable, as many as its quota.

    They are interleaved, so that whatever has been judged when a run ends is stratified, too.
    """
    placed = []
    for stratum in strata_:
        viable = [mutant for mutant in stratum.mutants if mutant.number not in not_viable]
        for rank, mutant in enumerate(viable[: stratum.quota]):
            is_other = stratum.module not in CORE
            placed.append((is_other, (rank + 0.5) / stratum.quota, stratum.module, mutant))
    placed.sort(key=lambda entry: entry[:3])
    return [mutant for *_, mutant in placed]


def candidates(strata_, not_viable):
    """Returns the mutants to build: of each module twice its quota, since some will not compile; more if too many did not."""
    chosen = []
    for stratum in strata_:
        viable = []
        for rank, mutant in enumerate(stratum.mutants):
            if rank >= 2 * stratum.quota and len(viable) >= stratum.quota:
                break
            if mutant.number not in not_viable:
                viable.append(mutant)
        chosen += viable
    return chosen
