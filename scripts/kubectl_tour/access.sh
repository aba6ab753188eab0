# Who one is and what one may: TLS, the written kubeconfig, tokens, RBAC, plain curl, kubectl proxy.
start_server --tls --authorization rbac --token sesame=ann,admins --token open=bob

grep -q certificate-authority-data "$work/kubeconfig" || fail "no CA in the kubeconfig"
expect 'yes' kubectl auth can-i '*' '*'
expect 'clusterrolebinding.rbac.authorization.k8s.io/admins created' \
    kubectl create clusterrolebinding admins --clusterrole=cluster-admin --group=admins
expect 'role.rbac.authorization.k8s.io/reader created' kubectl create role reader --verb=get,list,watch --resource=configmaps
expect 'created' kubectl create rolebinding bob --role=reader --user=bob
expect 'Username +ann' kubectl --context=ann auth whoami

as_bob=(kubectl --kubeconfig "$work/bob")
expect 'set' "${as_bob[@]}" config set-cluster c --server="$url" --insecure-skip-tls-verify=true
expect 'set' "${as_bob[@]}" config set-credentials bob --token=open
expect 'created' "${as_bob[@]}" config set-context bob --cluster=c --user=bob
expect 'Switched' "${as_bob[@]}" config use-context bob
expect 'yes' "${as_bob[@]}" auth can-i list configmaps
refuse 'no' "${as_bob[@]}" auth can-i delete configmaps
expect 'configmaps' "${as_bob[@]}" auth can-i --list
expect 'No resources found' "${as_bob[@]}" get configmaps
refuse 'configmaps is forbidden: User "bob" cannot create resource "configmaps"' \
    "${as_bob[@]}" create configmap mine
refuse 'cannot list resource "secrets"' "${as_bob[@]}" get secrets -A
expect 'yes' kubectl auth can-i get configmaps --as=bob

ca=$work/ca.pem
kubectl config view --raw -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}' | base64 -d >"$ca"
curl_as() {
    local token=$1
    shift
    curl -sS --cacert "$ca" --max-time 20 -H "Authorization: Bearer $token" "$@"
}
expect '"kind": ?"ConfigMapList"' curl_as open "$url/api/v1/namespaces/default/configmaps"
expect '"code": ?403' curl_as open "$url/api/v1/namespaces/default/secrets"
expect '"code": ?401' curl_as wrong "$url/api/v1/namespaces/default/configmaps"
expect '[Tt]ransfer-[Ee]ncoding: chunked' curl_as open --http1.1 -D - -o /dev/null \
    "$url/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1"
in_background curled curl_as open --http1.1 -N "$url/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=15"
expect 'created' kubectl create configmap told
until_true has '"type":"ADDED".*"told"' "$work/curled" || fail "curl saw no change: $(cat "$work/curled")"

in_background proxied kubectl proxy --port=0
until_true has 'Starting to serve on' "$work/proxied" || fail "kubectl proxy: $(cat "$work/proxied")"
proxy=http://$(sed -n 's/^Starting to serve on //p' "$work/proxied")
expect '"told"' curl -sS --max-time 20 "$proxy/api/v1/namespaces/default/configmaps"
expect '^ok$' curl -sS --max-time 20 "$proxy/readyz"

expect 'serviceaccount/robot created' kubectl create serviceaccount robot
expect 'created' kubectl create rolebinding robot --role=reader --serviceaccount=default:robot
token=$(kubectl create token robot)
expect '"told"' curl_as "$token" "$url/api/v1/namespaces/default/configmaps"
