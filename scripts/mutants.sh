#!/usr/bin/env bash
# Changes the pure cores of informer one place at a time, and lists the changes that no unit test notices:
# scripts/mutants.sh [--shard K/N] [FILE...]    for example informer/src/delta_fifo/queue.rs
# Without files all of .cargo/mutants.toml: two hours on two cores. `--shard 0/4` is the first quarter of the changes.
# What was found is in target/mutants.out.
set -euo pipefail
cd "$(dirname "$0")/.."

export PATH="$PWD/target/tools/bin:$PATH"
if ! command -v cargo-mutants >/dev/null; then
    cargo install cargo-mutants --locked --root target/tools
fi

options=()
if [ "${1:-}" = --shard ]; then
    options+=(--shard "$2")
    shift 2
fi
# What is named by --file would come on top of what the settings name.
for file in "$@"; do
    options+=(--re "^$file:")
done
# Mutants that survive end it with status 2, as those that hang do with 3.
cargo mutants --package informer --no-shuffle --output target "${options[@]}"
