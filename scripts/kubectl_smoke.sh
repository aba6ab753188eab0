#!/usr/bin/env bash
# kubectl against `fakeserver serve`: get, get -w, label, annotate, patch, delete and create of namespaces and config maps.
# Says so and succeeds where there is no kubectl.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v kubectl >/dev/null; then
    echo "kubectl smoke: SKIPPED, there is no kubectl on this machine"
    exit 0
fi

work=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

fail() {
    echo "kubectl smoke: FAILED: $*" >&2
    exit 1
}

# until_true COMMAND...: tries for ten seconds.
until_true() {
    for _ in $(seq 200); do
        "$@" && return 0
        sleep 0.05
    done
    return 1
}

# expect PATTERN COMMAND...: the command succeeds and prints the pattern.
expect() {
    local pattern=$1 said
    shift
    said=$("$@" 2>&1) || fail "$*: $said"
    grep -q -- "$pattern" <<<"$said" || fail "$*: no '$pattern' in: $said"
}

# Together with the main job's package, so that both share one build of what they depend on.
cargo build --release --locked -q -p fakeserver -p conformance
"${CARGO_TARGET_DIR:-target}/release/fakeserver" serve --listen 127.0.0.1:0 \
    --kubeconfig "$work/kubeconfig" >"$work/stdout" 2>"$work/stderr" &
server=$!
until_true grep -q '^listening on http://' "$work/stdout" || fail "no server: $(cat "$work/stderr")"

export HOME=$work # kubectl keeps its discovery cache below it
export KUBECONFIG=$work/kubeconfig

cat >"$work/objects.yaml" <<'YAML'
apiVersion: v1
kind: Namespace
metadata:
  name: smoke
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: smoke
data:
  colour: green
YAML

expect 'configmap/settings created' kubectl create -f "$work/objects.yaml"
expect 'smoke' kubectl get namespaces
expect 'settings' kubectl get configmaps -n smoke
expect 'colour: green' kubectl get configmap settings -n smoke -o yaml

kubectl get configmaps -n smoke -w -o name >"$work/watched" 2>&1 &
watch=$!
watched_lines() { [ "$(wc -l <"$work/watched")" -ge "$1" ]; }
until_true watched_lines 1 || fail "get -w printed nothing"
expect 'labeled' kubectl label configmap settings -n smoke tier=gold
expect 'settings' kubectl get configmaps -n smoke -l tier=gold
expect 'annotated' kubectl annotate configmap settings -n smoke owner=me
expect 'patched' kubectl patch configmap settings -n smoke --type=merge -p '{"data":{"colour":"red"}}'
expect 'patched' kubectl patch configmap settings -n smoke --type=json \
    -p '[{"op":"add","path":"/data/size","value":"9"}]'
expect 'deleted' kubectl delete configmap settings -n smoke
# The object as it was, four changes, and its deletion.
until_true watched_lines 6 || fail "get -w saw too little: $(cat "$work/watched")"
kill "$watch" 2>/dev/null || true
wait "$watch" 2>/dev/null || true

expect 'deleted' kubectl delete namespace smoke --timeout=30s
kubectl get namespace smoke >"$work/gone" 2>&1 && fail "the namespace is still there"
grep -q NotFound "$work/gone" || fail "get of the deleted namespace: $(cat "$work/gone")"

kill -TERM "$server"
wait "$server" || fail "the server did not stop cleanly"
server=
echo "kubectl smoke: ok"
