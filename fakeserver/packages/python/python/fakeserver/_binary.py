"""The place of the program."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

from ._errors import BinaryNotFoundError

#: The environment variable that names the program.
VARIABLE = "FAKESERVER_BIN"


def find_binary() -> str:
    """Returns the path of the program: that of `FAKESERVER_BIN`, the installed one, or the first on the `PATH`."""
    named = os.environ.get(VARIABLE)
    if named:
        if not _is_program(Path(named)):
            raise BinaryNotFoundError(f"{VARIABLE}={named} is no program; unset it, or let it name one")
        return named
    places = _script_folders()
    for place in places:
        if _is_program(place / "fakeserver"):
            return str(place / "fakeserver")
    found = shutil.which("fakeserver")
    if found is not None:
        return found
    looked = ", ".join(str(place) for place in places)
    raise BinaryNotFoundError(
        f"the program fakeserver is missing: it is not in {looked}, nor on the PATH. "
        f"`pip install --force-reinstall fakeserver` installs it; {VARIABLE} can name another one"
    )


def _script_folders() -> list[Path]:
    """Returns the folders in which an installation of this package may have its program, the likeliest first."""
    preferred = getattr(sysconfig, "get_preferred_scheme", lambda _: f"{os.name}_user")
    names = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", preferred("user"))]
    # `pip install --target FOLDER` puts programs into FOLDER/bin.
    names.append(str(Path(__file__).resolve().parent.parent / "bin"))
    return [Path(name) for name in dict.fromkeys(names)]


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
