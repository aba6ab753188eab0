//! Pod security by labels of namespaces, and service accounts of pods.

use fakeserver::{AdmissionPlugins, Controllers, FakeServer, Workloads};
use serde_json::{Value, json};

use crate::support::{Api, PODS, deployment, warnings};

const NAMESPACES: &str = "/api/v1/namespaces";
const ENFORCE: &str = "pod-security.kubernetes.io/enforce";

fn labels(labels: &[(&str, &str)]) -> Value {
    let labels = labels.iter().map(|(name, value)| {
        let name = format!("pod-security.kubernetes.io/{name}");
        (name, json!(value))
    });
    json!({"metadata": {"labels": Value::Object(labels.collect())}})
}

async fn namespace(api: &Api, name: &str, policy: &[(&str, &str)]) -> String {
    let mut namespace = labels(policy);
    namespace["metadata"]["name"] = json!(name);
    api.post(NAMESPACES, &namespace).await.created();
    format!("{NAMESPACES}/{name}/pods")
}

fn pod(name: &str, spec: &Value) -> Value {
    let mut pod = json!({
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    json_patch::merge(&mut pod["spec"], spec);
    pod
}

fn api_with(plugins: AdmissionPlugins) -> Api {
    Api {
        server: FakeServer::builder().with_admission(plugins).build(),
    }
}

#[tokio::test]
async fn pods_are_refused_and_templates_are_warned_of() {
    let api = Api::new();
    let pods = namespace(
        &api,
        "n",
        &[("enforce", "baseline"), ("enforce-version", "v1.20")],
    )
    .await;
    let host = pod("p", &json!({"hostPID": true}));
    assert_eq!(
        api.post(&pods, &host).await.refused(403),
        "pods \"p\" is forbidden: violates PodSecurity \"baseline:v1.20\": host namespaces (hostPID=true)"
    );
    let mut generated = host.clone();
    generated["metadata"] = json!({"generateName": "g-"});
    let why = api.post(&pods, &generated).await.refused(403);
    assert!(why.starts_with("pods \"g-"), "{why}");
    let mut job = json!({"metadata": {"name": "j"}, "spec": {"schedule": "* * * * *", "jobTemplate": {
        "spec": {"template": {"spec": {"restartPolicy": "Never"}}},
    }}});
    let template = &mut job["spec"]["jobTemplate"]["spec"]["template"];
    json_patch::merge(&mut template["spec"], &host["spec"]);
    let made = api.post("/apis/batch/v1/namespaces/n/cronjobs", &job).await;
    assert_eq!(
        warnings(&made),
        [
            "299 - \"would violate PodSecurity \\\"baseline:v1.20\\\": host namespaces (hostPID=true)\""
        ]
    );
    made.created();
    api.post(&pods, &pod("q", &json!({}))).await.created();
}

#[tokio::test]
async fn an_update_is_checked_if_it_changes_images() {
    let api = Api::new();
    let pods = namespace(&api, "n", &[]).await;
    let host = pod("p", &json!({"hostPID": true}));
    api.post(&pods, &host).await.created();
    api.merge(
        &format!("{NAMESPACES}/n"),
        &labels(&[("enforce", "baseline")]),
    )
    .await
    .ok();
    let path = format!("{pods}/p");
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    api.merge(&path, &label).await.ok();
    let image = json!({"spec": {"containers": [{"name": "c", "image": "j"}]}});
    api.strategic(&path, &image).await.refused(403);
    let debugger = json!({"spec": {"ephemeralContainers": [{"name": "d", "image": "i"}]}});
    api.strategic(&format!("{path}/ephemeralcontainers"), &debugger)
        .await
        .refused(403);
}

#[tokio::test]
async fn a_stricter_policy_warns_of_violating_pods() {
    let api = Api::new();
    let pods = namespace(&api, "n", &[("enforce", "privileged")]).await;
    let owner = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": true}]);
    for name in ["c", "b", "a"] {
        let mut made = pod(name, &json!({"hostPID": true}));
        made["metadata"]["ownerReferences"] = owner.clone();
        api.post(&pods, &made).await.created();
    }
    api.post(
        &pods,
        &pod(
            "d",
            &json!({"hostIPC": true, "volumes": [{"name": "v", "hostPath": {"path": "/"}}]}),
        ),
    )
    .await
    .created();
    api.post(&pods, &pod("e", &json!({}))).await.created();
    let path = format!("{NAMESPACES}/n");
    let stricter = labels(&[("enforce", "baseline")]);
    let tried = api.merge(&format!("{path}?dryRun=All"), &stricter).await;
    assert_eq!(
        warnings(&tried),
        [
            "299 - \"existing pods in namespace \\\"n\\\" violate the new PodSecurity enforce level \\\"baseline:latest\\\"\"",
            "299 - \"a (and 2 other pods): host namespaces\"",
            "299 - \"d: host namespaces, hostPath volumes\"",
        ]
    );
    let wrong = labels(&[("enforce", "x")]);
    assert_eq!(
        api.merge(&path, &wrong).await.refused(422),
        format!(
            "Namespace \"n\" is invalid: metadata.labels[{ENFORCE}]: Invalid value: \"x\": must be one of privileged, \
             baseline, restricted"
        )
    );
    let off = api_with(AdmissionPlugins::default().with_disabled(["PodSecurity"]));
    let pods = namespace(&off, "n", &[("enforce", "nothing")]).await;
    off.post(&pods, &pod("p", &json!({"hostPID": true})))
        .await
        .created();
}

#[tokio::test(start_paused = true)]
async fn pods_have_the_account_that_a_controller_makes() {
    let api = Api::with(Controllers::default().with_service_accounts(true));
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    // The pod waits for its account.
    let made = api.post(PODS, &pod("p", &json!({}))).await.created();
    let first = api.get(account).await.ok();
    assert_eq!(made["spec"]["serviceAccountName"], "default");
    let volume = &made["spec"]["volumes"][0];
    let mount = &made["spec"]["containers"][0]["volumeMounts"][0];
    assert_eq!(volume["name"], mount["name"]);
    api.delete(account).await.ok();
    api.settle().await;
    let second = api.get(account).await.ok();
    assert_ne!(first["metadata"]["uid"], second["metadata"]["uid"]);

    let off = AdmissionPlugins::default().with_disabled(["ServiceAccount"]);
    let controllers = Controllers::default().with_service_accounts(true);
    let builder = FakeServer::builder().with_controllers(controllers);
    let api = Api {
        server: builder.with_admission(off).build(),
    };
    let made = api.post(PODS, &pod("p", &json!({}))).await.created();
    assert_eq!(made["spec"].get("volumes"), None);
}

/// An update that waits for the account is attempted again with the object that the client sent.
#[tokio::test(start_paused = true)]
async fn an_update_of_a_pod_waits_for_its_account() {
    let api = Api::with(Controllers::default().with_service_accounts(true));
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    let mut created = api.post(PODS, &pod("p", &json!({}))).await.created();
    api.delete(account).await.ok();
    created["spec"]["ephemeralContainers"] = json!([{"name": "d", "image": "i"}]);
    let path = format!("{PODS}/p/ephemeralcontainers");
    let updated = api.put(&path, &created).await.ok();
    assert_eq!(updated["spec"]["ephemeralContainers"][0]["name"], "d");
}

#[tokio::test(start_paused = true)]
async fn pods_of_workloads_have_accounts_too() {
    let controllers = Controllers::default()
        .with_service_accounts(true)
        .with_workloads(Workloads::default());
    let api = Api::with(controllers);
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    api.post(deployments, &deployment("d")).await.created();
    api.settle().await;
    let pods = api.get(PODS).await.ok();
    let spec = &pods["items"][0]["spec"];
    assert_eq!(spec["serviceAccountName"], "default");
    assert_eq!(
        spec["volumes"][0]["name"],
        spec["containers"][0]["volumeMounts"][0]["name"]
    );
}

#[tokio::test]
async fn tokens_are_bound_to_pods_of_the_account() {
    let api = Api::new();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    for name in ["a", "b"] {
        api.post(accounts, &json!({"metadata": {"name": name}}))
            .await
            .created();
    }
    let of_a = pod("p", &json!({"serviceAccountName": "a", "nodeName": "n"}));
    let made = api.post(PODS, &of_a).await.created();
    let bound = |uid: &Value| {
        json!({"spec": {
            "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p", "uid": uid},
        }})
    };
    let uid = &made["metadata"]["uid"];
    let token = |name: &str| format!("{accounts}/{name}/token");
    api.post(&token("a"), &bound(uid)).await.created();
    assert_eq!(
        api.post(&token("b"), &bound(uid)).await.refused(400),
        "cannot bind token for serviceaccount \"b\" to pod running with different serviceaccount name."
    );
    let why = api
        .post(&token("a"), &bound(&json!("u")))
        .await
        .refused(409);
    assert!(
        why.contains("Pod \"p\": the UID in the bound object reference (u)"),
        "{why}"
    );
}

#[test]
fn unknown_plugins_are_refused() {
    let plugins = AdmissionPlugins::default().with_enabled(["Nothing"]);
    let built = FakeServer::builder().with_admission(plugins).try_build();
    assert_eq!(
        built.unwrap_err().to_string(),
        "enable-admission-plugins plugin \"Nothing\" is unknown"
    );
}

#[tokio::test]
async fn privileged_containers_need_a_server_that_allows_them() {
    let privileged = json!({"containers": [
        {"name": "c", "image": "i", "securityContext": {"privileged": true}},
    ]});
    let privileged = pod("p", &privileged);
    let why = Api::new().post(PODS, &privileged).await.refused(422);
    assert!(
        why.ends_with(".privileged: Forbidden: disallowed by cluster policy"),
        "{why}"
    );
    let builder = FakeServer::builder().with_privileged_containers(true);
    let api = Api {
        server: builder.build(),
    };
    api.post(PODS, &privileged).await.created();
    let mut loaded = privileged;
    loaded["kind"] = json!("Pod");
    loaded["apiVersion"] = json!("v1");
    let server = FakeServer::builder().with_object(&loaded).build();
    Api { server }.get(&format!("{PODS}/p")).await.ok();
}
