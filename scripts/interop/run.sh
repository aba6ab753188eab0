#!/usr/bin/env bash
# Client libraries by other hands against the server, unmodified: PyPI's `kubernetes`, npm's `@kubernetes/client-node` and Go's
# client-go.
# Each script has a server of its own, and ends at its first check that fails. Says so and goes on where a language is
# not there. What is installed goes below target/interop.
#
#   scripts/interop/run.sh                 all of them
#   scripts/interop/run.sh python          one language
#   CLIENT_GO_DIR=DIR:DIR scripts/interop/run.sh go   with client-go from the folders vendor of the Go modules in these directories
#   KUBERNETES_VERSION=1.34 scripts/interop/run.sh  with servers of that version, and the client for Python that was made for it
#   PROGRAMS=target/debug scripts/interop/run.sh    with the programs in this directory, which are built already;
#                                                   without `conformance` there, informers under test are left out
set -euo pipefail
cd "$(dirname "$0")/../.."

# shellcheck source=scripts/interop/common.sh
. scripts/interop/common.sh
# shellcheck source=scripts/client_go.sh
. scripts/client_go.sh
readonly INSTALLED=$TARGET/interop
# Programs that print a free port.
readonly PORT_BY_PYTHON='import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'
readonly PORT_BY_NODE='const s = require("net").createServer().listen(0, "127.0.0.1", () => {
    console.log(s.address().port); s.close(); })'

# The modules that not every version of the client for Python has, by the scripts that need them.
declare -rA MODULES=(
    [shared_informer]=kubernetes.informer
    [asynchronous]=kubernetes.aio.watch
    [leader_election]=kubernetes.leaderelection.resourcelock.leaselock
)

# The versions of client-go, where it is not CLIENT_GO_DIR that tells.
readonly CLIENT_GO_VERSIONS=(v0.34.1 v0.36.2)

# run_script FLAGS COMMAND... SCRIPT: with a server of its own, which KUBECONFIG names. FLAGS are words for the server.
run_script() {
    local script=${*: -1}
    run_named "$(basename "$(dirname "$script")")/$(basename "$script")${1:+ ($1)}" "$@"
}

# run_named NAME FLAGS COMMAND...: the same under a name.
run_named() {
    local name=$1 flags
    read -ra flags <<<"$2"
    shift 2
    attempt "$name" "$PROGRAMS/fakeserver" run "${flags[@]}" -- "$@"
    echo "interop: $name: ok, $(grep -c '^ok - ' "$said") checks"
}

# run_pods PORT COMMAND... SCRIPT: with a server whose pods run, and for which a process of the script stands at the port.
run_pods() {
    local port=$1
    shift
    POD_BACKEND_PORT=$port run_script "--controllers workloads --pod-backend app=web=127.0.0.1:$port" "$@"
}

# score COMMAND: the process that COMMAND starts under test, through what ends watches and takes history away.
score() {
    local name=${1##* }
    if [ ! -x "$PROGRAMS/conformance" ]; then
        echo "interop: $name: SKIPPED, there is no conformance in $PROGRAMS"
        return
    fi
    attempt "$name" "$PROGRAMS/conformance" score --against tcp --subject external --command "$1" \
        --scenario nothing --scenario disconnect --scenario expire --speed 4 --converge-within 60
    echo "interop: $name: ok, every scenario holds"
}

# has_module PYTHON SCRIPT: whether the client has what the script needs; says so if not.
has_module() {
    local module=${MODULES[$2]:-}
    [ -z "$module" ] || "$1" -c "import $module" 2>/dev/null && return
    echo "interop: python/$2.py: SKIPPED, this version of the client has no $module"
    return 1
}

run_python() {
    if ! has_python; then
        echo "interop: python: SKIPPED, there is no python3 (3.10 or newer, with venv) on this machine"
        return
    fi
    local scripts=scripts/interop/python requirements installed script python
    requirements=$scripts/requirements-$KUBERNETES_VERSION.txt
    if [ ! -f "$requirements" ]; then
        requirements=$scripts/requirements.txt
    fi
    installed=$INSTALLED/$(basename "$requirements" .txt | sed s/requirements/python/)
    python=$installed/bin/python
    install_python "$installed" "$requirements"
    # Compiled modules belong below target, too.
    export PYTHONPYCACHEPREFIX=$installed/cache
    for script in objects kinds watching custom_objects dynamic_client shared_informer asynchronous leader_election; do
        if has_module "$python" "$script"; then
            run_script "" "$python" "$scripts/$script.py"
        fi
    done
    if has_module "$python" shared_informer; then
        run_script "--tls" "$python" "$scripts/shared_informer.py"
        score "$python conformance/external/informer.py"
    fi
    run_pods "$(python3 -c "$PORT_BY_PYTHON")" "$python" "$scripts/pods.py"
    run_script "--tls --authorization rbac --token jane-token=jane" "$python" "$scripts/security.py"
}

run_javascript() {
    if ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null || ! command -v npm >/dev/null; then
        echo "interop: javascript: SKIPPED, there is no node (20 or newer, with npm) on this machine"
        return
    fi
    local scripts=scripts/interop/javascript installed=$INSTALLED/javascript
    local package=("$scripts/package.json" "$scripts/package-lock.json")
    mkdir -p "$installed"
    if ! is_installed "$installed" "${package[@]}"; then
        cp "${package[@]}" "$installed"
        (cd "$installed" && npm ci --loglevel=error --ignore-scripts --no-audit --no-fund)
        cat "${package[@]}" >"$installed/installed-from"
    fi
    # Modules are looked for beside the script that imports them.
    cp "$scripts"/*.mjs "$installed"
    for script in objects custom_objects informer; do
        run_script "" node "$installed/$script.mjs"
    done
    run_script "--tls" node "$installed/informer.mjs"
    run_pods "$(node -e "$PORT_BY_NODE")" node "$installed/pods.mjs"
}

# The checks of scripts/interop/go, with each client-go that is there.
run_go() {
    local sources=$PWD/scripts/interop/go folders folder version
    IFS=: read -ra folders <<<"${CLIENT_GO_DIR:-}"
    for folder in "${folders[@]}"; do
        CLIENT_GO_DIR=$folder run_go_checks "${folder##*/}"
    done
    if [ ${#folders[@]} = 0 ]; then
        for version in "${CLIENT_GO_VERSIONS[@]}"; do
            run_go_checks "$version" "$version"
        done
    fi
}

# run_go_checks FOLDER [VERSION]: builds the checks in this folder, and carries out each.
run_go_checks() {
    local program=$PWD/$INSTALLED/go/$1/checks why name version streams
    if ! why=$(build_client_go "$sources" "$program" "${2:-}"); then
        [ -n "$why" ] || return 1
        echo "interop: go: SKIPPED, $why"
        return
    fi
    version=$("$program")
    for name in objects apply watching dynamic discovery leader_election; do
        run_named "go/$name (client-go $version)" "" "$program" "$name"
    done
    for streams in false true; do
        run_named "go/informer (client-go $version, WatchListClient=$streams)" "--tls" \
            env "KUBE_FEATURE_WatchListClient=$streams" "$program" informer
    done
}

if [ -z "${PROGRAMS:-}" ]; then
    cargo build --release --locked -q
    PROGRAMS=$TARGET/release
fi
case ${1:-all} in
    all)
        run_python
        run_javascript
        run_go
        ;;
    python) run_python ;;
    javascript) run_javascript ;;
    go) run_go ;;
    *)
        echo "interop: no language is called: $1" >&2
        exit 2
        ;;
esac
echo "interop: ok, $count scripts$OF_VERSION"
