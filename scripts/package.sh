#!/usr/bin/env bash
# Builds the packages of fakeserver, each for one language or tool:
#
#   scripts/package.sh wheel npm     these
#   scripts/package.sh all           all: wheel npm go java container crate
#   scripts/package.sh --test wheel  builds it, and tries what was built in an empty environment
#   scripts/package.sh --test --results FILE all
#                                    keeps sizes and times as CSV, in a new file
#
# What is built goes to target/packages; the paths are all that it writes to standard output. Sizes and times go to standard error.
# Exit status: 1 if a build or a test fails, 2 if a tool is missing, which is named, or the command line is wrong.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TARGETS=(wheel npm go java container crate)

is_tested=false
results=
names=()
while [ $# -gt 0 ]; do
    argument=$1
    shift
    case $argument in
    -h | --help)
        sed -n '2,/^set /{ /^#/s/^# \{0,1\}//p; }' "$0"
        exit 0
        ;;
    --test) is_tested=true ;;
    --results)
        results=${1:-}
        if [ -z "$results" ] || [ -e "$results" ]; then
            echo "package: --results wants the name of a new file" >&2
            exit 2
        fi
        shift
        ;;
    all) names+=("${TARGETS[@]}") ;;
    *)
        if [ ! -f "scripts/packages/$argument.sh" ] || [[ " ${TARGETS[*]} " != *" $argument "* ]]; then
            echo "package: there is no package $argument; there are: ${TARGETS[*]}, and all" >&2
            exit 2
        fi
        names+=("$argument")
        ;;
    esac
done
if [ ${#names[@]} = 0 ]; then
    echo "package: which? One or several of: ${TARGETS[*]}, or all" >&2
    exit 2
fi

export TARGET=${CARGO_TARGET_DIR:-$PWD/target}
export PACKAGES=$TARGET/packages
mkdir -p "$PACKAGES"
status=0

# note STATUS: a failure counts more than a tool that is missing.
note() {
    if [ "$1" != 2 ]; then
        status=1
    elif [ "$status" = 0 ]; then
        status=2
    fi
}

rows=()
for name in "${names[@]}"; do
    start=$SECONDS
    built=() tested=
    # Each is a process of its own, in which `set -e` holds.
    paths=$("scripts/packages/$name.sh" build) || {
        note $?
        echo "package: $name: not built" >&2
        continue
    }
    mapfile -t built <<<"$paths"
    took=$((SECONDS - start))
    for path in "${built[@]}"; do
        echo "$path"
        echo "package: $name: $(stat -c %s "$path") bytes in $took s" >&2
    done
    if $is_tested; then
        start=$SECONDS
        "scripts/packages/$name.sh" try "${built[@]}" >&2 || {
            note $?
            echo "package: $name: its test failed" >&2
            continue
        }
        tested=$((SECONDS - start))
        echo "package: $name: its test passed in $tested s" >&2
    fi
    for path in "${built[@]}"; do
        rows+=("$name,$(basename "$path"),$(stat -c %s "$path"),$took,$tested")
    done
done
if [ -n "$results" ]; then
    {
        echo "# $(nproc) cores, commit $(git rev-parse --short HEAD); a build is quick where another package has built the program"
        echo "package,file,bytes,build_seconds,test_seconds"
        printf '%s\n' "${rows[@]}"
    } >"$results"
fi
exit "$status"
