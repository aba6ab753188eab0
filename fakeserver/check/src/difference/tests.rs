//! Two sets of manifests, and what a server changes from one to the other.

use super::*;
use crate::{
    finding::Severity,
    testing::{WIDGETS, run, set},
};

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80}]
";
const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
";

fn report(old: &str, new: &str) -> DiffReport {
    let options = CheckOptions::new([]);
    let (old, new) = (set(&[("old.yaml", old)]), set(&[("new.yaml", new)]));
    run(diff(&old, &new, &options))
}

#[test]
fn a_default_that_is_written_out_changes_nothing() {
    let explicit = SERVICE.replace("  ports: [{port: 80}]", "  type: ClusterIP\n  sessionAffinity: None\n  ports: [{port: 80, protocol: TCP, targetPort: 80}]");
    let report = report(SERVICE, &explicit);
    assert!(report.objects.is_empty(), "{}", report.text());
    assert_eq!(
        report.text(),
        "0 created, 0 changed, 0 deleted, 1 unchanged\n"
    );
}

#[test]
fn changes_are_unified_diffs_with_defaults() {
    let new = DEPLOYMENT
        .replace("web:1", "web:2")
        .replace("spec:\n  selector", "spec:\n  replicas: 3\n  selector");
    insta::assert_snapshot!(report(DEPLOYMENT, &new).text());
}

#[test]
fn objects_are_created_and_deleted() {
    let report = report(
        SERVICE,
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n",
    );
    assert_eq!(report.findings, []);
    insta::assert_snapshot!(report.text());
}

#[test]
fn a_field_that_is_left_out_is_removed() {
    let old = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b, c: d}\n";
    let report = report(old, &old.replace(", c: d", ""));
    let [object] = &report.objects[..] else {
        panic!("{}", report.text());
    };
    assert!(
        object.unified().contains("\n-  c: d\n"),
        "{}",
        object.unified()
    );
}

#[test]
fn a_change_that_no_update_makes_has_a_reason() {
    let report = report(DEPLOYMENT, &DEPLOYMENT.replace("app: web", "app: shop"));
    assert_eq!(report.findings, []);
    let [object] = &report.objects[..] else {
        panic!("{}", report.text());
    };
    assert_eq!(object.kind, ChangeKind::Changed);
    let why = object.replaced_because.as_ref().unwrap();
    assert!(why.contains("field is immutable"), "{why}");
    let first = object.unified().lines().next().unwrap().to_owned();
    assert!(
        first.starts_with("Deployment default/web (apps/v1): changed, but not by an update: "),
        "{first}"
    );
}

#[test]
fn objects_that_cannot_be_merged_are_replaced() {
    let twice = "env: [{name: A, value: a}, {name: A, value: b}]";
    let old = DEPLOYMENT.replace("image: web:1", &format!("image: web:1, {twice}"));
    let report = report(&old, &old.replace("web:1", "web:2"));
    let errors = report
        .findings
        .iter()
        .filter(|it| it.severity() == Severity::Error);
    assert_eq!(errors.count(), 0, "{:?}", report.findings);
    assert!(report.text().contains("image: web:2"), "{}", report.text());
}

#[test]
fn data_of_secrets_is_hidden() {
    let old =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: secret, b: same}\n";
    let report = report(old, &old.replace("secret", "other"));
    let text = report.text();
    assert!(
        text.contains("-  a: '*** (before)'")
            || text.contains("-  a: \"*** (before)\"")
            || text.contains("-  a: *** (before)"),
        "{text}"
    );
    // The values in base64.
    for hidden in ["c2VjcmV0", "b3RoZXI=", "c2FtZQ=="] {
        assert!(!text.contains(hidden), "{text}");
    }
}

#[test]
fn a_side_that_is_wrong_has_findings() {
    let report = report(SERVICE, &SERVICE.replace("port: 80", "port: 0"));
    let finding = report.findings.first().unwrap();
    assert_eq!(&*finding.file, "new.yaml");
    assert_eq!(finding.field, "spec.ports[0].port");
}

#[test]
fn names_with_characters_of_paths_are_those_of_objects() {
    let role = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: 'shop:a?b c'}
rules: []
";
    let report = report(
        role,
        &role.replace(
            "rules: []",
            "rules: [{nonResourceURLs: [/x], verbs: [get]}]",
        ),
    );
    assert_eq!(report.findings, []);
    assert!(
        report.text().starts_with("ClusterRole shop:a?b c ("),
        "{}",
        report.text()
    );
}

#[test]
fn custom_resources_are_compared_by_their_definition() {
    let definition = WIDGETS.replace("{type: integer}", "{type: integer, default: 3}");
    let widget = |spec: &str| {
        format!(
            "{definition}---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: a}}\nspec: {spec}\n"
        )
    };
    let same = report(&widget("{}"), &widget("{size: 3}"));
    assert_eq!(
        (same.objects.len(), same.unchanged),
        (0, 2),
        "{}",
        same.text()
    );
    let other = report(&widget("{}"), &widget("{size: 4}"));
    assert!(
        other.text().contains("-  size: 3\n+  size: 4\n"),
        "{}",
        other.text()
    );
}
