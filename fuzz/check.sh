#!/usr/bin/env bash
# Checks what fuzz/build.sh has made, as the runner of OSS-Fuzz uses it: each target has its dictionary, its options and its corpus,
# and runs with them.
#
#   fuzz/check.sh target/oss-fuzz                       every target of the repository
#   fuzz/check.sh target/oss-fuzz selectors             these
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(cd "${1:?the folder that fuzz/build.sh was given as OUT}" && pwd)
shift
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do
        targets+=("$(basename "$file" .rs)")
    done
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=()
# fail TARGET WORDS...
fail() {
    echo "fuzz/check.sh: $*" >&2
    failed+=("$1")
}
for target in "${targets[@]}"; do
    corpus=$out/${target}_seed_corpus.zip
    for file in "$out/$target" "$out/$target.dict" "$out/$target.options" "$corpus"; do
        [ -s "$file" ] || fail "$target" "$file is missing"
    done
    [ -s "$corpus" ] && [ -x "$out/$target" ] || continue
    seeds=$scratch/$target
    mkdir "$seeds"
    unzip -q -d "$seeds" "$corpus"
    wanted=$(find "fuzz/seeds/$target" -type f | wc -l)
    [ "$(find "$seeds" -type f | wc -l)" = "$wanted" ] || fail "$target" "its corpus is not the $wanted files of fuzz/seeds/$target"
    # As the runner: the lines of the options become flags, and the corpus is a folder at the end.
    mapfile -t flags < <(sed -n 's/^\([a-z_]*\) *= *\(.*\)$/-\1=\2/p' "$out/$target.options")
    if ! (cd "$out" && "./$target" "${flags[@]}" -runs=100 -verbosity=0 "$seeds" >"$scratch/$target.log" 2>&1); then
        tail -20 "$scratch/$target.log" >&2
        fail "$target" "it does not run its corpus"
    fi
done
if [ ${#failed[@]} != 0 ]; then
    exit 1
fi
echo "fuzz/check.sh: ${#targets[@]} targets have their dictionaries and corpora, and run"
