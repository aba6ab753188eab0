#!/usr/bin/env bash
# The wheel of fakeserver: the program, the module and its pytest plugin. scripts/package.sh runs this.
#
# PYTHON is the interpreter that tries it, python3 by default, 3.9 or newer; the clients that are tried want 3.10.
# CONFORMANCE_BIN is the program for the marker `survive`: see common.sh.
. scripts/packages/common.sh

readonly SOURCES=fakeserver/packages/python
readonly PYTHON=${PYTHON:-python3}
# Bytes: what PyPI's users wait for, and what they keep.
readonly WHEEL_MAX=9000000 PROGRAM_MAX=20000000
# Seconds: long for tests that take a minute or two; short for one that hangs.
readonly LIMIT=900

# Makes a virtual environment, and installs packages by the arguments that follow.
# environment FOLDER ARGUMENT...
environment() {
    local folder=$1
    shift
    "$PYTHON" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2
}

need_python() {
    need "$PYTHON" 'Python 3.9 or newer, with venv, from the distribution'
    if ! "$PYTHON" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
        echo "package: $PYTHON is too old, or without venv: Python 3.9 or newer with venv is needed" >&2
        exit 2
    fi
}

# check_size WHAT BYTES MAX
check_size() {
    echo "package: wheel: $1: $2 bytes of at most $3" >&2
    if [ "$2" -gt "$3" ]; then
        echo "package: wheel: $1 is too large" >&2
        exit 1
    fi
}

# Builds the wheel, checks its size and that of its program, and prints its path.
build() {
    need_python
    need cargo 'Rust, from its own installer or from the distribution'
    local tools=$TARGET/tools/wheel requirements=scripts/packages/wheel-build.txt folder wheel size
    if ! cmp -s "$requirements" "$tools/installed-from"; then
        rm -rf "$tools"
        environment "$tools" -r "$requirements" || {
            echo "package: maturin or twine is missing, and cannot be installed from PyPI" >&2
            exit 2
        }
        cp "$requirements" "$tools/installed-from"
    fi
    folder=$(fresh wheel-build)
    # maturin reads the pyproject.toml of the folder in which it is run.
    (
        cd "$SOURCES"
        PYTHONPYCACHEPREFIX=$tools/cache "$tools/bin/maturin" build --quiet --profile small --locked \
            --target-dir "$TARGET" --out "$folder"
    ) >&2
    wheel=$(echo "$folder"/fakeserver-"$(version)"-*.whl)
    check_size wheel "$(stat -c %s "$wheel")" "$WHEEL_MAX"
    size=$("$PYTHON" -c '
import sys, zipfile
print(max(each.file_size for each in zipfile.ZipFile(sys.argv[1]).infolist() if each.filename.endswith("/scripts/fakeserver")))
' "$wheel")
    check_size program "$size" "$PROGRAM_MAX"
    "$tools/bin/twine" check --strict "$wheel" >&2
    mv "$wheel" "$PACKAGES/"
    echo "$PACKAGES/$(basename "$wheel")"
}

# Runs a command with the programs of the environment and of the system, and with nothing of this shell.
alone() {
    env -i HOME="$folder/home" TMPDIR="$folder/tmp" LANG=C.UTF-8 PATH="$venv/bin:/usr/bin:/bin" \
        PYTHONPYCACHEPREFIX="$folder/cache" CONFORMANCE_BIN="$conformance" timeout "$LIMIT" "$@"
}

# Writes the tests of the README, each a block of Python that begins with the name of its module.
write_readme_tests() {
    "$PYTHON" - "$SOURCES/README.md" "$1" <<'END'
import pathlib, re, sys
text = pathlib.Path(sys.argv[1]).read_text()
blocks = re.findall(r"^```python\n# (test_\w+)\n(.*?)^```$", text, flags=re.M | re.S)
assert blocks, "the README has no test"
for name, block in blocks:
    pathlib.Path(sys.argv[2], f"{name}.py").write_text(block)
END
}

# Installs the wheel into an empty environment; runs the program, the README's tests, the package's own, and other clients.
try() {
    need_python
    local wheel=$1 folder venv left conformance
    conformance=$(conformance wheel)
    folder=$(fresh wheel)
    venv=$folder/venv
    mkdir "$folder"/{home,tmp,readme}
    environment "$venv" "$wheel"
    if (PATH=$venv/bin:/usr/bin:/bin && command -v cargo) >/dev/null; then
        echo "package: wheel: this machine has Rust where the package is tried, so that its absence is not" >&2
    fi
    alone fakeserver --version
    # A line of the README that looks like a header of a mail would break it.
    alone python -c 'import importlib.metadata; print(importlib.metadata.metadata("fakeserver"))' >/dev/null
    alone fakeserver run -- python -c 'import os; assert os.path.exists(os.environ["KUBECONFIG"])'
    alone python -c 'import fakeserver
with fakeserver.Server() as server: print("package: wheel: without pytest:", server.stats()["revision"], "revisions")'

    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r scripts/packages/wheel-try.txt
    write_readme_tests "$folder/readme"
    (cd "$folder/readme" && alone pytest --quiet -p no:cacheprovider --basetemp="$folder/pytest" --strict-markers .)
    cp -r "$SOURCES/tests" "$folder/tests"
    (cd "$folder/tests" && alone pytest --quiet -p no:cacheprovider --basetemp="$folder/pytest" --strict-markers .)
    (cd "$folder/tests" && alone pytest --quiet -p no:cacheprovider --basetemp="$folder/pytest" -n 2 --dist loadfile \
        test_isolation.py test_clients.py)
    PROGRAMS=$venv/bin scripts/interop/run.sh python
    # kr8s leaves certificates.
    left=$(find "$folder/tmp" -path '*/fakeserver-*')
    if [ -n "$left" ]; then
        echo "package: wheel: files are left: $left" >&2
        exit 1
    fi
}

"$@"
