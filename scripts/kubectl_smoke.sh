#!/usr/bin/env bash
# kubectl against `fakeserver serve`: get, get -w, label, annotate, patch, delete and create of namespaces and config maps;
# explain, diff and apply, on both sides, with validation on; custom resources with columns of their own;
# and against `fakeserver run --tls --authorization rbac`: users, rights and reviews.
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

# refuse PATTERN COMMAND...: the command fails and prints the pattern.
refuse() {
    local pattern=$1 said
    shift
    said=$("$@" 2>&1) && fail "$*: succeeded: $said"
    grep -q -- "$pattern" <<<"$said" || fail "$*: no '$pattern' in: $said"
}

cat >"$work/deployment.yaml" <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: smoke
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: web
          image: web:1
YAML
sed 's/replicas: 1/replicas: 2/' "$work/deployment.yaml" >"$work/more.yaml"
sed 's/replicas: 1/replicaz: 1/' "$work/deployment.yaml" >"$work/typo.yaml"
expect 'containerPort' kubectl explain pods.spec.containers.ports
expect 'rollingUpdate' kubectl explain deployments.spec --recursive
refuse 'unknown field "spec.replicaz"' kubectl create -f "$work/typo.yaml"
expect 'deployment.apps/web created' kubectl apply -f "$work/deployment.yaml"
refuse 'unknown field "spec.replicaz"' kubectl apply -f "$work/typo.yaml"
refuse '+  replicas: 2' kubectl diff -f "$work/more.yaml"
expect 'deployment.apps/web configured' kubectl apply -f "$work/more.yaml"
expect 'deployment.apps/web serverside-applied' kubectl apply --server-side -f "$work/more.yaml"
expect 'deployment.apps/web replaced' kubectl replace -f "$work/deployment.yaml"

cat >"$work/definition.yaml" <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
    - name: v1
      served: true
      storage: true
      additionalPrinterColumns:
        - {name: Colour, type: string, jsonPath: .spec.colour}
        - {name: Size, type: integer, jsonPath: .spec.size, priority: 1}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                colour: {type: string, description: What it looks like.}
                size: {type: integer, default: 3}
YAML
cat >"$work/widget.yaml" <<'YAML'
apiVersion: example.com/v1
kind: Widget
metadata:
  name: one
  namespace: smoke
spec:
  colour: green
YAML
expect 'created' kubectl apply -f "$work/definition.yaml"
expect 'widget.example.com/one created' kubectl apply -f "$work/widget.yaml"
expect '^one *green$' kubectl get widgets -n smoke
expect '^one *green *3$' kubectl get widgets -n smoke -o wide
expect 'What it looks like.' kubectl explain widgets.spec.colour
expect 'deleted' kubectl delete -f "$work/definition.yaml" --timeout=30s

expect 'deleted' kubectl delete namespace smoke --timeout=30s
kubectl get namespace smoke >"$work/gone" 2>&1 && fail "the namespace is still there"
grep -q NotFound "$work/gone" || fail "get of the deleted namespace: $(cat "$work/gone")"

kill -TERM "$server"
wait "$server" || fail "the server did not stop cleanly"
server=

# Users: by TLS and certificates, by tokens, under rules.
cat >"$work/users.sh" <<'USERS'
set -euo pipefail
kubectl auth whoami | grep -q 'kubernetes-admin'
kubectl --context jane auth whoami | grep -q 'jane'
[ "$(kubectl --context jane auth can-i list pods || true)" = no ]
(kubectl --context jane get pods 2>&1 || true) | grep -q 'User "jane" cannot list resource "pods"'
kubectl create rolebinding jane --clusterrole=view --user=jane
[ "$(kubectl --context jane auth can-i list pods)" = yes ]
kubectl --context jane auth can-i --list >"$HOME/rules"
grep -q '^configmaps ' "$HOME/rules"
kubectl --context joe auth whoami | grep -q 'joe'
kubectl --as jane get pods
USERS
"${CARGO_TARGET_DIR:-target}/release/fakeserver" run --tls --authorization rbac \
    --token secret=jane,developers --client-certificate joe -- bash "$work/users.sh" \
    >"$work/stdout" 2>&1 || fail "users: $(cat "$work/stdout")"
echo "kubectl smoke: ok"
