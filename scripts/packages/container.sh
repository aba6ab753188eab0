#!/usr/bin/env bash
# The context of a container image: a static program and its Containerfile. Tries the program in an empty root, the image where a
# builder of images is installed, and the GitHub action where a wheel has been built.
# shellcheck source=scripts/packages/common.sh
. "$(dirname "$0")/common.sh"

# Prints the target whose programs are static: musl's, if Rust and a compiler of C have it here.
static_target() {
    local libraries
    libraries=$(rustc --print sysroot)/lib/rustlib
    if [ -d "$libraries/$(uname -m)-unknown-linux-musl" ] && command -v musl-gcc >/dev/null; then
        echo "$(uname -m)-unknown-linux-musl"
    else
        echo "$(uname -m)-unknown-linux-gnu"
    fi
}

build() {
    need cargo 'Rust, from its own installer or from the distribution'
    local triple context archive
    triple=$(static_target)
    # Randomness comes from the system call: a static program finds no function of that name, and an empty root no device.
    RUSTFLAGS='-C target-feature=+crt-static --cfg getrandom_backend="linux_getrandom"' cargo build --quiet --profile small --locked \
        -p fakeserver --no-default-features --features cli --bin fakeserver --target "$triple" >&2
    context=$(fresh container)/fakeserver-container
    mkdir "$context"
    cp "$TARGET/$triple/small/fakeserver" fakeserver/packages/container/Containerfile LICENSE "$context/"
    archive=$PACKAGES/fakeserver-container-$(version).tgz
    tar -C "$(dirname "$context")" -czf "$archive" fakeserver-container
    echo "$archive"
}

# Serves in a root with nothing but the program, as in the image, a version of Kubernetes that a variable names.
try_root() {
    local root=$1 line url server
    # A user namespace gives the right to change the root.
    exec {output}< <(FAKESERVER_KUBERNETES_VERSION=1.34 exec unshare --user --map-root-user chroot "$root" /fakeserver serve --listen 127.0.0.1:0 --end-with-parent)
    server=$!
    read -r -t 20 line <&"$output"
    url=${line#listening on }
    curl --silent --show-error --fail --max-time 10 "$url/api/v1/namespaces/default" | grep '"name": *"default"' >/dev/null
    curl --silent --show-error --fail --max-time 10 "$url/version" | grep '"gitVersion": *"v1\.34\.' >/dev/null
    kill "$server"
}

try_image() {
    local builder
    for builder in podman docker buildah; do
        if "$builder" info >/dev/null 2>&1; then
            "$builder" build -t fakeserver-try "$1"
            return
        fi
    done
    echo 'container: no image is built: no podman, docker or buildah works here'
}

try_action() {
    local folder=$1 wheels=("$PACKAGES"/fakeserver-"$(version)"-*.whl)
    if [ ! -f "${wheels[0]}" ]; then
        echo 'container: the action is not tried: there is no wheel; `scripts/package.sh wheel` builds one'
        return
    fi
    RUNNER_TEMP=$folder GITHUB_PATH=$folder/path GITHUB_ENV=$folder/env FAKESERVER_WHEEL=${wheels[0]} FAKESERVER_ASSETS=true FAKESERVER_VERSION=1.34 \
        fakeserver/packages/action/install.sh
    PATH=$(cat "$folder/path"):$PATH fakeserver --version
    # shellcheck disable=SC1091
    (. "$folder/env" && [ "$("$KUBEBUILDER_ASSETS/kube-apiserver" --version | cut -d. -f1,2)" = 'Kubernetes v1.34' ] && [ "$FAKESERVER_KUBERNETES_VERSION" = 1.34 ])
}

try() {
    local folder
    need curl 'from the distribution'
    need unshare 'from util-linux'
    folder=$(fresh container-try)
    tar -C "$folder" -xzf "$1"
    if ldd "$folder/fakeserver-container/fakeserver" 2>&1 | grep '=>'; then
        echo 'container: the program wants libraries that are not in the image' >&2
        return 1
    fi
    try_root "$folder/fakeserver-container"
    try_image "$folder/fakeserver-container"
    try_action "$folder"
}

"$@"
