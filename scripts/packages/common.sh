# What the scripts beside this one share; they source it. Each has the commands `build`, which prints the paths of what it built, and
# `try PATH...`, which tries those in an empty environment. Both run at the root of the repository.
# shellcheck shell=bash
set -euo pipefail

# Ends with status 2 if a program is missing, whose name is told.
# need PROGRAM WHERE_FROM
need() {
    if ! command -v "$1" >/dev/null; then
        echo "package: $1 is missing: $2" >&2
        exit 2
    fi
}

# Builds the stripped program, of at most 20 MB, and prints its path.
program() {
    need cargo 'Rust, from its own installer or from the distribution'
    cargo build --quiet --profile small --locked -p fakeserver --bin fakeserver >&2
    echo "$TARGET/small/fakeserver"
}

# Prints the path of the program `conformance`, for tests that run operators: CONFORMANCE_BIN, or one that was built before. If there
# is none it prints nothing, and those tests say so.
# conformance PACKAGE
conformance() {
    local path
    for path in "${CONFORMANCE_BIN:-}" "$TARGET/debug/conformance" "$TARGET/release/conformance"; do
        if [ -x "$path" ]; then
            realpath "$path"
            return
        fi
    done
    echo "package: $1: operators: SKIPPED, there is no $TARGET/debug/conformance, and CONFORMANCE_BIN names none" >&2
}

# Prints the version of the workspace, which all packages have.
version() { sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml; }

# Prints a new empty directory below target, for a package of that name.
fresh() {
    local directory=$TARGET/package-$1
    rm -rf "$directory"
    mkdir -p "$directory"
    echo "$directory"
}

# Runs one of the commands.
case ${1:-} in
build | try) ;;
*)
    echo "$0: build, or try PATH...; scripts/package.sh runs both" >&2
    exit 2
    ;;
esac
