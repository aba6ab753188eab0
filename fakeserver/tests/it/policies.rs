//! Admission policies in CEL: what they deny, warn of and change.

use fakeserver::{Controllers, Workloads};
use serde_json::{Value, json};

use crate::support::{Answer, Api, CONFIG_MAPS, DEPLOYMENTS, deployment};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

/// Stores a policy about config maps, and a binding of the same name.
async fn bind(api: &Api, kind: &str, name: &str, spec: Value, binding: Value) {
    let mut policy = json!({
        "metadata": {"name": name},
        "spec": {"matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"],
        }]}},
    });
    merge(&mut policy["spec"], spec);
    let path = format!("{GROUP}/{kind}admissionpolicies");
    api.post(&path, &policy).await.created();
    let mut object = json!({"metadata": {"name": name}, "spec": {"policyName": name}});
    if kind == "validating" {
        object["spec"]["validationActions"] = json!(["Deny"]);
    }
    merge(&mut object["spec"], binding);
    let path = format!("{GROUP}/{kind}admissionpolicybindings");
    api.post(&path, &object).await.created();
}

fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}

async fn create(api: &Api, name: &str, data: Value) -> Answer {
    api.post(
        CONFIG_MAPS,
        &json!({"metadata": {"name": name}, "data": data}),
    )
    .await
}

fn warnings(answer: &Answer) -> Vec<&str> {
    let all = answer.headers.get_all("warning").iter();
    all.map(|warning| warning.to_str().unwrap()).collect()
}

#[tokio::test]
async fn validations_deny_in_the_words_of_a_real_server() {
    let api = Api::new();
    let spec = json!({
        "variables": [{"name": "count", "expression": "object.data.size()"}],
        "matchConditions": [{"name": "c", "expression": "object.metadata.name != 'free'"}],
        "validations": [
            {"expression": "variables.count < 3", "messageExpression": "'has ' + string(variables.count)", "reason": "Forbidden"},
            {"expression": "object.data.owner == 'me'"},
        ],
    });
    bind(&api, "validating", "p", spec, json!({})).await;
    let denied = "ValidatingAdmissionPolicy 'p' with binding 'p' denied request";
    let answer = create(&api, "a", json!({"a": "", "b": "", "c": ""})).await;
    assert_eq!(
        answer.refused(403),
        format!("configmaps \"a\" is forbidden: {denied}: has 3")
    );
    let answer = create(&api, "a", json!({"owner": "you"})).await;
    assert_eq!(
        answer.refused(422),
        format!(
            "configmaps \"a\" is forbidden: {denied}: failed expression: object.data.owner == 'me'"
        )
    );
    let answer = create(&api, "a", json!({"a": ""})).await;
    assert_eq!(
        answer.refused(422),
        format!(
            "configmaps \"a\" is forbidden: {denied}: expression 'object.data.owner == 'me'' resulted in error: no such \
             key: owner"
        )
    );
    create(&api, "free", json!({})).await.created();
    create(&api, "a", json!({"owner": "me"})).await.created();
}

#[tokio::test]
async fn a_policy_that_ignores_failures_denies_only_false_results() {
    let api = Api::new();
    let spec = json!({"failurePolicy": "Ignore", "validations": [
        {"expression": "object.data.nope == 'x'"},
        {"expression": "object.data.a == '1'", "message": "a must be 1"},
    ]});
    bind(
        &api,
        "validating",
        "p",
        spec,
        json!({"validationActions": ["Warn"]}),
    )
    .await;
    let answer = create(&api, "a", json!({"a": "2"})).await;
    assert_eq!(
        warnings(&answer),
        [
            "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': a must be 1\""
        ]
    );
    answer.created();
}

#[tokio::test]
async fn parameters_are_selected_and_each_counts() {
    let api = Api::new();
    for max in ["1", "2"] {
        let params = json!({
            "metadata": {"name": format!("max-{max}"), "labels": {"limits": "yes"}}, "data": {"max": max},
        });
        api.post(CONFIG_MAPS, &params).await.created();
    }
    let spec = json!({
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "validations": [{
            "expression": "object.data.size() <= int(params.data.max)",
            "messageExpression": "'' + params.metadata.name",
        }],
    });
    let reference = json!({"paramRef": {
        "selector": {"matchLabels": {"limits": "yes"}}, "parameterNotFoundAction": "Deny",
    }});
    bind(&api, "validating", "p", spec, reference).await;
    create(&api, "a", json!({"a": ""})).await.created();
    let answer = create(&api, "b", json!({"a": "", "b": ""})).await;
    assert!(answer.refused(422).ends_with("denied request: max-1"));
    for max in ["1", "2"] {
        api.delete(&format!("{CONFIG_MAPS}/max-{max}")).await;
    }
    let answer = create(&api, "b", json!({"a": ""})).await;
    assert!(answer.refused(422).ends_with(
        "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    ));
}

#[tokio::test]
async fn mutations_are_applied_and_invoked_again() {
    let api = Api::new();
    let count =
        "Object{data: {'n': has(object.data) && has(object.data.n) ? object.data.n + 'x' : 'x'}}";
    let apply = |expression: &str| json!([{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}]);
    let spec = json!({"reinvocationPolicy": "IfNeeded", "mutations": apply(count)});
    bind(&api, "mutating", "a", spec, json!({})).await;
    let made = create(&api, "one", json!({})).await.created();
    assert_eq!(
        made["data"],
        json!({"n": "x"}),
        "nothing has changed it after the policy"
    );
    let patch =
        "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'b/c': request.operation}}]";
    let patch = json!([{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}]);
    let spec = json!({"reinvocationPolicy": "Never", "mutations": patch});
    bind(&api, "mutating", "b", spec, json!({})).await;
    let made = create(&api, "two", json!({})).await.created();
    assert_eq!(made["data"], json!({"n": "xx"}));
    assert_eq!(made["metadata"]["labels"], json!({"b/c": "CREATE"}));
    let spec =
        json!({"reinvocationPolicy": "Never", "mutations": apply("Object{data: Object.nope{}}")});
    bind(&api, "mutating", "c", spec, json!({})).await;
    let answer = create(&api, "three", json!({})).await;
    assert_eq!(
        answer.refused(403),
        "policy 'c' with binding 'c' denied request: type mismatch: unexpected type name \"Object.nope\", expected \
         \"Object.data\", which matches field name path from root Object type"
    );
}

#[tokio::test]
async fn a_policy_sees_the_version_that_its_rules_name() {
    let api = Api::new();
    let spec = json!({
        "matchConstraints": {"resourceRules": [{
            "apiGroups": ["autoscaling"], "apiVersions": ["v1"], "operations": ["*"],
            "resources": ["horizontalpodautoscalers"],
        }]},
        "validations": [{
            "expression": "false",
            "messageExpression":
                "object.apiVersion + ' ' + request.kind.version + ' ' + request.requestKind.version",
        }],
    });
    bind(&api, "validating", "p", spec, json!({})).await;
    let scaler = json!({
        "metadata": {"name": "h"},
        "spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}},
    });
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let answer = api.post(path, &scaler).await;
    assert!(
        answer
            .refused(422)
            .ends_with("denied request: autoscaling/v1 v1 v2")
    );
}

#[tokio::test(start_paused = true)]
async fn a_controller_warns_of_expressions_that_do_not_fit() {
    let controllers = Controllers::default().with_workloads(Workloads::default());
    let api = Api::with(controllers);
    let spec = json!({
        "matchConstraints": {"resourceRules": [{
            "apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments"],
        }]},
        "validations": [
            {"expression": "object.spec.replicas > 1"},
            {"expression": "object.spec.replicaz > 1"},
        ],
    });
    bind(&api, "validating", "p", spec, json!({})).await;
    let path = format!("{GROUP}/validatingadmissionpolicies/p");
    api.settle().await;
    let policy = api.get(&path).await.ok();
    let managers = policy["metadata"]["managedFields"].as_array().unwrap();
    let mut managers = managers.iter();
    let applied = managers
        .find(|entry| entry["operation"] == "Apply")
        .unwrap();
    assert_eq!(
        [&applied["manager"], &applied["subresource"]],
        ["validatingadmissionpolicy-status", "status"]
    );
    assert_eq!(
        policy["status"],
        json!({"observedGeneration": 1, "typeChecking": {"expressionWarnings": [{
            "fieldRef": "spec.validations[1].expression",
            "warning": "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replicaz'\n | object.spec.replicaz > \
                        1\n | ...........^\n",
        }]}})
    );
    let answer = api.post(DEPLOYMENTS, &deployment("d")).await;
    assert!(
        answer
            .refused(422)
            .ends_with("failed expression: object.spec.replicas > 1")
    );
}

#[tokio::test]
async fn a_constant_that_cannot_be_converted_is_an_internal_error() {
    let api = Api::new();
    let policy = json!({
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"],
            }]},
            "validations": [{"expression": "int('x') == 1"}],
        },
    });
    let path = format!("{GROUP}/validatingadmissionpolicies");
    let answer = api.post(&path, &policy).await;
    assert_eq!(
        answer.refused(422),
        "ValidatingAdmissionPolicy.admissionregistration.k8s.io \"p\" is invalid: spec.validations[0].expression: Internal \
         error: program instantiation failed: type conversion error from 'string' to 'int'"
    );
}
