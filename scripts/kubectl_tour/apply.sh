# Both kinds of apply: what is added, given up, pruned, and who may change what.
start_server

deployment() {
    cat <<YAML
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {part-of: shop}
spec:
  replicas: $1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: nginx:$2
YAML
}
config() {
    printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  labels: {part-of: shop}\ndata:\n' "$1"
    shift
    printf '  %s\n' "$@"
}

# Client-side.
mkdir -p "$work/shop"
deployment 2 1.26 >"$work/shop/web.yaml"
config colours 'a: green' 'b: blue' >"$work/shop/colours.yaml"
config sizes 'small: "1"' >"$work/shop/sizes.yaml"
expect 'deployment.apps/web created' kubectl apply -f "$work/shop"
expect 'deployment.apps/web unchanged' kubectl apply -f "$work/shop"
expect 'small: "1"' kubectl apply view-last-applied configmap sizes
config colours 'a: red' >"$work/shop/colours.yaml"
refuse '^-  b: blue' kubectl diff -f "$work/shop/colours.yaml"
expect 'configmap/colours configured' kubectl apply -f "$work/shop/colours.yaml"
expect '^\{"a":"red"\}$' kubectl get configmap colours -o 'jsonpath={.data}'
expect_not 'configured' kubectl diff -f "$work/shop"
# What others added stays, what is given up goes.
expect 'patched' kubectl patch configmap colours --type=merge -p '{"data":{"c":"black"}}'
config colours 'd: white' >"$work/shop/colours.yaml"
expect 'configured' kubectl apply -f "$work/shop/colours.yaml"
expect '^\{"c":"black","d":"white"\}$' kubectl get configmap colours -o 'jsonpath={.data}'
expect 'configured \(server dry run\)' kubectl apply -f <(deployment 3 1.26) --dry-run=server
expect '^2$' kubectl get deployment web -o 'jsonpath={.spec.replicas}'
rm "$work/shop/sizes.yaml"
expect 'configmap/sizes pruned' \
    kubectl apply -f "$work/shop" --prune -l part-of=shop --prune-allowlist=core/v1/ConfigMap
refuse 'not found' kubectl get configmap sizes
refuse 'unknown field "spec.replicaz"' kubectl apply -f <(deployment 2 1.26 | sed s/replicas/replicaz/)
refuse 'field is immutable' kubectl apply -f <(deployment 2 1.26 | sed 's/{app: web}/{app: wob}/')
cat >"$work/shop/kustomization.yaml" <<'YAML'
namePrefix: test-
resources: [colours.yaml]
YAML
expect 'configmap/test-colours created' kubectl apply -k "$work/shop"

# Server-side.
config owned 'a: "1"' 'b: "1"' >"$work/owned.yaml"
expect 'configmap/owned serverside-applied' kubectl apply --server-side -f "$work/owned.yaml"
expect 'manager: kubectl' kubectl get configmap owned -o yaml --show-managed-fields
refuse 'conflict with "kubectl".*\.data\.a|conflict' \
    kubectl apply --server-side --field-manager=other -f <(config owned 'a: "2"')
expect 'serverside-applied' kubectl apply --server-side --field-manager=other --force-conflicts -f <(config owned 'a: "2"')
expect '^\{"a":"2","b":"1"\}$' kubectl get configmap owned -o 'jsonpath={.data}'
expect 'serverside-applied' kubectl apply --server-side -f <(config owned 'c: "3"')
expect '^\{"a":"2","c":"3"\}$' kubectl get configmap owned -o 'jsonpath={.data}'
refuse 'unknown field|field not declared' kubectl apply --server-side -f <(deployment 2 1.26 | sed s/replicas/replicaz/)
refuse '^\+' kubectl diff --server-side --force-conflicts -f <(config owned 'c: "4"')
# From one kind to the other.
expect 'serverside-applied' kubectl apply --server-side -f <(deployment 4 1.27)
expect '^4 nginx:1.27$' kubectl get deployment web \
    -o 'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}'
expect 'configured' kubectl apply -f <(deployment 5 1.27)
expect 'deployment.apps "web" deleted' kubectl delete -f "$work/shop/web.yaml"
