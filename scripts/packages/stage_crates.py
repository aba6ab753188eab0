"""Copies the workspace as registries take it, to a new folder.

  python3 scripts/packages/stage_crates.py FOLDER

There, crates of the workspace depend on each other by version, none depends on `workspace-hack`, which only saves compilation here,
tests do not depend on crates of the workspace, and the field `publish` of the workspace is true. Crates that say `publish = false`
themselves stay what they are.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

HACK = "workspace-hack"


def members(workspace: dict) -> dict[str, str]:
    """Returns the names of the workspace's crates and their folders."""
    folders = workspace["workspace"]["members"]
    return {tomllib.loads(pathlib.Path(folder, "Cargo.toml").read_text())["package"]["name"]: folder for folder in folders}


def root_manifest(text: str, version: str) -> str:
    """Returns the manifest of the workspace."""
    text = re.sub(r'^(\S+ = \{ )(?:version = "[^"]+", )?(path = )', rf'\1version = "{version}", \2', text, flags=re.MULTILINE)
    return re.sub(r"^publish = false$", "publish = true", text, flags=re.MULTILINE)


def manifest(text: str, names: set[str]) -> str:
    """Returns the manifest of a crate, in which each dependency is a line."""
    section, lines = "", []
    for line in text.splitlines(keepends=True):
        if line.startswith("["):
            section = line.strip()
        name = re.match(r"[\w-]+(?=\.| *=)", line)
        is_dropped = name and (name[0] == HACK or (section == "[dev-dependencies]" and name[0] in names))
        if not is_dropped:
            lines.append(line)
    return "".join(lines)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True, text=True).stdout
    for name in filter(pathlib.Path.is_file, map(pathlib.Path, listed.split("\0"))):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, folder / name)
    text = pathlib.Path("Cargo.toml").read_text()
    workspace = tomllib.loads(text)
    (folder / "Cargo.toml").write_text(root_manifest(text, workspace["workspace"]["package"]["version"]))
    crates = members(workspace)
    for place in crates.values():
        path = folder / place / "Cargo.toml"
        path.write_text(manifest(path.read_text(), set(crates)))


if __name__ == "__main__":
    main()
