#!/usr/bin/env bash
# Judges a seeded sample of mutants of informer, by the harness alone first, then by informer's tests; see --help.
# What it needs is installed below target/tools: cargo-mutants, which lists the mutants, and a parser of Rust for Python.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TOOLS=${CARGO_TARGET_DIR:-$PWD/target}/tools
readonly REQUIREMENTS=scripts/mutants/requirements.txt

export PATH="$TOOLS/bin:$PATH"
if ! command -v cargo-mutants >/dev/null; then
    cargo install cargo-mutants --locked --root "$TOOLS" || exit 2
fi
if ! cmp -s "$REQUIREMENTS" "$TOOLS/python/installed-from"; then
    rm -rf "$TOOLS/python"
    python3 -m venv "$TOOLS/python" || exit 2
    "$TOOLS/python/bin/python" -m pip install --quiet --disable-pip-version-check -r "$REQUIREMENTS" || exit 2
    cp "$REQUIREMENTS" "$TOOLS/python/installed-from"
fi
# Compiled modules belong below target, too.
export PYTHONPYCACHEPREFIX=$TOOLS/python/cache
exec "$TOOLS/python/bin/python" scripts/mutants "$@"
