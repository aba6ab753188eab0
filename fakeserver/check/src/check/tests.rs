//! Checks of sets of manifests.

use super::*;
use crate::testing::{WIDGETS, run, set};

fn report(files: &[(&str, &str)], options: &CheckOptions) -> CheckReport {
    run(check(&set(files), options, &|_, _| {}))
}

fn options(versions: &str) -> CheckOptions {
    CheckOptions::new(
        versions
            .split_whitespace()
            .map(|name| name.parse().unwrap()),
    )
}

/// Returns the findings of one file in the default version, each as `LINE:COLUMN rule text`.
fn findings(text: &str) -> Vec<String> {
    let report = report(&[("x.yaml", text)], &options(""));
    lines(&report)
}

fn lines(report: &CheckReport) -> Vec<String> {
    let lines = report.findings.iter().map(|finding| {
        let place = finding.position.unwrap();
        format!("{place} {} {}", finding.rule.id(), finding.text())
    });
    lines.collect()
}

#[test]
fn findings_have_the_places_of_their_fields() {
    let text = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: -1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: web
        imagePullPolice: Always
";
    assert_eq!(
        findings(text),
        [
            "5:13 invalid-field spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            "13:9 unknown-field spec.template.spec.containers[0].imagePullPolice: the kind has no such field",
        ]
    );
}

#[test]
fn values_that_cannot_be_decoded_have_places() {
    let text = "\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: a
    image: a
    env:
    - name: A
      value: b
    - name: B
      value: 5
---
apiVersion: v1
kind: Secret
metadata: {name: a}
data:
  a: YQ==
  b: no!
";
    assert_eq!(
        findings(text),
        [
            "12:14 wrong-type spec.containers[0].env[1].value: json: cannot unmarshal number into Go struct field EnvVar.spec.containers.env.value of type string",
            "19:6 wrong-type data.b: illegal base64 data at input byte 2",
        ]
    );
}

#[test]
fn the_order_of_files_does_not_matter() {
    let widget = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: shop}, spec: {size: big}}";
    let pod = "\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop}
spec: {priorityClassName: high, containers: [{name: a, image: a}]}
";
    let files = [
        ("a-widget.yaml", widget),
        ("b-pod.yaml", pod),
        (
            "c-class.yaml",
            "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 7}",
        ),
        ("d-crd.yaml", WIDGETS),
        (
            "e-namespace.yaml",
            "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
        ),
    ];
    let mut reversed = files;
    reversed.reverse();
    for files in [files, reversed] {
        let report = report(&files, &options(""));
        let [finding] = &report.findings[..] else {
            panic!("{report:?}");
        };
        assert_eq!(&*finding.file, "a-widget.yaml");
        assert_eq!(finding.field, "spec.size");
    }
}

#[test]
fn policies_judge_all_objects_whatever_their_order() {
    let policy = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: owners}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [namespaces, pods, configmaps]}
  validations:
  - expression: \"'owner' in object.metadata.labels && object.metadata.labels['owner'] == params.data.owner\"
    message: the owner is another one
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: owners}
spec:
  policyName: owners
  paramRef: {name: owners, namespace: default, parameterNotFoundAction: Deny}
  validationActions: [Deny]
";
    let text = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata: {{name: shop}}\n---\n\
         apiVersion: v1\nkind: Pod\nmetadata: {{name: a, namespace: shop, labels: {{owner: me}}}}\nspec: {{containers: [{{name: a, image: a}}]}}\n---\n\
         apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: owners, labels: {{owner: me}}}}\ndata: {{owner: me}}\n---\n{policy}"
    );
    let denial = "ValidatingAdmissionPolicy 'owners' with binding 'owners' denied request: the owner is another one";
    assert_eq!(findings(&text), [format!("1:1 policy-denied {denial}")]);
}

#[test]
fn equal_findings_of_versions_are_one() {
    let text = "\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: a}
spec: {bad: 1}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1beta3
kind: FlowSchema
metadata: {name: a}
spec: {priorityLevelConfiguration: {name: exempt}}
";
    let report = report(&[("x.yaml", text)], &options("1.31 1.32 1.33 1.34 1.35"));
    let found: Vec<(String, String)> = report
        .findings
        .iter()
        .map(|finding| {
            let names = finding.versions.iter().map(|version| version.name());
            let names: Vec<&str> = names.collect();
            (finding.rule.id().to_owned(), names.join(" "))
        })
        .collect();
    let expected = [
        ("unserved-api", "1.31 1.32 1.33"),
        ("unknown-field", "1.34 1.35"),
        ("removed-api", "1.32 1.33 1.34 1.35"),
        ("deprecated-api", "1.31"),
    ];
    let expected = expected.map(|(rule, names)| (rule.to_owned(), names.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn webhooks_are_checked_and_not_called() {
    let text = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: a}
webhooks:
- name: a.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fial
  clientConfig: {service: {name: a, namespace: default}}
  rules:
  - {apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
";
    assert_eq!(
        findings(text),
        [
            "4:1 not-called its webhooks are not called: what they reject or change is not checked",
            "8:18 invalid-field webhooks[0].failurePolicy: Unsupported value: \"Fial\": supported values: \"Fail\", \"Ignore\"",
        ]
    );
}

#[test]
fn custom_resources_need_a_definition_that_is_valid() {
    let widget = "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n";
    assert_eq!(
        findings(widget),
        [
            "3:7 missing-definition example.com/v1 Widget is no kind of Kubernetes, and no manifest defines it: add its CustomResourceDefinition to the paths"
        ]
    );
    let ignoring = options("").with_missing_definitions_ignored(true);
    assert_eq!(lines(&report(&[("x.yaml", widget)], &ignoring)), [""; 0]);
    let invalid = WIDGETS.replace("scope: Namespaced", "scope: Everywhere");
    let found = findings(&format!("{invalid}{widget}"));
    assert!(
        found[0].starts_with("6:10 invalid-field spec.scope: "),
        "{found:?}"
    );
    assert!(found[1].contains("is rejected, so that"), "{found:?}");
}

#[test]
fn a_conversion_webhook_is_not_needed() {
    let definition = WIDGETS.replace(
        "  versions:\n",
        "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://example.com/'}}}\n  versions:\n  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n",
    );
    let widget = "---\napiVersion: example.com/v2\nkind: Widget\nmetadata: {name: a}\n";
    assert_eq!(
        findings(&format!("{definition}{widget}")),
        [
            "8:3 not-called its conversion webhook is not called: objects keep their fields in all versions"
        ]
    );
}

#[test]
fn an_object_in_two_files_is_an_error() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let report = report(&[("a.yaml", map), ("b.yaml", map)], &options(""));
    assert_eq!(
        lines(&report),
        ["3:18 duplicate-object ConfigMap a is in a.yaml:1 already"]
    );
}

#[test]
fn namespaces_that_are_missing_are_noted_once() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, namespace: shop}\n";
    let text = format!(
        "{}---\n{}",
        map.replace("NAME", "a"),
        map.replace("NAME", "b")
    );
    assert_eq!(
        findings(&text),
        ["3:32 missing-namespace no manifest creates the namespace shop; it is taken to exist"]
    );
}

#[test]
fn a_namespace_that_cannot_be_is_an_error() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: 'no/such?a b'}\n";
    let found = findings(text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0]
            .starts_with("3:32 invalid-field metadata.namespace: Invalid value: \"no/such?a b\": "),
        "{found:?}"
    );
}

#[test]
fn objects_of_every_cluster_are_replaced() {
    let text = "\
apiVersion: v1
kind: Namespace
metadata: {name: default, labels: {a: 'b c'}}
---
apiVersion: v1
kind: Namespace
metadata: {name: kube-system, labels: {a: b}}
";
    let found = findings(text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("metadata.labels: Invalid value: \"b c\""),
        "{found:?}"
    );
}

#[test]
fn the_progress_counts_each_manifest_for_each_version() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let steps = std::cell::RefCell::new(Vec::new());
    let progress = |done, total| steps.borrow_mut().push((done, total));
    run(check(
        &set(&[("a.yaml", map)]),
        &options("1.35 1.36"),
        &progress,
    ));
    assert_eq!(*steps.borrow(), [(1, 2), (2, 2)]);
}
