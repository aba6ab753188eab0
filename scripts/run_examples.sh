#!/usr/bin/env bash
# Runs every example of the informer to its end. Each checks what it shows, and fails if it is not so.
#
#   scripts/run_examples.sh          all of them
#   scripts/run_examples.sh 03 07    those whose names begin so
set -euo pipefail
cd "$(dirname "$0")/.."

# Long for programs that take a second; short for one that hangs.
readonly LIMIT=60

# example NAME: programs take no argument, except the one that serves a page until it is interrupted. The operator works
# until then, too, for the cluster of a kubeconfig: its tests are run.
example() {
    case $1 in
        08_*) timeout "$LIMIT" cargo run --quiet --locked -p examples --example "$1" -- --check ;;
        09_*) cargo test --quiet --locked -p examples --example "$1" ;;
        *) timeout "$LIMIT" cargo run --quiet --locked -p examples --example "$1" ;;
    esac
}

cargo build --quiet --locked -p examples --examples
output=$(mktemp)
trap 'rm -f "$output"' EXIT
count=0
for path in examples/[0-9]*; do
    name=$(basename "$path" .rs)
    if (($#)); then
        wanted=no
        for prefix in "$@"; do [[ $name == "$prefix"* ]] && wanted=yes; done
        [[ $wanted == yes ]] || continue
    fi
    if example "$name" >"$output" 2>&1; then
        echo "$name: ok, $(wc -l <"$output") lines"
    else
        echo "$name: FAILED with $?; it said:" >&2
        cat "$output" >&2
        exit 1
    fi
    count=$((count + 1))
done
((count)) || { echo "no example is called: $*" >&2; exit 2; }
echo "examples: ok, $count"
