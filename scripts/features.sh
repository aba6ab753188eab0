#!/usr/bin/env bash
# Checks the features of informer and of fakeserver: none of them, and each alone. A warning is a failure, and so are more
# crates than a server in a test's process may have.
#
#   scripts/features.sh                     both packages
#   scripts/features.sh fakeserver          one of them
#   scripts/features.sh fakeserver/client   one feature
set -euo pipefail
cd "$(dirname "$0")/.."

# The number of crates that `fakeserver` with the feature `client` alone may have, its own five included: 155, and room for what a
# new version of one of them brings.
readonly CRATES_MAX=158

said=$(mktemp)
trap 'rm -f "$said"' EXIT

# check PACKAGE FEATURES
check() {
    echo "features: $1: ${2:-none}"
    if ! cargo check --locked -p "$1" --lib --no-default-features --features "$2" >"$said" 2>&1 || grep -q '^warning' "$said"; then
        cat "$said" >&2
        exit 1
    fi
}

chosen=("$@")
[ ${#chosen[@]} -gt 0 ] || chosen=(informer fakeserver)
for package in "${chosen[@]}"; do
    if [[ $package == */* ]]; then
        check "${package%/*}" "${package#*/}"
        continue
    fi
    check "$package" ""
    # The names in the table of features, but for the private ones.
    for feature in $(sed -n '/^\[features\]/,/^\[dep/s/^\([a-z][a-z0-9-]*\) = .*/\1/p' "$package/Cargo.toml"); do
        check "$package" "$feature"
    done
done

crates=$(cargo tree --locked -p fakeserver --no-default-features --features client -e normal --prefix none |
    sed 's/ (\*)$//' | sort -u | wc -l)
echo "features: fakeserver for a test has $crates crates"
((crates <= CRATES_MAX)) || { echo "features: at most $CRATES_MAX are allowed" >&2; exit 1; }
