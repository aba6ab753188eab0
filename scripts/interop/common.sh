# What the scripts of this folder share. Sourced, from the root of the repository.

# Long for scripts that take seconds; short for one that hangs.
readonly LIMIT=${LIMIT:-300}
readonly TARGET=${CARGO_TARGET_DIR:-target}

# The version of Kubernetes of all servers: KUBERNETES_VERSION, as in 1.34, or else the program's default.
readonly KUBERNETES_VERSION=${KUBERNETES_VERSION:-}
readonly OF_VERSION=${KUBERNETES_VERSION:+, Kubernetes $KUBERNETES_VERSION}
if [ -n "$KUBERNETES_VERSION" ]; then
    export FAKESERVER_KUBERNETES_VERSION=$KUBERNETES_VERSION
fi

count=0
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# Whether $1, an installation, was made from the very files that follow.
is_installed() {
    local stamp=$1/installed-from
    shift
    [ -f "$stamp" ] && cat "$@" | cmp -s - "$stamp"
}

has_python() { python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }

# install_python FOLDER REQUIREMENTS [OPTIONS OF PIP...]: a virtual environment with these packages, unless it is there.
install_python() {
    local folder=$1 requirements=$2
    shift 2
    is_installed "$folder" "$requirements" && return
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@" -r "$requirements"
    cp "$requirements" "$folder/installed-from"
}

# attempt NAME COMMAND...: within the limit. What it printed is in $said, and shown if it fails.
attempt() {
    local name=$1 status=0
    shift
    timeout "$LIMIT" "$@" >"$said" 2>&1 || status=$?
    if [ "$status" != 0 ]; then
        echo "interop: $name: FAILED with $status; it said:" >&2
        cat "$said" >&2
        exit 1
    fi
    count=$((count + 1))
}
