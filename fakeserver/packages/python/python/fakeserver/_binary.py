"""The places of the programs."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

from ._errors import BinaryNotFoundError

#: The environment variable that names the program.
VARIABLE = "FAKESERVER_BIN"

#: The environment variable that names the program `conformance`, which is in no wheel.
CONFORMANCE_VARIABLE = "CONFORMANCE_BIN"


def find_binary() -> str:
    """Returns the path of the program: that of `FAKESERVER_BIN`, the installed one, or the first on the `PATH`."""
    named = _named(VARIABLE)
    if named is not None:
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


def find_conformance() -> str:
    """Returns the path of the program `conformance`: that of `CONFORMANCE_BIN`, or the first on the `PATH`."""
    found = _named(CONFORMANCE_VARIABLE) or shutil.which("conformance")
    if found is None:
        raise BinaryNotFoundError(
            "the program conformance is missing: it is not on the PATH, and not in this wheel. "
            "`cargo install --path conformance` in the repository of fakeserver installs it; "
            f"{CONFORMANCE_VARIABLE} can name one"
        )
    # The commands run in the folder of their test.
    return str(Path(found).absolute())


def _named(variable: str) -> str | None:
    """Returns the program that an environment variable names."""
    named = os.environ.get(variable)
    if named and not _is_program(Path(named)):
        raise BinaryNotFoundError(f"{variable}={named} is no program; unset it, or let it name one")
    return named or None


def _script_folders() -> list[Path]:
    """Returns the folders in which an installation of this package may have its program, the likeliest first."""
    preferred = getattr(sysconfig, "get_preferred_scheme", lambda _: f"{os.name}_user")
    names = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", preferred("user"))]
    # `pip install --target FOLDER` puts programs into FOLDER/bin.
    names.append(str(Path(__file__).resolve().parent.parent / "bin"))
    return [Path(name) for name in dict.fromkeys(names)]


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
