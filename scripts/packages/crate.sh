#!/usr/bin/env bash
# The crate, as `cargo install` takes it, and an archive of the program with its manual pages and completions.
# shellcheck source=scripts/packages/common.sh
. "$(dirname "$0")/common.sh"

build() {
    need cargo 'Rust, from its own installer or from the distribution'
    local version triple archive built
    version=$(version)
    cargo package --quiet --locked --allow-dirty --no-verify -p fakeserver --target-dir "$TARGET/package-crate" >&2
    cp "$TARGET/package-crate/package/fakeserver-$version.crate" "$PACKAGES/"
    echo "$PACKAGES/fakeserver-$version.crate"

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
    # Outside of this workspace, to which the crate would belong otherwise.
    folder=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -r '$folder'" EXIT
    for path; do
        tar -C "$folder" -xzf "$path"
        case $path in
        *.crate)
            local sources=$folder/fakeserver-${path##*/fakeserver-}
            sources=${sources%.crate}
            # Without optimization: what is tried is that it builds outside of its workspace. There nothing chooses the version of
            # the Kubernetes API that the feature `client` needs.
            CARGO_TARGET_DIR=$TARGET/crate-try cargo install --quiet --locked --debug --no-default-features --features cli \
                --path "$sources" --root "$folder/installed"
            try_program "$folder/installed/bin/fakeserver"
            ;;
        *)
            try_program "$folder"/fakeserver-*/fakeserver
            ;;
        esac
    done
}

"$@"
