#!/usr/bin/env bash
# Changes the pure cores of informer one place at a time, and lists the changes that no unit test notices:
# scripts/mutants.sh [FILE...]    for example informer/src/delta_fifo/queue.rs
# Without arguments all files of .cargo/mutants.toml: some hours on two cores. What was found is in target/mutants.out.
set -euo pipefail
cd "$(dirname "$0")/.."

export PATH="$PWD/target/tools/bin:$PATH"
if ! command -v cargo-mutants >/dev/null; then
    cargo install cargo-mutants --locked --root target/tools
fi

# What is named by --file would come on top of what the settings name.
files=()
for file in "$@"; do
    files+=(--re "^$file:")
done
# Mutants that survive end it with status 2, as those that hang do with 3.
cargo mutants --package informer --no-shuffle --output target "${files[@]}"
