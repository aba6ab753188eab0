#!/usr/bin/env bash
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite expect them: for each TARGET, in $OUT,
#   TARGET, TARGET_seed_corpus.zip, TARGET.dict and TARGET.options
#
#   OUT=$PWD/target/oss-fuzz fuzz/build.sh              all targets
#   OUT=$PWD/target/oss-fuzz fuzz/build.sh selectors    these
#
# Their builder sets OUT, WORK, SANITIZER, FUZZING_ENGINE and RUSTFLAGS. Elsewhere WORK is target/fuzz, and the sanitizer is none.
# FUZZ_PROFILE names the options of `cargo fuzz build`, by default -O --debug-assertions.
set -euo pipefail
cd "$(dirname "$0")/.."

: "${OUT:?the folder for the targets}"
work=${WORK:-$PWD/target/fuzz}
sanitizer=${SANITIZER:-none}
engine=${FUZZING_ENGINE:-libfuzzer}
read -ra profile <<<"${FUZZ_PROFILE:--O --debug-assertions}"

if [ "$engine" != libfuzzer ]; then
    echo "fuzz/build.sh: FUZZING_ENGINE is $engine; the targets are for libfuzzer" >&2
    exit 2
fi
case $sanitizer in
address | none) ;;
# The builder's own flags and its wrapper of cargo instrument for coverage.
coverage) sanitizer=none ;;
*)
    echo "fuzz/build.sh: SANITIZER is $sanitizer; there are address, coverage and none" >&2
    exit 2
    ;;
esac
if [ "$sanitizer" != none ] && ! rustc --version | grep -q nightly; then
    echo "fuzz/build.sh: SANITIZER=$sanitizer takes a nightly rustc: export RUSTUP_TOOLCHAIN=nightly, or SANITIZER=none" >&2
    exit 2
fi

targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do
        targets+=("$(basename "$file" .rs)")
    done
fi

export PATH="$PWD/target/tools/bin:$PATH"
triple=$(rustc --version --verbose | sed -n 's/^host: //p')
options=(--fuzz-dir fuzz --target "$triple" --target-dir "$work" --sanitizer "$sanitizer" --features libfuzzer "${profile[@]}")
folder=release
[[ " ${profile[*]} " != *" --dev "* ]] || folder=debug
if [ $# = 0 ]; then
    cargo fuzz build "${options[@]}"
else
    for target in "${targets[@]}"; do
        cargo fuzz build "${options[@]}" "$target"
    done
fi

mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
for target in "${targets[@]}"; do
    cp "$work/$triple/$folder/$target" "$OUT/"
    # Their names do not matter to the fuzzer, but a corpus is the same file as long as its seeds are.
    rm -f "$OUT/${target}_seed_corpus.zip"
    (cd "fuzz/seeds/$target" && find . -type f | LC_ALL=C sort | zip -q -X -@ "$OUT/${target}_seed_corpus.zip")
    cp "fuzz/dictionaries/$target.dict" "$OUT/"
    # The limits of scripts/fuzz.sh; with a sanitizer a target takes more memory.
    printf '[libfuzzer]\nmax_len = 8192\ntimeout = 60\nrss_limit_mb = 2560\ndict = %s.dict\n' "$target" >"$OUT/$target.options"
done
