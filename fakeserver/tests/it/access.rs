//! Access: tokens, rules, impersonation, reviews.

use fakeserver::{Authorization, FakeServer, FakeServerBuilder, UserInfo};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Answer, Api, CONFIG_MAPS, PODS};

pub(crate) const ADMIN: (&str, &str) = ("authorization", "Bearer admin");
const JANE: (&str, &str) = ("authorization", "Bearer jane");
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
const CLUSTER_ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const AUTHORIZATION: &str = "/apis/authorization.k8s.io/v1";
pub(crate) const AUTHENTICATION: &str = "/apis/authentication.k8s.io/v1";

pub(crate) fn builder() -> FakeServerBuilder {
    FakeServer::builder()
        .with_token("admin", UserInfo::administrator())
        .with_token("jane", UserInfo::new("jane").with_groups(["devs"]))
}

/// A server with rules, an administrator and a user `jane`.
pub(crate) fn with_rules() -> Api {
    let builder = builder().with_authorization(Authorization::Rbac);
    Api {
        server: builder.build(),
    }
}

pub(crate) async fn get(api: &Api, who: (&str, &str), path: &str) -> Answer {
    api.send("GET", path, &[who], "").await
}

pub(crate) async fn post(api: &Api, who: (&str, &str), path: &str, object: &Value) -> Answer {
    api.send("POST", path, &[who], object.to_string()).await
}

/// Lets `jane` do `verbs` on `resource` in the namespace `default`.
async fn let_jane(api: &Api, verbs: &[&str], group: &str, resource: &str) {
    let name = format!("jane-{}", verbs.join("-"));
    let role = json!({
        "metadata": {"name": name},
        "rules": [{"verbs": verbs, "apiGroups": [group], "resources": [resource]}],
    });
    post(api, ADMIN, ROLES, &role).await.created();
    bind_jane(api, "Role", &name).await;
}

async fn bind_jane(api: &Api, kind: &str, role: &str) {
    let group = "rbac.authorization.k8s.io";
    let binding = json!({
        "metadata": {"name": format!("{role}-of-jane")},
        "subjects": [{"kind": "User", "name": "jane", "apiGroup": group}],
        "roleRef": {"kind": kind, "name": role, "apiGroup": group},
    });
    post(api, ADMIN, BINDINGS, &binding).await.created();
}

#[tokio::test]
async fn an_unknown_token_is_unauthorized() {
    let api = Api::new();
    api.get(PODS).await.ok();
    let headers = [("authorization", "Bearer x"), ("audit-id", "mine")];
    let refused = api.send("GET", PODS, &headers, "").await;
    assert_eq!(
        refused.json(),
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "Unauthorized", "reason": "Unauthorized", "code": 401,
        })
    );
    assert_eq!(refused.headers["audit-id"], "mine");
    let flow = "x-kubernetes-pf-flowschema-uid";
    assert!(refused.headers.get(flow).is_none());
    // What is no bearer token is not looked at.
    for value in ["Basic x", "Bearer", "Bearer "] {
        get(&api, ("authorization", value), PODS).await.ok();
    }
}

#[tokio::test]
async fn anonymous_requests_can_be_refused() {
    let server = builder().with_anonymous_auth(false).build();
    let api = Api { server };
    for path in [PODS, "/version", "/nosuch", "/_control/stats"] {
        assert_eq!(api.get(path).await.code, StatusCode::UNAUTHORIZED, "{path}");
    }
    get(&api, JANE, PODS).await.ok();
    get(&api, JANE, "/_control/stats").await.ok();
}

#[tokio::test]
async fn requests_without_a_rule_are_forbidden() {
    let api = with_rules();
    let refused = get(&api, JANE, &format!("{PODS}/p/log")).await;
    assert_eq!(refused.headers["x-content-type-options"], "nosniff");
    assert_eq!(refused.code, StatusCode::FORBIDDEN);
    assert_eq!(
        refused.json(),
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "pods \"p\" is forbidden: User \"jane\" cannot get resource \"pods/log\" in API group \"\" \
                        in the namespace \"default\"",
            "reason": "Forbidden", "details": {"name": "p", "kind": "pods"}, "code": 403,
        })
    );
    let cases = [
        (
            "/apis/apps/v1/deployments",
            "deployments.apps is forbidden: User \"jane\" cannot list resource \"deployments\" in API group \"apps\" \
             at the cluster scope",
        ),
        (
            "/metrics",
            "forbidden: User \"jane\" cannot get path \"/metrics\"",
        ),
        (
            "/apis/nosuch.io/v1/things",
            "things.nosuch.io is forbidden: User \"jane\" cannot list resource \"things\" in API group \"nosuch.io\" \
             at the cluster scope",
        ),
        (
            "/_control/stats",
            "forbidden: User \"jane\" cannot get path \"/_control/stats\"",
        ),
    ];
    for (path, message) in cases {
        assert_eq!(get(&api, JANE, path).await.refused(403), message);
    }
    // Every user may discover the API, but not more.
    get(&api, JANE, "/apis/apps/v1").await.ok();
    api.get("/version").await.ok();
    let refused = api.get("/apis").await.refused(403);
    assert_eq!(
        refused,
        "forbidden: User \"system:anonymous\" cannot get path \"/apis\""
    );
    get(&api, ADMIN, "/apis/apps/v1/deployments").await.ok();
    get(&api, ADMIN, "/_control/stats").await.ok();
}

#[tokio::test]
async fn rules_count_from_when_they_are_stored() {
    let api = with_rules();
    get(&api, JANE, PODS).await.refused(403);
    bind_jane(&api, "Role", "jane-list-watch").await;
    let missing = get(&api, JANE, PODS).await.refused(403);
    assert!(
        missing.ends_with(": RBAC: role.rbac.authorization.k8s.io \"jane-list-watch\" not found"),
        "{missing}"
    );
    let role = json!({
        "metadata": {"name": "jane-list-watch"},
        "rules": [{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}],
    });
    post(&api, ADMIN, ROLES, &role).await.created();
    get(&api, JANE, PODS).await.ok();
    get(&api, JANE, "/api/v1/pods").await.refused(403);
    get(&api, JANE, CONFIG_MAPS).await.refused(403);
    let path = format!("{BINDINGS}/jane-list-watch-of-jane");
    api.send("DELETE", &path, &[ADMIN], "").await.ok();
    get(&api, JANE, PODS).await.refused(403);
}

#[tokio::test]
async fn a_cluster_with_rules_begins_with_the_roles_of_users() {
    let api = with_rules();
    let roles = get(&api, ADMIN, CLUSTER_ROLES).await.ok();
    let names: Vec<&str> = roles["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|role| role["metadata"]["name"].as_str().unwrap())
        .collect();
    for name in ["admin", "cluster-admin", "edit", "view", "system:discovery"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let view = get(&api, ADMIN, &format!("{CLUSTER_ROLES}/view"))
        .await
        .ok();
    assert_eq!(
        view["rules"][0]["verbs"],
        json!(["get", "list", "watch"]),
        "a sum shows its rules"
    );
    bind_jane(&api, "ClusterRole", "view").await;
    get(&api, JANE, CONFIG_MAPS).await.ok();
    let secrets = "/api/v1/namespaces/default/secrets";
    get(&api, JANE, secrets).await.refused(403);

    // A role that others add to has their rules from then on.
    let more = json!({
        "metadata": {"name": "more", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
        "rules": [{"verbs": ["list"], "apiGroups": [""], "resources": ["secrets"]}],
    });
    post(&api, ADMIN, CLUSTER_ROLES, &more).await.created();
    get(&api, JANE, secrets).await.ok();

    let plain = Api::new().get(&format!("{CLUSTER_ROLES}/view")).await.ok();
    assert_eq!(plain["rules"], Value::Null, "only where rules count");
}

#[tokio::test]
async fn fault_rules_match_forbidden_requests() {
    use fakeserver::faults::{Filter, ServerError};
    let api = with_rules();
    let rule = ServerError::new(StatusCode::SERVICE_UNAVAILABLE)
        .rule()
        .matching(Filter::any().resource("pods"));
    let guard = api.server.faults().install(rule);
    assert_eq!(
        get(&api, JANE, PODS).await.code,
        StatusCode::SERVICE_UNAVAILABLE
    );
    drop(guard);
    get(&api, JANE, PODS).await.refused(403);
}

#[tokio::test]
async fn a_user_may_impersonate_another_by_the_rules() {
    let api = with_rules();
    let who = format!("{AUTHENTICATION}/selfsubjectreviews");
    let act = async |who_asks, name: &str| {
        let headers = [who_asks, ("impersonate-user", name)];
        api.send("POST", &who, &headers, "{}").await
    };
    let joe = act(ADMIN, "joe").await.created();
    assert_eq!(
        joe["status"]["userInfo"],
        json!({"username": "joe", "groups": ["system:authenticated"]})
    );
    assert_eq!(
        act(JANE, "joe").await.refused(403),
        "users \"joe\" is forbidden: User \"jane\" cannot impersonate resource \"users\" in API group \"\" \
         at the cluster scope"
    );
    let_jane(&api, &["impersonate"], "", "serviceaccounts").await;
    let robot = act(JANE, "system:serviceaccount:default:robot")
        .await
        .created();
    let name = &robot["status"]["userInfo"]["username"];
    assert_eq!(name, "system:serviceaccount:default:robot");
    let elsewhere = act(JANE, "system:serviceaccount:other:robot").await;
    elsewhere.refused(403);
    let headers = [ADMIN, ("impersonate-group", "devs")];
    let alone = api.send("GET", PODS, &headers, "").await;
    assert!(!alone.headers.contains_key("x-kubernetes-pf-flowschema-uid"));
    assert_eq!(
        alone.refused(400),
        "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"devs\"}, Extra:map[string][]string(nil)} \
         without impersonating a user name"
    );
}

#[tokio::test]
async fn access_reviews_decide_by_the_rules() {
    let api = with_rules();
    let_jane(&api, &["get", "list"], "", "pods").await;
    let mine = format!("{AUTHORIZATION}/selfsubjectaccessreviews");
    let ask = |verb: &str, namespace: &str| json!({"spec": {"resourceAttributes": {"verb": verb, "resource": "pods", "namespace": namespace}}});
    let answer = post(&api, JANE, &mine, &ask("list", "default"))
        .await
        .created();
    assert_eq!(answer["spec"], ask("list", "default")["spec"]);
    assert_eq!(
        answer["status"],
        json!({
            "allowed": true,
            "reason": "RBAC: allowed by RoleBinding \"jane-get-list-of-jane/default\" of Role \"jane-get-list\" \
                       to User \"jane\"",
        })
    );
    for refused in [ask("delete", "default"), ask("list", "")] {
        let answer = post(&api, JANE, &mine, &refused).await.created();
        assert_eq!(answer["status"], json!({"allowed": false}), "{refused}");
    }
    let of_jane = |mut review: Value| {
        review["spec"]["user"] = json!("jane");
        review
    };
    let others = format!("{AUTHORIZATION}/subjectaccessreviews");
    let review = of_jane(ask("get", "default"));
    let answer = post(&api, ADMIN, &others, &review).await.created();
    assert_eq!(answer["status"]["allowed"], true);
    let path = json!({"spec": {"user": "jane", "nonResourceAttributes": {"verb": "get", "path": "/version"}}});
    let answer = post(&api, ADMIN, &others, &path).await.created();
    assert_eq!(
        answer["status"],
        json!({"allowed": false}),
        "he is in no group"
    );
    post(&api, JANE, &others, &review).await.refused(403);

    let local = format!("{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews");
    let answer = post(&api, ADMIN, &local, &review).await.created();
    assert_eq!(answer["status"]["allowed"], true);
    let wrong = post(&api, ADMIN, &local, &of_jane(ask("get", "other"))).await;
    assert_eq!(
        wrong.refused(422),
        ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: \
         Invalid value: \"other\": must match metadata.namespace"
    );
    let everything = Api::new().post(&mine, &ask("delete", "x")).await.created();
    assert_eq!(everything["status"], json!({"allowed": true}));
}

#[tokio::test]
async fn selectors_of_reviews_are_checked() {
    let api = with_rules();
    let_jane(&api, &["list"], "", "pods").await;
    let fields = "spec.resourceAttributes.fieldSelector";
    let labels = "spec.resourceAttributes.labelSelector";
    let values = "Required value: must be specified when `operator` is 'In' or 'NotIn'";
    let no_values = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    for (selector, requirement) in [("fieldSelector", fields), ("labelSelector", labels)] {
        let requires = |requirement: Value| json!({selector: {"requirements": [requirement]}});
        let in_requirement = |rest: &str| format!("{requirement}.requirements[0].{rest}");
        for (attributes, why) in [
            (
                json!({selector: {}}),
                format!(
                    "{requirement}.requirements: Required value: when {requirement} is specified, requirements or \
                     rawSelector is required"
                ),
            ),
            (
                json!({selector: {"rawSelector": "a=b", "requirements": [
                    {"key": "a", "operator": "In", "values": ["b"]},
                ]}}),
                format!(
                    "{requirement}.rawSelector: Invalid value: \"a=b\": may not specified at the same time as \
                     requirements"
                ),
            ),
            (
                requires(json!({"key": "a", "operator": "In"})),
                in_requirement(&format!("values: {values}")),
            ),
            (
                requires(json!({"key": "a", "operator": "NotIn", "values": []})),
                in_requirement(&format!("values: {values}")),
            ),
            (
                requires(json!({"key": "a", "operator": "DoesNotExist", "values": ["b"]})),
                in_requirement(&format!("values: {no_values}")),
            ),
        ] {
            for review in [
                "selfsubjectaccessreviews",
                "subjectaccessreviews",
                "namespaces/default/localsubjectaccessreviews",
            ] {
                let path = format!("{AUTHORIZATION}/{review}");
                let mut body = json!({"spec": {"resourceAttributes": attributes}});
                body["spec"]["resourceAttributes"]["namespace"] = json!("default");
                if review != "selfsubjectaccessreviews" {
                    body["spec"]["user"] = json!("jane");
                }
                let refused = post(&api, ADMIN, &path, &body).await.refused(422);
                let expected = format!(".authorization.k8s.io \"\" is invalid: {why}");
                assert_eq!(refused, expected, "{review}");
            }
        }
    }
    let mine = format!("{AUTHORIZATION}/selfsubjectaccessreviews");
    let ask = async |selectors: Value| {
        let mut attributes = selectors;
        attributes["verb"] = json!("list");
        attributes["resource"] = json!("pods");
        attributes["namespace"] = json!("default");
        let body = json!({"spec": {"resourceAttributes": attributes}});
        post(&api, JANE, &mine, &body).await
    };
    let key = json!({"fieldSelector": {"requirements": [{"key": "", "operator": "In", "values": ["b"]}]}});
    let why = ask(key).await.refused(422);
    assert!(
        why.ends_with(&format!(
            "{fields}.requirements[0].key: Required value: must be specified"
        )),
        "{why}"
    );
    let key = json!({"labelSelector": {"requirements": [{"key": "a b", "operator": "In", "values": ["b c"]}]}});
    let why = ask(key).await.refused(422);
    for part in [
        "key: Invalid value: \"a b\"",
        "values[0]: Invalid value: \"b c\"",
    ] {
        let part = format!("{labels}.requirements[0].{part}");
        assert!(why.contains(&part), "{why}");
    }
}

#[tokio::test]
async fn selectors_that_cannot_be_read_are_ignored() {
    let api = with_rules();
    let_jane(&api, &["list"], "", "pods").await;
    let mine = format!("{AUTHORIZATION}/selfsubjectaccessreviews");
    let one =
        |operator: &str, values: Value| json!({"key": "a", "operator": operator, "values": values});
    let good = one("In", json!(["b"]));
    let fields = |how: &str| {
        json!(format!(
            "spec.resourceAttributes.fieldSelector {how} due to parse error"
        ))
    };
    let labels = |how: &str| {
        json!(format!(
            "spec.resourceAttributes.labelSelector {how} due to parse error"
        ))
    };
    let both = "spec.resourceAttributes.fieldSelector ignored due to parse error; \
                spec.resourceAttributes.labelSelector ignored due to parse error";
    for (selectors, error) in [
        (
            json!({"fieldSelector": {"rawSelector": "spec.nodeName=n1"}}),
            Value::Null,
        ),
        (
            json!({"labelSelector": {"rawSelector": "a in (b),!c"}}),
            Value::Null,
        ),
        (
            json!({"fieldSelector": {"requirements": [good, one("NotIn", json!(["c"]))]}}),
            Value::Null,
        ),
        (
            json!({"labelSelector": {"requirements": [one("In", json!(["b", "c"])), one("Exists", json!([]))]}}),
            Value::Null,
        ),
        (
            json!({"fieldSelector": {"rawSelector": "nonsense"}}),
            fields("ignored"),
        ),
        (
            json!({"labelSelector": {"rawSelector": "!!"}}),
            labels("ignored"),
        ),
        (
            json!({"fieldSelector": {"requirements": [one("In", json!(["b", "c"]))]}}),
            fields("ignored"),
        ),
        (
            json!({"fieldSelector": {"requirements": [one("Exists", json!([])), good]}}),
            fields("partially ignored"),
        ),
        (
            json!({"fieldSelector": {"requirements": [one("Like", json!([]))]}}),
            fields("ignored"),
        ),
        (
            json!({"labelSelector": {"requirements": [one("Like", json!([])), good]}}),
            labels("partially ignored"),
        ),
        (
            json!({"fieldSelector": {"rawSelector": "x"}, "labelSelector": {"rawSelector": "a in"}}),
            json!(both),
        ),
    ] {
        let mut attributes = selectors.clone();
        attributes["verb"] = json!("list");
        attributes["resource"] = json!("pods");
        attributes["namespace"] = json!("default");
        let body = json!({"spec": {"resourceAttributes": attributes}});
        let answer = post(&api, JANE, &mine, &body).await.created();
        assert_eq!(answer["status"]["allowed"], true, "{selectors}");
        assert_eq!(answer["status"]["evaluationError"], error, "{selectors}");
        // The selectors stay in the answer.
        assert_eq!(answer["spec"], body["spec"]);
    }
}

#[tokio::test]
async fn questions_that_ask_nothing_are_refused() {
    let api = Api::new();
    let mine = format!("{AUTHORIZATION}/selfsubjectaccessreviews");
    let refused = api.post(&mine, &json!({"spec": {}})).await.refused(422);
    assert_eq!(
        refused,
        ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes: Invalid value: null: \
         exactly one of nonResourceAttributes or resourceAttributes must be specified"
    );
    let named = json!({
        "metadata": {"name": "x"},
        "spec": {"nonResourceAttributes": {"verb": "get", "path": "/"}},
    });
    let refused = api.post(&mine, &named).await.refused(422);
    assert!(
        refused.contains("metadata: Invalid value: {\"name\":\"x\"}: must be empty"),
        "{refused}"
    );
    let others = format!("{AUTHORIZATION}/subjectaccessreviews");
    let nobody = json!({"spec": {"nonResourceAttributes": {"verb": "get", "path": "/"}}});
    let refused = api.post(&others, &nobody).await.refused(422);
    assert!(
        refused.contains(
            "spec.user: Invalid value: \"\": at least one of user or group must be specified"
        ),
        "{refused}"
    );
    let rules = format!("{AUTHORIZATION}/selfsubjectrulesreviews");
    let refused = api.post(&rules, &json!({"spec": {}})).await.refused(400);
    assert_eq!(refused, "no namespace on request");
    api.get(&mine).await.refused(405);
}

#[tokio::test]
async fn a_user_can_list_his_rules() {
    let api = with_rules();
    let_jane(&api, &["get"], "", "pods").await;
    let rules = format!("{AUTHORIZATION}/selfsubjectrulesreviews");
    let ask = json!({"spec": {"namespace": "default"}});
    let answer = post(&api, JANE, &rules, &ask).await.created();
    let status = &answer["status"];
    assert_eq!(status["incomplete"], false);
    let own = json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]});
    let listed = status["resourceRules"].as_array().unwrap();
    assert!(listed.contains(&own), "{listed:?}");
    let paths = status["nonResourceRules"].as_array().unwrap();
    assert!(paths.iter().any(|rule| {
        let paths = rule["nonResourceURLs"].as_array().unwrap();
        paths.contains(&json!("/version"))
    }));
    let answer = Api::new().post(&rules, &ask).await.created();
    let all = json!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]);
    assert_eq!(answer["status"]["resourceRules"], all);
}

#[tokio::test]
async fn a_state_from_a_server_without_rules_lets_its_users_in() {
    let before = Api::new();
    before.config_map("kept").await;
    let server = builder()
        .with_authorization(Authorization::Rbac)
        .with_snapshot(before.server.snapshot())
        .build();
    let api = Api { server };
    get(&api, ADMIN, &format!("{CONFIG_MAPS}/kept")).await.ok();
    bind_jane(&api, "ClusterRole", "view").await;
    get(&api, JANE, &format!("{CONFIG_MAPS}/kept")).await.ok();
    get(&api, JANE, "/apis").await.ok();
    let revision = api.server.revision();
    let again = builder()
        .with_authorization(Authorization::Rbac)
        .with_snapshot(api.server.snapshot())
        .build();
    assert_eq!(again.revision(), revision, "nothing was missing");
}

/// A request for a certificate, signed with ECDSA.
const SIGNED_REQUEST: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIdU1JR1ZBZ0VBTURNeEREQUtCZ05WQkFvTUEyUmxkakVYTUJV\
    R0ExVUVDZ3dPYzNsemRHVnRPbTFoYzNSbApjbk14Q2pBSUJnTlZCQU1NQVdvd1dUQVRCZ2NxaGtqT1BRSUJCZ2dxaGtqT1BRTUJC\
    d05DQUFRanlCTDYvU1p2Cnlic3hnRTBKZmN3VktncEgwVFJnSFBlV2M4Qkx5MGR1YUxrMmduTGRGTnE3T0lkaS8zWXljMGo1cWRG\
    ZmpPUWsKcklYbzhub3YrSWVUb0FBd0NnWUlLb1pJemowRUF3SURTQUF3UlFJaEFLUjJUZlZFQmhqMWRYN0xYcHBiRUZwcQp5bHpm\
    RkVBRUlSYU5xbUwwcEhCN0FpQTJYQVFnVHFjT2NweW80VlRoRjBJT1BxdzQ3TUhQazRCeFVSWkNHUUpICk9RPT0KLS0tLS1FTkQg\
    Q0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";

#[tokio::test]
async fn a_certificate_request_names_its_requester() {
    let api = Api {
        server: builder().build(),
    };
    let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let request = json!({
        "metadata": {"name": "r"},
        "spec": {
            "request": SIGNED_REQUEST,
            "signerName": "a.b/c", "usages": ["client auth"],
            "username": "root", "groups": ["system:masters"], "uid": "0",
        },
    });
    let stored = post(&api, JANE, path, &request).await.created();
    let spec = &stored["spec"];
    assert_eq!(spec["username"], "jane");
    assert_eq!(spec["groups"], json!(["devs", "system:authenticated"]));
    assert_eq!(spec.get("uid"), None);
    assert_eq!(spec["signerName"], "a.b/c");
}

#[tokio::test]
async fn clients_without_sockets_have_the_given_user() {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::api::{Api as Objects, ListParams};
    let server = builder()
        .with_authorization(Authorization::Rbac)
        .with_anonymous_auth(false)
        .build();
    let list = async |client: kube::Client| {
        let maps: Objects<ConfigMap> = Objects::default_namespaced(client);
        maps.list(&ListParams::default()).await.map(|_| ())
    };
    list(server.client()).await.unwrap();
    list(server.client_named("x")).await.unwrap();
    let refused = list(server.client_as(UserInfo::new("joe"))).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("User \"joe\" cannot list"), "{refused}");
}

#[tokio::test]
async fn users_cannot_grant_rights_that_they_lack() {
    let api = with_rules();
    bind_jane(&api, "ClusterRole", "admin").await;
    let role = |name: &str, resource: &str| {
        json!({
            "metadata": {"name": name},
            "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": [resource]}],
        })
    };
    let pods = post(&api, JANE, ROLES, &role("pods", "pods"))
        .await
        .created();
    let refused = post(&api, JANE, ROLES, &role("nodes", "nodes")).await;
    assert_eq!(
        refused.refused(403),
        "roles.rbac.authorization.k8s.io \"nodes\" is forbidden: user \"jane\" \
         (groups=[\"devs\" \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n\
         {APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"get\"]}"
    );
    let put = async |who, change: &Value| {
        let path = format!("{ROLES}/pods");
        api.send("PUT", &path, &[who], change.to_string()).await
    };
    put(JANE, &role("pods", "nodes")).await.refused(403);
    put(ADMIN, &role("pods", "nodes")).await.ok();
    // What only lets go of an object gives nothing.
    let mut released = get(&api, ADMIN, &format!("{ROLES}/pods")).await.ok();
    released["metadata"]["finalizers"] = json!(["a.b/c"]);
    put(JANE, &released).await.ok();
    assert_ne!(pods["metadata"]["resourceVersion"], "");

    let group = "rbac.authorization.k8s.io";
    let give = |name: &str, role: &str| {
        json!({
            "metadata": {"name": name},
            "subjects": [{"kind": "User", "name": "joe", "apiGroup": group}],
            "roleRef": {"kind": "ClusterRole", "name": role, "apiGroup": group},
        })
    };
    post(&api, JANE, BINDINGS, &give("a", "view"))
        .await
        .created();
    let all = give("b", "cluster-admin");
    let refused = post(&api, JANE, BINDINGS, &all).await.refused(403);
    assert!(
        refused.contains("\n{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}"),
        "{refused}"
    );
    let absent = post(&api, JANE, BINDINGS, &give("c", "absent")).await;
    assert_eq!(
        absent.refused(404),
        "clusterroles.rbac.authorization.k8s.io \"absent\" not found"
    );
    let_jane(&api, &["bind"], group, "clusterroles").await;
    post(&api, JANE, BINDINGS, &all).await.created();
    let_jane(&api, &["escalate"], group, "roles").await;
    post(&api, JANE, ROLES, &role("nodes", "nodes"))
        .await
        .created();
}

#[tokio::test]
async fn aggregated_roles_need_all_rights() {
    let api = with_rules();
    let role = json!({
        "metadata": {"name": "writer"},
        "rules": [{"verbs": ["create"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"]}],
    });
    post(&api, ADMIN, CLUSTER_ROLES, &role).await.created();
    let binding = json!({
        "metadata": {"name": "writer"},
        "subjects": [{"kind": "Group", "name": "devs"}],
        "roleRef": {"kind": "ClusterRole", "name": "writer"},
    });
    let bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    post(&api, ADMIN, bindings, &binding).await.created();
    let sum = json!({
        "metadata": {"name": "sum"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]},
    });
    let refused = post(&api, JANE, CLUSTER_ROLES, &sum).await.refused(403);
    assert!(
        refused.ends_with("must have cluster-admin privileges to use the aggregationRule"),
        "{refused}"
    );
    post(&api, ADMIN, CLUSTER_ROLES, &sum).await.created();
}

#[tokio::test]
async fn a_path_of_a_watch_is_good_for_nothing_but_a_watch() {
    let api = with_rules();
    let_jane(&api, &["watch"], "", "configmaps").await;
    let object = json!({"metadata": {"name": "a"}});
    post(&api, ADMIN, CONFIG_MAPS, &object).await.created();
    let collection = "/api/v1/watch/namespaces/default/configmaps";
    let one = format!("{collection}/a");
    for (method, path) in [
        ("POST", collection),
        ("DELETE", collection),
        ("PUT", &one),
        ("PATCH", &one),
        ("DELETE", &one),
    ] {
        let body = object.to_string();
        let refused = api.send(method, path, &[JANE], body.clone()).await;
        refused.refused(403);
        let refused = api.send(method, path, &[ADMIN], body).await;
        refused.refused(405);
    }
    get(&api, ADMIN, &format!("{CONFIG_MAPS}/a")).await.ok();
}

#[tokio::test]
async fn writing_a_missing_object_needs_the_right_to_create() {
    let api = with_rules();
    let group = "coordination.k8s.io";
    let_jane(&api, &["update", "patch"], group, "leases").await;
    let path = format!("/apis/{group}/v1/namespaces/default/leases/l");
    let lease = json!({
        "apiVersion": format!("{group}/v1"), "kind": "Lease", "metadata": {"name": "l"},
    });
    let put = async || api.send("PUT", &path, &[JANE], lease.to_string()).await;
    let applied = async || {
        let headers = [JANE, ("content-type", "application/apply-patch+yaml")];
        let path = format!("{path}?fieldManager=m");
        api.send("PATCH", &path, &headers, lease.to_string()).await
    };
    for answer in [put().await, applied().await] {
        assert_eq!(
            answer.refused(403),
            "leases.coordination.k8s.io \"l\" is forbidden: User \"jane\" cannot create resource \"leases\" in API \
             group \"coordination.k8s.io\" in the namespace \"default\""
        );
    }
    let_jane(&api, &["create"], group, "leases").await;
    put().await.created();
    applied().await.ok();
}
