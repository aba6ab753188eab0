#!/usr/bin/env bash
# Makes the mistakes of conformance/bugs/*.patch in a copy of the sources and looks for each by seeds, then on the scoreboard;
# those of conformance/bugs/threads/*.patch have to be silent on the paused clock, and are looked for in threads:
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
    for patch in conformance/bugs/*.patch conformance/bugs/threads/*.patch; do
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
for patch in conformance/bugs/*.patch conformance/bugs/threads/*.patch; do
    git apply --directory="$copy" "$patch"
done
cat conformance/bugs/switch.rs >>"$copy/informer/src/lib.rs"
cargo build --quiet --locked -p conformance --manifest-path "$copy/Cargo.toml" --target-dir target/seeded-bugs/build
program=target/seeded-bugs/build/debug/conformance

# hunt BUG OPTION...: runs the seeds with a bug, and says who found something in how many seeds.
hunt() {
    SEEDED_BUG=$1 "$program" sim --seed 0 --seeds "$seeds" --within 0 "${@:2}" 2>&1 |
        awk '/^seed [0-9]+ (failed|does not end)/ { seed = $2; getline; sub(/^ +/, ""); sub(/:.*/, ""); print $0, seed + 1; exit }' ||
        true
}

# Plays the scoreboard with a bug, and says which scenario was the first that a correct informer holds and this one does not.
play() {
    SEEDED_BUG=$1 "$program" score --subject informer 2>&1 |
        awk -F ', informer: ' 'NF > 1 && $2 !~ /^caught/ { print $1, "-"; exit }' ||
        true
}

on_paused_clock=(--threads 1)
in_threads=(--workers 4 --load 2)
# The number of seeds in which a bug of threads has to be silent.
silent_seeds=100

# Hunts a bug that only shows in threads; plans of the same profile on the paused clock have to be silent about it.
hunt_in_threads() {
    local found
    found=$(seeds=$silent_seeds hunt "$1" "${on_paused_clock[@]}" --profile brief)
    if [ -n "$found" ]; then
        echo "paused-clock-already -"
    else
        hunt "$1" "${in_threads[@]}"
    fi
}

if [ -n "$(hunt none "${on_paused_clock[@]}")$(hunt_in_threads none)$(play none)" ]; then
    echo "without a bug a seed or a scenario fails, too: mend that first" >&2
    exit 2
fi
status=0
printf '%-28s %-32s %6s\n' bug "caught by" seeds
for name in "${names[@]}"; do
    if [ -f "conformance/bugs/threads/$name.patch" ]; then
        found=$(hunt_in_threads "$name")
        [ "$found" != "paused-clock-already -" ] || status=1
    elif [ -f "conformance/bugs/$name.patch" ]; then
        found=$(hunt "$name" "${on_paused_clock[@]}")
        [ -n "$found" ] || found=$(play "$name")
    else
        echo "there is no conformance/bugs/$name.patch" >&2
        exit 2
    fi
    if [ -z "$found" ]; then
        found="nobody $seeds"
        status=1
    fi
    # shellcheck disable=SC2086
    printf '%-28s %-32s %6s\n' "$name" $found
done
exit $status
