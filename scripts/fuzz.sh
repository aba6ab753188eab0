#!/usr/bin/env bash
# Runs every fuzz target of the fake server for some seconds each: scripts/fuzz.sh [SECONDS] [TARGET...]
# A crash is kept in fakeserver/fuzz/artifacts, and its path is printed. With 0 seconds it only replays the seeds.
set -euo pipefail
cd "$(dirname "$0")/../fakeserver"

seconds=${1:-60}
shift || true
export PATH="$PWD/../target/tools/bin:$PATH"
if [ "$seconds" != 0 ] && ! command -v cargo-fuzz >/dev/null; then
    cargo install cargo-fuzz --locked --root ../target/tools
fi

targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do
        targets+=("$(basename "$file" .rs)")
    done
fi

# The versions of the workspace; what only the targets need is added.
cp ../Cargo.lock fuzz/Cargo.lock

if [ "$seconds" = 0 ]; then
    # Without instrumentation, which is not needed to replay, what is built is shared with the tests.
    cargo build --quiet --manifest-path fuzz/Cargo.toml --target-dir ../target
    for target in "${targets[@]}"; do
        echo "replay: $target"
        "../target/debug/$target" "fuzz/seeds/$target"/* >/dev/null 2>&1 || {
            "../target/debug/$target" "fuzz/seeds/$target"/*
            exit 1
        }
    done
    exit 0
fi

cargo fuzz build --dev --sanitizer none
for target in "${targets[@]}"; do
    echo "fuzz: $target for $seconds s"
    mkdir -p "fuzz/corpus/$target"
    cargo fuzz run --dev --sanitizer none "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=1500 -print_final_stats=1 -verbosity=0
done
