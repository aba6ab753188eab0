"""Makes kube-apiserver-flags.txt: the flags of the program's --help, with what this project says of them."""

import re

# `  -v, --v Level   help`, `      --name   help`, `      --version version[=true]   help`.
FLAG = re.compile(r"^ +(?:-\w, )?--([\w-]+)(?: (\S+))?", re.M)
OWN = ("help",)


def text(help_text, present):
    """Returns the lines, and what of them needs a look: the flags that are new, and those that the help does not name.

    The help leaves out flags that are hidden, so a flag of the present file stays.
    """
    lines = {line.split(" ", 1)[0]: line for line in present.splitlines()}
    found = {match.group(1): match.group(2) or "" for match in FLAG.finditer(help_text)}
    found = {name: kind for name, kind in found.items() if name not in OWN}
    fresh = set(found) - set(lines)
    for name in fresh:
        takes_value = found[name] and "[=true]" not in found[name]
        lines[name] = f"{name} {'value' if takes_value else 'bool'}"
    return "\n".join(lines[name] for name in sorted(lines)) + "\n", sorted(fresh), sorted(set(lines) - set(found))
