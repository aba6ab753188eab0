# An API service: another server has the resource, and this one forwards requests for it.
in_background backend "$PROGRAMS/fakeserver" serve --listen 127.0.0.1:0 --kubeconfig "$work/backend.kubeconfig"
until_true has "^listening on http" "$work/backend" || fail "no other server: $(cat "$work/backend")"
backend_url=$(sed -n 's/^listening on //p' "$work/backend" | head -n 1)
start_server --webhook-service "default/ships=$backend_url"

cat >"$work/ships.yaml" <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ships.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: ships, singular: ship, kind: Ship, shortNames: [sh]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns: [{name: Port, type: string, jsonPath: .spec.port}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {port: {type: string, description: The harbour it belongs to.}}}
YAML
expect 'ships.example.com created' kubectl --kubeconfig "$work/backend.kubeconfig" apply -f "$work/ships.yaml"

cat >"$work/api.yaml" <<'YAML'
apiVersion: v1
kind: Service
metadata: {name: ships}
spec: {ports: [{port: 443}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.example.com}
spec:
  group: example.com
  version: v1
  groupPriorityMinimum: 1000
  versionPriority: 15
  insecureSkipTLSVerify: true
  service: {namespace: default, name: ships}
YAML
expect 'v1.example.com created' kubectl apply -f "$work/api.yaml"
expect 'condition met' kubectl wait --for=condition=Available apiservice/v1.example.com --timeout=20s
expect '^v1.example.com +default/ships +True +[0-9]+s$' kubectl get apiservices
expect '^v1.apps +Local +True' kubectl get apiservices
expect '^ships +sh +example.com/v1 +true +Ship$' kubectl api-resources --api-group=example.com
expect 'The harbour it belongs to' kubectl explain ships.spec.port

ship() { printf 'apiVersion: example.com/v1\nkind: Ship\nmetadata: {name: %s}\nspec: {%s: %s}\n' "$1" "$2" "$3"; }
in_background watched kubectl get ships --watch -o name
expect 'ship.example.com/anna created' kubectl apply -f <(ship anna port Hamburg)
expect 'ship.example.com/anna configured' kubectl apply -f <(ship anna port Genoa)
refuse 'unknown field "spec.sails"' kubectl create -f <(ship berta sails 8)
expect '^anna +Genoa$' kubectl get sh
expect '^anna +Genoa$' kubectl --kubeconfig "$work/backend.kubeconfig" get sh
until_true has '^ship.example.com/anna$' "$work/watched" || fail "the watch shows nothing: $(cat "$work/watched")"
steps=$((steps + 1))
expect 'deleted' kubectl delete ship anna

expect 'service "ships" deleted' kubectl delete service ships
until_true says 'ServiceNotFound' kubectl get apiservice v1.example.com || fail "the API is still available"
refuse 'service unavailable|unable to handle the request' kubectl get --raw /apis/example.com/v1
expect 'deleted' kubectl delete apiservice v1.example.com
refuse 'not find the requested resource|page not found' kubectl get --raw /apis/example.com/v1
