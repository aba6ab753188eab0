#!/usr/bin/env bash
# Feeds the fuzz targets with what libFuzzer makes up.
#
#   scripts/fuzz.sh 60                    every target for a minute
#   scripts/fuzz.sh 3600 reflector        one for an hour
#
# A crash is kept in fuzz/artifacts and its path printed: mend it, and keep the file in fuzz/seeds, where the tests replay it.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true

export PATH="$PWD/target/tools/bin:$PATH"
if ! command -v cargo-fuzz >/dev/null; then
    cargo install cargo-fuzz --locked --root target/tools
fi
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do
        targets+=("$(basename "$file" .rs)")
    done
fi

options=(--fuzz-dir fuzz --target-dir target/fuzz --dev --sanitizer none --features libfuzzer)
cargo fuzz build "${options[@]}"
for target in "${targets[@]}"; do
    echo "fuzz: $target for $seconds s"
    mkdir -p "fuzz/corpus/$target"
    cargo fuzz run "${options[@]}" "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        -max_total_time="$seconds" -max_len=8192 -timeout=20 -rss_limit_mb=1500 -print_final_stats=1 -verbosity=0
done
