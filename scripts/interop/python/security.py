"""Client certificates, bearer tokens and stored rules, as the client sees them: over TLS, with roles that decide."""

import json

from kubernetes import client, config
from support import check, core, create_namespace, refused

SPACE = "secured"
create_namespace(SPACE)
host = core.api_client.configuration.host
check("the server speaks TLS", host.split(":")[0], "https")


def with_token(token):
    """A client that shows a bearer token, and no certificate."""
    settings = client.Configuration()
    settings.host = host
    settings.ssl_ca_cert = core.api_client.configuration.ssl_ca_cert
    # Clients before 36 have the first name.
    for name in ["authorization", "BearerToken"]:
        settings.api_key[name] = token
        settings.api_key_prefix[name] = "Bearer"
    return client.ApiClient(settings)


jane = client.CoreV1Api(config.new_client_from_config(context="jane"))
error = refused(403, lambda: jane.list_namespaced_pod(SPACE))
message = json.loads(error.body)["message"]
wanted = f'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "{SPACE}"'
check("what no rule allows is forbidden", message, wanted)

rbac = client.RbacAuthorizationV1Api()
rules = [client.V1PolicyRule(api_groups=[""], resources=["pods"], verbs=["list"])]
rbac.create_namespaced_role(SPACE, client.V1Role(metadata=client.V1ObjectMeta(name="reader"), rules=rules))
role = client.V1RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name="reader")
subjects = [
    client.RbacV1Subject(kind="User", name="jane", api_group="rbac.authorization.k8s.io"),
    client.RbacV1Subject(kind="ServiceAccount", name="runner", namespace=SPACE),
]
rbac.create_namespaced_role_binding(
    SPACE,
    client.V1RoleBinding(metadata=client.V1ObjectMeta(name="readers"), role_ref=role, subjects=subjects),
)
check("what a rule allows is done", jane.list_namespaced_pod(SPACE).items, [])
refused(403, lambda: jane.list_pod_for_all_namespaces())
check("elsewhere it is not", jane.list_namespaced_pod(SPACE).items, [])


def may(verb):
    """Whether Jane is told that she may do something to pods."""
    attributes = client.V1ResourceAttributes(namespace=SPACE, verb=verb, resource="pods")
    review = client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
    )
    return client.AuthorizationV1Api(jane.api_client).create_self_subject_access_review(review).status.allowed


check("she can ask what she may do", (may("list"), may("delete")), (True, False))

account = client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="runner"))
core.create_namespaced_service_account(SPACE, account)
request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))
token = core.create_namespaced_service_account_token("runner", SPACE, request).status.token
runner = client.CoreV1Api(with_token(token))
check("the token of a service account is one of its own", runner.list_namespaced_pod(SPACE).items, [])
refused(403, lambda: runner.delete_namespaced_pod("any", SPACE))

stranger = client.CoreV1Api(with_token("wrong"))
error = refused(401, lambda: stranger.list_namespaced_pod(SPACE))
check("an unknown token is refused", json.loads(error.body)["message"], "Unauthorized")
