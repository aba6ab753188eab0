#!/usr/bin/env bash
# Runs `conformance survive` on an operator that others wrote:
# conformance/survive/operators/run.sh NAME SOURCES [OPTION...]
# SOURCES is its repository, which is left as it is: a copy is changed where the comments below say so. Python packages and crates are
# fetched by name. The copy and what is built lie beside it, in SOURCES.survive. OPTIONs go to `conformance survive`.
# The variable CONFORMANCE names the program, by default target/debug/conformance.
set -euo pipefail

if [ $# -lt 2 ]; then
    echo "usage: $0 NAME SOURCES [OPTION...]; README.md beside it has the names, and where the sources are" >&2
    exit 2
fi
name=$1
sources=$(realpath "$2")
shift 2
here=$(cd "$(dirname "$0")" && pwd)
program=${CONFORMANCE:-$here/../../../target/debug/conformance}
out=$sources.survive
mkdir -p "$out"

# packages NAME...: installs Python packages.
packages() {
    [ -x "$out/python/bin/python" ] || python3 -m venv "$out/python"
    "$out/python/bin/pip" install --quiet "$@"
}

# changed FILE EXPRESSION: changes a file in a copy of the sources, which is used from then on.
changed() {
    if [ "$sources" != "$out/sources" ]; then
        rm -rf "$out/sources"
        cp -R "$sources" "$out/sources"
        sources=$out/sources
    fi
    sed -i "$2" "$sources/$1"
}

# build PACKAGE BINARY
build() {
    (cd "$sources" && CARGO_TARGET_DIR=$out/target CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0 \
        cargo build --package "$1" --bin "$2")
}

# survive CRDS WORKLOAD OPTION... -- COMMAND...
survive() {
    "$program" survive --crds "$1" --workload "$here/$2" --report "$out/report" "${options[@]}" "${@:3}"
}

options=("$@")
case $name in
kopf)
    # The example 02 creates a pod with a generated name.
    packages kopf==1.45.2 kubernetes==37.0.2 pykube-ng==23.6.0
    survive "$sources/examples/crd.yaml" kopf/children.yaml -- \
        "$out/python/bin/kopf" run --standalone -n default "$sources/examples/02-children/example.py"
    ;;
kopf-subhandlers)
    packages kopf==1.45.2 kubernetes==37.0.2
    survive "$sources/examples/crd.yaml" kopf/subhandlers.yaml -- \
        "$out/python/bin/kopf" run --standalone -n default "$here/kopf/subhandlers.py"
    ;;
fastflow)
    packages python-fastflow==0.8.1
    survive "$sources/chart/crds" fastflow/survive.yaml -- \
        "$out/python/bin/kopf" run --standalone -n default "$here/fastflow/alone.py"
    ;;
devservers | devservers-late-flavor)
    # The wheel lacks the scripts that the operator reads, so that it runs from the sources.
    packages kopf==1.38.0 kubernetes==34.1.0 rich click PyYAML
    workload=survive
    [ "$name" = devservers ] || workload=late-flavor
    survive "$sources/crds" "devservers/$workload.yaml" -- \
        env "PYTHONPATH=$sources/src" "$out/python/bin/kopf" run --standalone -A -m devservers.operator
    ;;
controller-rs)
    # Runs go side by side: the port of its page is any free one.
    changed src/main.rs 's/0\.0\.0\.0:8080/127.0.0.1:0/'
    build controller controller
    survive "$sources/yaml/crd.yaml" controller-rs/survive.yaml -- "$out/target/debug/controller"
    ;;
restate-operator)
    changed src/main.rs 's/\[::\]:8080/127.0.0.1:0/'
    build restate-operator restate-operator
    survive "$sources/crd/restateclusters.yaml" restate-operator/survive.yaml \
        --crds "$sources/crd/restatedeployments.yaml" --crds "$sources/crd/restatecloudenvironments.yaml" -- \
        "$out/target/debug/restate-operator" --operator-namespace default
    ;;
bottlerocket-update-operator)
    # The server is found by the variables of a service, since there is no DNS; and any port for its metrics.
    changed controller/src/main.rs 's/Config::incluster_dns/Config::incluster_env/; s/CONTROLLER_INTERNAL_PORT))/0))/'
    build controller controller
    packages PyYAML
    # Version 2 is stored; nobody here asks for version 1, which a webhook converts to.
    "$out/python/bin/python" - "$sources/bottlerocket-update-operator.yaml" >"$out/crd.yaml" <<'END'
import sys, yaml

for object in yaml.safe_load_all(open(sys.argv[1])):
    if object and object["kind"] == "CustomResourceDefinition":
        object["spec"]["conversion"] = {"strategy": "None"}
        object["spec"]["versions"] = [it for it in object["spec"]["versions"] if it["name"] == "v2"]
        print(yaml.safe_dump(object))
END
    survive "$out/crd.yaml" bottlerocket-update-operator/survive.yaml \
        --crds "$here/bottlerocket-update-operator/nodes.yaml" --in-cluster -- \
        env MAX_CONCURRENT_UPDATE=1 MY_NODE_NAME=two 'SCHEDULER_CRON_EXPRESSION=* * * * * * *' "$out/target/debug/controller"
    ;;
*)
    echo "$name is not among the operators; $0 names them" >&2
    exit 2
    ;;
esac
