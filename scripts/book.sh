#!/usr/bin/env bash
# Builds the book of docs into target/book, and checks it: links and anchors lead somewhere, and Rust examples compile.
# mdBook is installed below target/tools.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TARGET=${CARGO_TARGET_DIR:-$PWD/target}
readonly TOOLS=$TARGET/tools/book REQUIREMENTS=docs/requirements.txt

if ! cmp -s "$REQUIREMENTS" "$TOOLS/installed-from"; then
    rm -rf "$TOOLS"
    python3 -m venv "$TOOLS" || exit 2
    "$TOOLS/bin/python" -m pip install --quiet --disable-pip-version-check -r "$REQUIREMENTS" || exit 2
    cp "$REQUIREMENTS" "$TOOLS/installed-from"
fi
"$TOOLS/bin/mdbook" build --dest-dir "$TARGET/book" docs
"$TOOLS/bin/python" scripts/book/check.py "$TARGET/book"
# Rust code of the book is that of these examples; tests run them.
mapfile -t names < <(grep -rhoP '#include \S*/examples/\K\w+' docs/src | sort -u)
cargo build --quiet --locked -p examples "${names[@]/#/--example=}"
echo "book: ok, $TARGET/book/index.html"
