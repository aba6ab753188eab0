# Creating, changing and deleting, each in the ways kubectl has.
start_server

expect 'namespace/shop created' kubectl create namespace shop
expect 'modified' kubectl config set-context --current --namespace=shop
expect 'configmap/settings created' kubectl create configmap settings --from-literal=colour=green --from-literal=size=9
printf 'one\ntwo\n' >"$work/notes.txt"
expect 'configmap/notes created' kubectl create configmap notes --from-file="$work/notes.txt"
expect 'two' kubectl get configmap notes -o yaml
expect 'secret/key created' kubectl create secret generic key --from-literal=password=hidden
expect '^aGlkZGVu$' kubectl get secret key -o 'jsonpath={.data.password}'
expect 'password: +6 bytes' kubectl describe secret key
refuse 'AlreadyExists|already exists' kubectl create configmap settings
expect 'serviceaccount/robot created' kubectl create serviceaccount robot
expect '^ey|^[A-Za-z0-9_.-]+$' kubectl create token robot
expect 'role.rbac.authorization.k8s.io/reader created' kubectl create role reader --verb=get,list --resource=pods
expect 'rolebinding.rbac.authorization.k8s.io/readers created' \
    kubectl create rolebinding readers --role=reader --serviceaccount=shop:robot
expect 'resourcequota/small created' kubectl create quota small --hard=pods=4
expect 'ingress.networking.k8s.io/front created' kubectl create ingress front --rule=shop.example/=web:80
expect 'poddisruptionbudget.policy/careful created' \
    kubectl create poddisruptionbudget careful --selector=app=web --min-available=1
expect 'priorityclass.scheduling.k8s.io/high created' kubectl create priorityclass high --value=1000
expect 'job.batch/once created' kubectl create job once --image=busybox:1.37 -- true
expect 'cronjob.batch/nightly created' kubectl create cronjob nightly --image=busybox:1.37 --schedule='0 3 * * *' -- true
expect 'pod/alone created' kubectl run alone --image=nginx:1.27 --port=80
expect 'service/alone exposed' kubectl expose pod alone --port=80
expect '^alone +ClusterIP' kubectl get service alone
expect 'deployment.apps/web created' kubectl create deployment web --image=nginx:1.26 --replicas=2
expect 'service/web exposed' kubectl expose deployment web --port=80 --target-port=8080
expect 'Selector: +app=web' kubectl describe service web
expect 'deployment.apps/web image updated' kubectl set image deployment/web nginx=nginx:1.27
expect '^nginx:1.27$' kubectl get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image}'
expect 'deployment.apps/web env updated' kubectl set env deployment/web MODE=fast
expect 'deployment.apps/web resource requirements updated' kubectl set resources deployment/web --limits=cpu=200m
expect 'deployment.apps/web scaled' kubectl scale deployment web --replicas=5
expect '^5$' kubectl get deployment web -o 'jsonpath={.spec.replicas}'
refuse 'Expected replicas to be 2, was 5' \
    kubectl scale deployment web --replicas=6 --current-replicas=2
expect 'autoscaled' kubectl autoscale deployment web --max=9 --cpu-percent=80
expect 'web' kubectl get horizontalpodautoscalers

expect 'configmap/settings labeled' kubectl label configmap settings tier=gold
refuse 'already has a value|overwrite' kubectl label configmap settings tier=silver
expect 'labeled' kubectl label configmap settings tier=silver --overwrite
expect 'unlabeled' kubectl label configmap settings tier-
expect 'configmap/settings annotated' kubectl annotate configmap settings owner=me
refuse 'Invalid value|invalid label value' kubectl label configmap settings 'tier=no good'
expect 'patched' kubectl patch configmap settings --type=merge -p '{"data":{"colour":"red"}}'
expect 'patched' kubectl patch configmap settings --type=json -p '[{"op":"add","path":"/data/age","value":"1"}]'
expect 'patched' kubectl patch deployment web -p \
    '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"busybox:1.37"}]}}}}'
expect '^side nginx$' kubectl get deployment web -o 'jsonpath={.spec.template.spec.containers[*].name}'
expect 'patched \(no change\)' kubectl patch configmap settings --type=merge -p '{"data":{"colour":"red"}}'
expect 'edited' env EDITOR='sed -i s/red/blue/' kubectl edit configmap settings
expect '^blue$' kubectl get configmap settings -o 'jsonpath={.data.colour}'
expect 'Edit cancelled' env EDITOR=true kubectl edit configmap settings

kubectl get configmap settings -o yaml | sed 's/blue/black/' >"$work/settings.yaml"
expect 'configmap/settings replaced' kubectl replace -f "$work/settings.yaml"
refuse 'Conflict|the object has been modified' kubectl replace -f "$work/settings.yaml"
expect 'configmap/settings replaced' kubectl replace --force -f "$work/settings.yaml"

cat >"$work/typo.yaml" <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: typo}
spec:
  replica: 3
  selector: {matchLabels: {app: typo}}
  template:
    metadata: {labels: {app: typo}}
    spec: {containers: [{name: typo, image: "nginx:1.27"}]}
YAML
refuse 'unknown field "spec.replica"' kubectl create -f "$work/typo.yaml"
refuse 'not found' kubectl get deployment typo
expect 'Warning: unknown field "spec.replica"' kubectl create -f "$work/typo.yaml" --validate=warn
sed -e 's/replica: 3/replicas: 3/' -e 's/name: typo}/name: typo2}/' -e 's/labels: {app: typo}/labels: {app: other}/' \
    "$work/typo.yaml" >"$work/selector.yaml"
refuse 'selector. does not match template .labels' kubectl create -f "$work/selector.yaml"
expect 'created \(server dry run\)' kubectl create configmap tried --from-literal=a=b --dry-run=server
refuse 'not found' kubectl get configmap tried

cat >"$work/node.yaml" <<'YAML'
apiVersion: v1
kind: Node
metadata: {name: node-1}
YAML
expect 'node/node-1 created' kubectl create -f "$work/node.yaml"
expect 'node/node-1 tainted' kubectl taint node node-1 full=yes:NoSchedule
expect 'node/node-1 cordoned' kubectl cordon node-1
expect 'SchedulingDisabled' kubectl get nodes
expect 'node/node-1 drained' kubectl drain node-1
expect 'node/node-1 uncordoned' kubectl uncordon node-1

# The plugin that compares must exist; the exit status says whether there is a difference.
kubectl get configmap settings -o yaml | sed 's/black/white/' >"$work/settings.yaml"
refuse '\+  colour: white' kubectl diff -f "$work/settings.yaml"

expect 'condition met' kubectl wait --for='jsonpath={.data.colour}=black' configmap/settings --timeout=10s
in_background waited kubectl wait --for=delete configmap/notes --timeout=20s
until_true says '"watchers":[1-9]' curl -sS --max-time 5 "$url/_control/stats" || fail "wait opened no watch"
expect 'configmap "notes" deleted' kubectl delete configmap notes
until_true has 'condition met' "$work/waited" || fail "wait --for=delete: $(cat "$work/waited")"
expect 'patched' kubectl patch configmap settings --type=merge -p '{"metadata":{"finalizers":["example.com/held"]}}'
refuse 'timed out' kubectl delete configmap settings --timeout=1s
expect 'patched' kubectl patch configmap settings --type=merge -p '{"metadata":{"finalizers":null}}'
refuse 'not found' kubectl get configmap settings
expect 'secret "key" deleted' kubectl delete secrets --all
expect 'pod "alone" force deleted' kubectl delete pod alone --force --grace-period=0
expect 'deleted' kubectl delete deployment -l app=web
expect 'namespace "shop" deleted' kubectl delete namespace shop --timeout=30s
refuse 'namespaces "shop" not found' kubectl get namespace shop
