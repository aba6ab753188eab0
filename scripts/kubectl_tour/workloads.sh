# With controllers: deployments roll out, jobs complete, dependents go with their owners.
start_server --controllers workloads

expect 'deployment.apps/web created' kubectl create deployment web --image=nginx:1.26 --replicas=3
expect 'successfully rolled out' kubectl rollout status deployment/web --timeout=60s
expect '^web +3/3 +3 +3 ' kubectl get deployment web
expect 'condition met' kubectl wait --for=condition=Available deployment/web --timeout=20s
expect '^web-.* +1/1 +Running ' kubectl get pods -l app=web
expect 'ScalingReplicaSet' kubectl events
expect 'Started' kubectl describe pods -l app=web
expect '^web-.* +5m +16Mi' kubectl top pods -l app=web
expect '^node-0 +[0-9]+m ' kubectl top nodes
expect 'image updated' kubectl set image deployment/web nginx=nginx:1.27
expect 'successfully rolled out' kubectl rollout status deployment/web --timeout=60s
images=(kubectl get pods -l app=web -o 'jsonpath={.items[*].spec.containers[0].image}')
# The last of the old pods may still be terminating.
until_true says '^nginx:1.27 nginx:1.27 nginx:1.27$' "${images[@]}" || fail "old pods: $("${images[@]}")"
expect 'deployment.apps/web restarted' kubectl rollout restart deployment/web
expect 'successfully rolled out' kubectl rollout status deployment/web --timeout=60s
expect '^3 ' kubectl rollout history deployment/web
expect 'rolled back' kubectl rollout undo deployment/web --to-revision=1
expect 'successfully rolled out' kubectl rollout status deployment/web --timeout=60s
expect '^nginx:1.26$' kubectl get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image}'
expect 'paused' kubectl rollout pause deployment/web
expect 'resumed' kubectl rollout resume deployment/web
expect 'scaled' kubectl scale deployment web --replicas=1
expect 'condition met' kubectl wait --for='jsonpath={.status.replicas}=1' deployment/web --timeout=60s

expect 'job.batch/once created' kubectl create job once --image=busybox:1.37 -- true
expect 'condition met' kubectl wait --for=condition=Complete job/once --timeout=60s
expect '^once +Complete +1/1 ' kubectl get jobs

cat >"$work/sets.yaml" <<'YAML'
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "postgres:17"}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "agent:1"}]}
YAML
expect 'statefulset.apps/db created' kubectl apply -f "$work/sets.yaml"
expect 'roll.*out complete|successfully rolled out' kubectl rollout status statefulset/db --timeout=60s
expect '^db-0 db-1$' kubectl get pods -l app=db -o 'jsonpath={.items[*].metadata.name}'
expect 'successfully rolled out' kubectl rollout status daemonset/agent --timeout=60s

expect 'deployment.apps "web" deleted' kubectl delete deployment web --cascade=foreground
expect 'No resources found' kubectl get pods,replicasets -l app=web
expect 'deleted' kubectl delete statefulset db --cascade=orphan
expect '^db-0' kubectl get pods -l app=db
expect 'pod "db-0" deleted' kubectl delete pod db-0 db-1
