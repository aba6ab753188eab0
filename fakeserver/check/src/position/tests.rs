//! Paths of fields, and the places that they lead to.

use super::*;

const TEXT: &str = "\
kind: Deployment
metadata:
  labels:
    app.kubernetes.io/name: shop
    app: x
spec:
  replicas: -1
  template:
    spec: &spec
      containers:
      - name: a
        ports: [{containerPort: 0}]
  other: *spec
  merged:
    <<: *spec
    own: 1
";

/// Returns the place of a field, as `LINE:COLUMN` and the text from there to the end of the line.
fn place(path: &str, part: Part) -> String {
    let mut set = ManifestSet::default();
    let text = format!("apiVersion: v1\n{TEXT}");
    set.add("x.yaml", text.clone().into_bytes());
    let position = Locator::new(&set).position(&set.manifests[0], path, part);
    let line = text.lines().nth(position.line - 1).unwrap();
    format!("{} {}", position.line - 1, &line[position.column - 1..])
}

#[test]
fn a_path_leads_to_the_value_of_a_leaf_and_to_the_name_of_anything_else() {
    for (path, expected) in [
        ("spec.replicas", "7 -1"),
        ("spec.template", "8 template:"),
        ("spec.template.spec.containers[0].name", "11 a"),
        ("spec.template.spec.containers[0]", "11 name: a"),
        (
            "spec.template.spec.containers[0].ports[0].containerPort",
            "12 0}]",
        ),
        (".spec.replicas", "7 -1"),
        (
            ".spec.template.spec.containers[name=\"a\"].ports[containerPort=0,protocol=\"TCP\"]",
            "12 {containerPort: 0}]",
        ),
    ] {
        assert_eq!(place(path, Part::Value), expected, "{path}");
    }
    assert_eq!(place("spec.replicas", Part::Key), "7 replicas: -1");
}

#[test]
fn keys_with_dots_are_found_with_brackets_and_without() {
    for path in [
        "metadata.labels[app.kubernetes.io/name]",
        "metadata.labels.app.kubernetes.io/name",
        "metadata.labels[\"app.kubernetes.io/name\"]",
        "metadata.labels['app.kubernetes.io/name']",
    ] {
        assert_eq!(place(path, Part::Value), "4 shop", "{path}");
    }
}

#[test]
fn a_field_that_is_missing_leads_to_what_is_around_it() {
    for (path, expected) in [
        ("spec.selector", "6 spec:"),
        ("spec.template.spec.containers[0].image", "11 name: a"),
        ("spec.template.spec.containers[7]", "10 containers:"),
        ("spec.replicas.more", "7 replicas: -1"),
        ("", "0 apiVersion: v1"),
        ("<nil>", "0 apiVersion: v1"),
    ] {
        assert_eq!(place(path, Part::Value), expected, "{path}");
    }
}

#[test]
fn aliases_and_merged_mappings_are_followed() {
    for path in [
        "spec.other.containers[0].name",
        "spec.merged.containers[0].name",
    ] {
        assert_eq!(place(path, Part::Value), "11 a", "{path}");
    }
    assert_eq!(place("spec.merged.own", Part::Value), "16 1");
}

#[test]
fn an_alias_of_itself_ends() {
    let document = Document::parse(b"a: &a {<<: *a, b: *a}\n").unwrap();
    let path = "a.b.b.b.b.c";
    let root = document.root.unwrap();
    assert!(locate(&document, root, path, Part::Value) < 20);
}
