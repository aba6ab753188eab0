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

# Flags of cargo and maturin, by which the program of the profile dist has at most 20 MB: the server itself is optimized for size,
# its dependencies for speed. Of a package with settings of its own symbols are removed by its own settings only.
readonly SMALL=(
    --config 'profile.dist.package.fakeserver.opt-level="s"'
    --config 'profile.dist.package.fakeserver.strip="symbols"'
)

# Builds the stripped program of the profile dist, and prints its path.
program() {
    need cargo 'Rust, from its own installer or from the distribution'
    cargo build --quiet --profile dist --locked "${SMALL[@]}" -p fakeserver --bin fakeserver >&2
    echo "$TARGET/dist/fakeserver"
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
