#!/usr/bin/env bash
# Changes the pure cores of informer one place at a time, and lists the changes that no unit test notices:
# scripts/mutants.sh [FILE...]
# Without arguments all files of .cargo/mutants.toml: some hours on two cores. What was found is in target/mutants.out.
set -euo pipefail
cd "$(dirname "$0")/.."

export PATH="$PWD/target/tools/bin:$PATH"
if ! command -v cargo-mutants >/dev/null; then
    cargo install cargo-mutants --locked --root target/tools
fi

files=()
for file in "$@"; do
    files+=(--file "$file")
done
# Mutants that survive end it with status 2, as those that hang do with 3.
cargo mutants --package informer --no-shuffle --output target "${files[@]}"
