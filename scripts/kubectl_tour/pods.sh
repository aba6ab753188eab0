# Pods that answer: logs, commands, attachments, ports and proxies. A process of the tour stands for the pods.
backend_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir -p "$work/site"
echo 'a page' >"$work/site/page.txt"
in_background backend python3 -m http.server --bind 127.0.0.1 --directory "$work/site" "$backend_port"
start_server --controllers workloads --pod-backend "app=web=127.0.0.1:$backend_port"

cat >"$work/web.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {mode: fast}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: web
    image: nginx:1.27
    ports: [{containerPort: 80}]
    env: [{name: MODE, valueFrom: {configMapKeyRef: {name: settings, key: mode}}}]
    volumeMounts: [{name: settings, mountPath: /etc/settings}]
  - {name: side, image: "side:1"}
  volumes: [{name: settings, configMap: {name: settings}}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
YAML
expect 'pod/web created' kubectl apply -f "$work/web.yaml"
expect 'condition met' kubectl wait --for=condition=Ready pod/web --timeout=60s

expect '^container web of image nginx:1.27 started$' kubectl logs web -c web
expect '^20[0-9T:.-]{27}Z container side' kubectl logs web -c side --timestamps --tail=1 --since=1h
expect '^\[pod/web/side\] container side' kubectl logs -l app=web --all-containers --prefix
refuse 'previous terminated container "web" in pod "web" not found' kubectl logs web -c web --previous
in_background followed kubectl logs web -c web -f

minor=$(kubectl version --client -o yaml | sed -n 's/^ *minor: "\{0,1\}\([0-9]*\).*/\1/p')
if [ "$minor" -lt 31 ]; then
    echo "kubectl tour: $topic: commands and ports SKIPPED, kubectl 1.$minor needs SPDY"
else
    expect '^fast$' kubectl exec web -c web -- cat /etc/settings/mode
    expect '^MODE=fast$' kubectl exec web -c web -- env
    # shellcheck disable=SC2016 # The shell of the container replaces the variables.
    expect '^fast web$' kubectl exec web -c web -- sh -c 'echo $MODE $HOSTNAME'
    expect '^from here$' sh -c "echo from here | kubectl exec -i web -c web -- cat"
    refuse 'exit code 1' kubectl exec web -c web -- false
    refuse 'executable file not found' kubectl exec web -c web -- nginx -s reload
    refuse 'exit code 3' kubectl exec web -c web -- sh -c 'exit 3'
    refuse 'container none is not valid|container not found' kubectl exec web -c none -- true
    in_background attached kubectl attach web -c web

    in_background forwarded kubectl port-forward pod/web :80
    until_true has 'Forwarding from 127.0.0.1:[0-9]+' "$work/forwarded" || fail "no port: $(cat "$work/forwarded")"
    local_port=$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\) .*/\1/p' "$work/forwarded" | head -n 1)
    page=(python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())')
    expect '^a page$' "${page[@]}" "http://127.0.0.1:$local_port/page.txt"
    expect '^a page$' "${page[@]}" "http://127.0.0.1:$local_port/page.txt"
fi

expect '^a page$' kubectl get --raw /api/v1/namespaces/default/pods/web:80/proxy/page.txt
expect '^a page$' kubectl get --raw /api/v1/namespaces/default/services/web:80/proxy/page.txt
refuse 'no service port 81 found' kubectl get --raw /api/v1/namespaces/default/services/web:81/proxy/

expect 'pod "web" deleted' kubectl delete pod web
until_true has '^container web ended with exit code' "$work/followed" || fail "not followed: $(cat "$work/followed")"
if [ "$minor" -ge 31 ]; then
    until_true has '^container web ended with exit code' "$work/attached" || fail "not attached: $(cat "$work/attached")"
fi
