# A definition, its objects, its columns, its documentation, its end.
start_server

cat >"$work/definition.yaml" <<'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ships.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: ships, singular: ship, kind: Ship, shortNames: [sh], categories: [fleet]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.masts, statusReplicasPath: .status.masts}
    selectableFields: [{jsonPath: .spec.port}]
    additionalPrinterColumns:
    - {name: Port, type: string, jsonPath: .spec.port}
    - {name: Masts, type: integer, jsonPath: .spec.masts, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: A ship and where it lies.
        required: [spec]
        properties:
          spec:
            type: object
            required: [port]
            x-kubernetes-validations:
            - {rule: "self.masts <= 7", message: "no ship has more than seven masts"}
            properties:
              port: {type: string, description: The harbour it belongs to., enum: [Hamburg, Genoa]}
              masts: {type: integer, default: 2}
          status:
            type: object
            properties: {masts: {type: integer}}
YAML
expect 'ships.example.com created' kubectl apply -f "$work/definition.yaml"
expect 'condition met' kubectl wait --for=condition=Established crd/ships.example.com --timeout=20s
expect '^ships +sh +example.com/v1 +true +Ship$' kubectl api-resources --api-group=example.com
expect 'The harbour it belongs to' kubectl explain ships.spec.port
expect 'A ship and where it lies' kubectl explain sh

ship() {
    printf 'apiVersion: example.com/v1\nkind: Ship\nmetadata: {name: %s}\nspec: {port: %s%s}\n' "$1" "$2" "${3:-}"
}
expect 'ship.example.com/anna created' kubectl apply -f <(ship anna Hamburg)
expect 'ship.example.com/berta serverside-applied' kubectl apply --server-side -f <(ship berta Genoa ', masts: 5')
refuse 'Unsupported value: "Rome"' kubectl create -f <(ship carla Rome)
refuse 'no ship has more than seven masts' kubectl create -f <(ship carla Genoa ', masts: 8')
refuse 'unknown field "spec.sails"' kubectl create -f <(ship carla Genoa ', sails: 8')
expect '^NAME +PORT *$' kubectl get ships
expect '^anna +Hamburg +2$' kubectl get ships -o wide
expect '^ship.example.com/berta$' kubectl get sh -o name --field-selector spec.port=Genoa
expect_not 'anna' kubectl get sh -o name --field-selector spec.port=Genoa
expect 'ship.example.com/anna' kubectl get fleet -o name
expect 'scaled' kubectl scale ship anna --replicas=3
expect '^3$' kubectl get ship anna -o 'jsonpath={.spec.masts}'
expect 'patched' kubectl patch ship anna --subresource=status --type=merge -p '{"status":{"masts":3}}'
expect 'condition met' kubectl wait --for='jsonpath={.status.masts}=3' ship/anna --timeout=10s
expect 'Port: +Hamburg' kubectl describe ship anna
expect 'labeled' kubectl label ship anna flag=red
expect 'deleted' kubectl delete crd ships.example.com
refuse "doesn.t have a resource type|NotFound|could not find the requested resource" kubectl get ships
