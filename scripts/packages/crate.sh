#!/usr/bin/env bash
# The crates, as a registry takes them, and an archive of the program with its manual pages and completions.
# shellcheck source=scripts/packages/common.sh
. "$(dirname "$0")/common.sh"

# dry_run ARGUMENT...: what `cargo publish` does before the upload, for every crate that may be published, in a copy of the workspace.
dry_run() {
    local folder
    folder=$(fresh crates)
    python3 scripts/packages/stage_crates.py "$folder"
    (cd "$folder" && cargo publish --workspace --dry-run --allow-dirty --quiet "$@") >&2
}

build() {
    need cargo 'Rust, from its own installer or from the distribution'
    need python3 'Python 3.11 or newer, from the distribution'
    local triple archive built path
    rm -rf "$TARGET/package-crate/package"
    dry_run --no-verify --target-dir "$TARGET/package-crate"
    for path in "$TARGET"/package-crate/package/*.crate; do
        cp "$path" "$PACKAGES/"
        echo "$PACKAGES/$(basename "$path")"
    done

    built=$(program)
    triple=$(rustc -vV | sed -n 's/^host: //p')
    archive=$(fresh archive)/fakeserver-$triple
    mkdir -p "$archive/completions"
    cp "$built" LICENSE fakeserver/README.md "$archive/"
    "$built" man "$archive/man"
    for shell in bash fish zsh; do
        "$built" completions "$shell" >"$archive/completions/fakeserver.$shell"
    done
    tar -C "$(dirname "$archive")" -czf "$PACKAGES/fakeserver-$triple.tgz" "fakeserver-$triple"
    echo "$PACKAGES/fakeserver-$triple.tgz"
}

# try_program PROGRAM: serves for a command, which reads a namespace.
try_program() {
    # shellcheck disable=SC2016
    env -i PATH=/usr/bin:/bin HOME=/nonexistent "$1" run -- sh -c '
        url=$(sed -n "s/^ *server: //p" "$KUBECONFIG")
        curl --silent --show-error --fail --max-time 10 "$url/api/v1/namespaces/default"' | grep '"name": *"default"' >/dev/null
}

try() {
    local folder path
    need curl 'from the distribution'
    # Each crate is compiled from its archive, and from those of the others that it depends on.
    dry_run --target-dir "$TARGET/crate-try"
    folder=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -r '$folder'" EXIT
    for path; do
        case $path in
        *.tgz)
            tar -C "$folder" -xzf "$path"
            try_program "$folder"/fakeserver-*/fakeserver
            ;;
        esac
    done
}

"$@"
