#!/usr/bin/env bash
# The version of all crates and packages, which have one in common.
#
#   scripts/version.sh          prints it; fails if a page, the lock file or the changelog has another one
#   scripts/version.sh 0.2.0    sets it everywhere, but for the heading in CHANGELOG.md, which a person writes
#
# npm's packages and the extension for Java get it when scripts/package.sh builds them, the wheel from Cargo.toml.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly NUMBER='[0-9]+\.[0-9]+\.[0-9]+'
# What stands before the version in commands on pages.
readonly IN_PAGES='fakeserver-go-|fakeserver-java-|fakeserver@v'
# And before its first two numbers, in manifests of users on pages.
readonly IN_MANIFESTS='(fakeserver|informer) = \{ version = "'

version() { sed -nE '/^\[workspace\.package\]/,/^\[/s/^version = "(.*)"$/\1/p' Cargo.toml; }

# Prints the pages with commands or manifests of users.
pages() { git ls-files '*.md' | grep -v '^CHANGELOG\.md$'; }

set_version() {
    local version=$1
    if ! grep -qxE "$NUMBER" <<<"$version"; then
        echo "version: $version is no version such as 0.2.0" >&2
        exit 2
    fi
    sed -i -E "/^\[workspace\.package\]/,/^\[/s/^version = \".*\"/version = \"$version\"/" Cargo.toml
    # The crates of the workspace, by which they depend on each other.
    sed -i -E "/, path = \"/s/version = \"$NUMBER\"/version = \"$version\"/" Cargo.toml
    pages | xargs sed -i -E "s/($IN_PAGES)$NUMBER/\1$version/g; s/($IN_MANIFESTS)[0-9]+\.[0-9]+/\1${version%.*}/g"
    cargo update --workspace --offline --quiet
}

check() {
    local version others
    version=$(version)
    echo "$version"
    cargo update --workspace --offline --locked --quiet
    others=$({
        grep -n ', path = "' Cargo.toml | grep 'version = ' | grep -vF "version = \"$version\""
        pages | xargs grep -noE "($IN_PAGES)$NUMBER" | grep -v -- "[-v]$version\$"
        pages | xargs grep -noE "($IN_MANIFESTS)[0-9.]+" | grep -v "\"${version%.*}\$"
    } || true)
    if [ -n "$others" ]; then
        printf 'version: these have another version than %s:\n%s\n' "$version" "$others" >&2
        exit 1
    fi
    if ! grep -q "^## .*\b$version\b" CHANGELOG.md; then
        echo "version: CHANGELOG.md has no heading of $version" >&2
        exit 1
    fi
}

case $# in
0) check ;;
*) set_version "$1" && check ;;
esac
