//! Mistakes in a workload that the runs without perturbation find: told as such, with the file and the step.

use std::{error::Error, fs, process::Command, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use serde_json::json;
use survive::{CampaignError, CheckError, Subject};
use tokio::time::sleep;

use super::{ONE_MAP, idle, trying};

/// Returns an error with its causes.
fn whole(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", whole(source)),
        None => error.to_string(),
    }
}
/// Returns the error message for the steps of a file beside which there is a file of a config map.
fn message(steps: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: map}, data: {k: v}}";
    fs::write(folder.path().join("map.yaml"), map).unwrap();
    let file = folder.path().join("survive.yaml");
    fs::write(&file, format!("steps:\n{steps}")).unwrap();
    let report = survive::check(Subject::function(idle))
        .workload(&file)
        .plans(1)
        .report();
    let error = report.unwrap_err();
    let is_of_workload = matches!(
        error,
        CheckError::Campaign(CampaignError::Refused { .. }) | CheckError::Workload(_)
    );
    let text = whole(&error).replace(&format!("{}/", folder.path().display()), "");
    assert_eq!(
        is_of_workload,
        !text.contains("does not get through"),
        "{text}"
    );
    text
}

#[test]
fn a_refused_step_is_a_mistake_of_the_workload() {
    for (steps, expected) in [
        (
            "- apply: map.yaml\n- apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: other}, dta: {}}",
            "survive.yaml: step 2 (apply v1 ConfigMap other): the server refuses it without any perturbation: ",
        ),
        (
            "- patch: {object: v1 ConfigMap nosuch, merge: {data: {k: w}}}",
            "PATCH /api/v1/namespaces/default/configmaps/nosuch is answered with 404",
        ),
        (
            "- delete: {object: v1 ConfigMap nosuch}",
            "survive.yaml: step 1 (delete v1 ConfigMap nosuch): the server refuses it",
        ),
        (
            "- apply: map.yaml\n- patch: {object: v1 ConfigMap map, json: [{op: add, path: /data/l, value: w}, \
             {op: remove, path: /data/nosuch}]}",
            "operation 2 ({\"op\":\"remove\",\"path\":\"/data/nosuch\"}) fails at \"/data/nosuch\": path is invalid",
        ),
        (
            "- apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: map, namespace: nowhere}}",
            "namespaces \"nowhere\" not found: create it with an apply of a Namespace before",
        ),
        (
            "- apply: map.yaml\n- wait: {object: v1 ConfigMap map, until: \"object.data.k == 'w'\", within: 3s}",
            "survive.yaml: step 2 (wait for v1 ConfigMap map: object.data.k == 'w'): not true within 3s: it is false; if the \
             subject is right, correct `until`",
        ),
        (
            "- apply: nofile.yaml",
            "survive.yaml: step 1: cannot read nofile.yaml: No such file",
        ),
        (
            "- patch: {object: v1 ConfigMap map, json: [{op: drop, path: /data}]}",
            "survive.yaml: step 1: `json` is no list of operations",
        ),
    ] {
        let text = message(steps);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_namespace_is_there_from_the_start_or_made_by_a_step() {
    for name in [
        "default",
        "kube-system",
        "kube-public",
        "kube-node-lease",
        "shop",
    ] {
        let workload = survive::Workload::new();
        let object =
            |kind: &str, metadata| json!({"apiVersion": "v1", "kind": kind, "metadata": metadata});
        let workload = match name {
            "shop" => workload.apply(&object("Namespace", json!({"name": name}))),
            _ => workload,
        };
        let map = object("ConfigMap", json!({"name": "map", "namespace": name}));
        let check = survive::check(Subject::function(idle)).steps(workload.apply(&map));
        let report = check.plans(1).report();
        assert!(report.is_ok(), "{name}: {report:?}");
    }
}

/// Tries a step in a version of a definition with this conversion, in a folder with a file of kustomize.
fn told_of(version: &str, conversion: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let crds = folder.path().join("crd");
    fs::create_dir_all(crds.join("bases")).unwrap();
    fs::write(
        crds.join("kustomization.yaml"),
        "resources: [bases/pages.yaml]",
    )
    .unwrap();
    let schema = "schema: {openAPIV3Schema: {type: object}}";
    let definition = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: pages.example.org}}\nspec:\n  \
         group: example.org\n  scope: Namespaced\n  names: {{plural: pages, kind: Page}}\n  conversion: {conversion}\n  \
         versions:\n  - {{name: v1, served: true, storage: true, {schema}}}\n  \
         - {{name: v1beta1, served: true, storage: false, {schema}}}\n"
    );
    fs::write(crds.join("bases/pages.yaml"), definition).unwrap();
    let page = json!({"apiVersion": format!("example.org/{version}"), "kind": "Page", "metadata": {"name": "a"}});
    let report = survive::check(Subject::function(idle))
        .crds(&crds)
        .steps(survive::Workload::new().apply(&page))
        .plans(1)
        .report();
    report
        .map(drop)
        .map_err(|error| whole(&error).replace(&format!("{}/", folder.path().display()), ""))
}

#[test]
fn a_step_that_a_webhook_has_to_convert_is_refused_with_its_definition() {
    let webhook = "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: \"https://127.0.0.1:1/c\"}}}";
    let text = told_of("v1beta1", webhook).unwrap_err();
    let expected = "step 1: example.org/v1beta1 Page a is in a version that the webhook of the CustomResourceDefinition \
                    pages.example.org in crd/bases/pages.yaml has to convert";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("strategy: None"), "{text}");
    assert_eq!(told_of("v1", webhook), Ok(()));
    assert_eq!(told_of("v1beta1", "{strategy: None}"), Ok(()));
}

/// Writes for ever.
async fn busy(client: Client) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    for count in 0_u64.. {
        let patch =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"count": count.to_string()}});
        let _ = maps
            .patch("busy", &PatchParams::apply("busy"), &Patch::Apply(patch))
            .await;
        sleep(Duration::from_millis(300)).await;
    }
}

#[test]
fn a_subject_that_is_never_quiet_is_reported_once_with_its_writes() {
    let workload = survive::Workload::new().quiet(Duration::from_secs(1));
    let report = survive::check(Subject::function(busy))
        .steps(workload)
        .report();
    let Err(CheckError::Campaign(CampaignError::NoReference {
        reason, timeline, ..
    })) = report
    else {
        panic!("{report:?}");
    };
    let expected = "its last 10s had patch configmaps default/busy 34 times";
    assert!(
        reason.contains("step 1 (quiet for 1s): ") && reason.contains(expected),
        "{reason}"
    );
    let last = timeline
        .lines()
        .rfind(|line| line.contains(" s  "))
        .unwrap();
    let seconds: f64 = last.split_whitespace().next().unwrap().parse().unwrap();
    assert!(seconds < 65.0, "{timeline}");
}

#[test]
fn numbers_that_mean_nothing_are_reported_with_the_option() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_survive"));
        let command = command.args(arguments);
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let (status, text) = run(&["--version"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains(env!("CARGO_PKG_VERSION")), "{text}");
    for (option, value, expected) in [
        ("--jobs", "0", "0 runs nothing"),
        ("--minutes", "-1", "as in 90 or 0.5"),
        ("--minutes", "soon", "as in 90 or 0.5"),
        // Taken: what is wrong is the file.
        ("--minutes", "0.5", "cannot read nosuch.yaml"),
    ] {
        let value = format!("{option}={value}");
        let (status, text) = run(&["--workload", "nosuch.yaml", &value, "--", "true"]);
        assert_eq!(status, Some(2), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_program_that_goes_to_the_background_is_reported_so() {
    let folder = tempfile::tempdir().unwrap();
    let output = trying(folder.path(), ONE_MAP, "exit 0").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("run it in the foreground"), "{text}");
}
