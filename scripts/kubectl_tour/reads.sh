# Every way to look: tables, documents, selectors, watches, descriptions, what there is.
start_server

cat >"$work/pods.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata:
  name: web-0
  labels: {app: web, tier: front}
spec:
  nodeName: node-1
  containers:
  - {name: web, image: "nginx:1.27", ports: [{containerPort: 80}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: db-0
  labels: {app: db}
spec:
  containers:
  - {name: db, image: "postgres:17"}
YAML
expect 'pod/web-0 created' kubectl create -f "$work/pods.yaml"

expect '^NAME +READY +STATUS +RESTARTS +AGE$' kubectl get pods
expect '^web-0 +0/1 +Pending +0 +' kubectl get pods
expect '^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES$' kubectl get pods -o wide
expect 'node-1' kubectl get pods -o wide
expect '^pod/web-0$' kubectl get pods -o name
expect 'image: nginx:1.27$' kubectl get pod web-0 -o yaml
expect_not 'managedFields' kubectl get pod web-0 -o yaml
expect 'managedFields' kubectl get pod web-0 -o yaml --show-managed-fields
expect '"image": "nginx:1.27"' kubectl get pod web-0 -o json
expect '^db-0 web-0$' kubectl get pods -o 'jsonpath={.items[*].metadata.name}'
expect '^postgres:17$' kubectl get pod db-0 -o 'go-template={{(index .spec.containers 0).image}}'
expect '^web-0 +front$' kubectl get pods -l app=web -o custom-columns=N:.metadata.name,T:.metadata.labels.tier
expect 'LABELS' kubectl get pods --show-labels
expect '^web-0 .* front$' kubectl get pods -L tier
expect_not 'db-0' kubectl get pods -l app=web
expect_not 'web-0' kubectl get pods -l 'app notin (web)'
expect_not 'db-0' kubectl get pods --field-selector spec.nodeName=node-1
expect '^db-0' kubectl get pods --field-selector 'spec.nodeName!=node-1'
expect 'NAMESPACE' kubectl get pods -A
expect '^web-0' kubectl get pods --chunk-size=1
expect '^db-0' kubectl get pods --sort-by=.metadata.name
expect 'pod/web-0' kubectl get all
expect 'No resources found in default namespace' kubectl get deployments
refuse 'pods "nobody" not found' kubectl get pod nobody
refuse 'the server doesn.t have a resource type "cars"' kubectl get cars
refuse 'field label not supported' kubectl get pods --field-selector spec.colour=red
refuse 'unable to parse requirement' kubectl get pods -l 'app in ('

in_background watched kubectl get pods -w -o name
until_true has '^pod/web-0' "$work/watched" || fail "get -w printed nothing"
expect 'labeled' kubectl label pod web-0 seen=yes
in_background watched_only kubectl get pods --watch-only -l seen=yes
expect 'annotated' kubectl annotate pod web-0 seen=yes
until_true has '^pod/web-0' "$work/watched" || fail "get -w"
web_lines() { [ "$(grep -c '^pod/web-0' "$work/watched")" -ge "$1" ]; }
until_true web_lines 3 || fail "get -w saw too little: $(cat "$work/watched")"

expect '^Name: +web-0$' kubectl describe pod web-0
expect '^Labels: +app=web$' kubectl describe pod web-0
expect 'Image: +nginx:1.27' kubectl describe pods
expect '^Name: +default$' kubectl describe namespace default

expect 'KIND: +Pod' kubectl explain pods
expect 'FIELD: containers' kubectl explain pods.spec.containers
expect 'image' kubectl explain pods.spec.containers --recursive
expect 'GROUP: +apps' kubectl explain deployments.spec.strategy
refuse 'does not exist|nosuch' kubectl explain pods.spec.nosuch
expect '^deployments +deploy +apps/v1 +true +Deployment$' kubectl api-resources
expect '^nodes +no +v1 +false +Node$' kubectl api-resources --namespaced=false
expect_not '^nodes ' kubectl api-resources --api-group=apps
expect '^apps/v1$' kubectl api-versions
expect 'Server Version: v1\.' kubectl version
expect 'Kubernetes control plane.* is running at' kubectl cluster-info
expect '^ok$' kubectl get --raw /readyz
expect '"kind":"PodList"' kubectl get --raw /api/v1/namespaces/default/pods
expect 'No events found|No resources found' kubectl events
refuse 'Metrics API not available' kubectl top pods
refuse 'Metrics API not available' kubectl top nodes
