#!/usr/bin/env bash
# Makes the mistakes of conformance/bugs/*.patch in a copy of the sources and looks for each by seeds, then on the scoreboard:
# scripts/seeded-bugs.sh [SEEDS] [NAME...]
# Prints a table: bug, checker or scenario that caught it, seeds needed. Exit status 1 if one gets away.
#
# All patches go into one copy, which is built once; the environment variable SEEDED_BUG chooses.
set -euo pipefail
cd "$(dirname "$0")/.."

seeds=${1:-300}
shift || true
names=("$@")
if [ ${#names[@]} = 0 ]; then
    for patch in conformance/bugs/*.patch; do
        names+=("$(basename "$patch" .patch)")
    done
fi

copy=target/seeded-bugs/source
mkdir -p "$copy"
# What did not change keeps its time, so that only what a patch touches is built anew.
for part in .cargo *; do
    [ "$part" != target ] || continue
    rm -rf "${copy:?}/$part"
    cp -pR "$part" "$copy/$part"
done
for patch in conformance/bugs/*.patch; do
    git apply --directory="$copy" "$patch"
done
cat conformance/bugs/switch.rs >>"$copy/informer/src/lib.rs"
cargo build --quiet --locked -p conformance --manifest-path "$copy/Cargo.toml" --target-dir target/seeded-bugs/build
program=target/seeded-bugs/build/debug/conformance

# Runs the seeds with a bug, and says who found something in how many seeds.
hunt() {
    SEEDED_BUG=$1 "$program" sim --seed 0 --seeds "$seeds" --within 0 --threads 1 2>&1 |
        awk '/^seed [0-9]+ (failed|does not end)/ { seed = $2; getline; sub(/^ +/, ""); sub(/:.*/, ""); print $0, seed + 1; exit }' ||
        true
}

# Plays the scoreboard with a bug, and says which scenario was the first that a correct informer holds and this one does not.
play() {
    SEEDED_BUG=$1 "$program" score --subject informer 2>&1 |
        awk -F ', informer: ' 'NF > 1 && $2 !~ /^caught/ { print $1, "-"; exit }' ||
        true
}

if [ -n "$(hunt none)$(play none)" ]; then
    echo "without a bug a seed or a scenario fails, too: mend that first" >&2
    exit 2
fi
status=0
printf '%-28s %-32s %6s\n' bug "caught by" seeds
for name in "${names[@]}"; do
    [ -f "conformance/bugs/$name.patch" ] || {
        echo "there is no conformance/bugs/$name.patch" >&2
        exit 2
    }
    found=$(hunt "$name")
    [ -n "$found" ] || found=$(play "$name")
    if [ -z "$found" ]; then
        found="nobody $seeds"
        status=1
    fi
    # shellcheck disable=SC2086
    printf '%-28s %-32s %6s\n' "$name" $found
done
exit $status
