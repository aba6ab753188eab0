//! Manifests that are found, and their errors.

use std::{fs, path::Path};

use serde_json::json;

use super::*;

const CONFIG_MAP: &str = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: NAME}\n";

fn config_map(name: &str) -> String {
    CONFIG_MAP.replace("NAME", name)
}

/// Returns the manifests of a directory with these files: `file/document/item kind name`.
fn check(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = directory.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let root = format!("{}/", directory.path().display());
    let manifests = read(&[directory.path().to_owned()]);
    let manifests = manifests.map_err(|error| error.to_string().replace(&root, ""))?;
    let lines = manifests.iter().map(|manifest| {
        let origin = manifest.origin.as_ref().unwrap();
        let file = origin.file.strip_prefix(directory.path()).unwrap();
        let (kind, name) = (
            &manifest.object["kind"],
            &manifest.object["metadata"]["name"],
        );
        let item = origin.item.unwrap_or_default();
        format!(
            "{}/{}/{item} {} {}",
            file.display(),
            origin.document,
            kind.as_str().unwrap(),
            name.as_str().unwrap()
        )
    });
    Ok(lines.collect())
}

#[test]
fn directories_are_read_in_the_order_of_their_names() {
    let found = check(&[
        ("b.yml", &config_map("b")),
        (
            "a/z.json",
            r#"{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "z"}} {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "y"}}"#,
        ),
        ("a/deep/er/a.yaml", &config_map("a")),
        ("README.md", "no: [manifest"),
        ("a/kustomization.yaml", "resources: [z.json]"),
        ("kustomization.yml", "resources: [b.yml]"),
        ("kustomizeconfig.yaml", "namespace: []"),
    ]);
    let expected = [
        "a/deep/er/a.yaml/1/0 ConfigMap a",
        "a/z.json/1/0 Pod z",
        "a/z.json/2/0 Pod y",
        "b.yml/1/0 ConfigMap b",
    ];
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn documents_and_lists_are_unfolded() {
    let text = format!(
        "---\n# nothing\n---\n{}---\nkind: List\napiVersion: v1\nmetadata: {{resourceVersion: ''}}\nitems:\n\
         - {{kind: Pod, apiVersion: v1, metadata: {{name: p}}}}\n---\nkind: PodList\napiVersion: v1\nitems:\n\
         - metadata: {{name: q}}\n- metadata: {{name: r}}\n---\nkind: PodList\napiVersion: v1\n",
        config_map("a")
    );
    let expected = [
        "x.yaml/1/0 ConfigMap a",
        "x.yaml/2/1 Pod p",
        "x.yaml/3/1 Pod q",
        "x.yaml/3/2 Pod r",
    ];
    assert_eq!(check(&[("x.yaml", &text)]).unwrap(), expected);
}

#[test]
fn manifests_are_in_the_order_of_dependencies() {
    let text = "kind: Pod\nmetadata: {name: p}\n---\nkind: CustomResourceDefinition\nmetadata: {name: d}\n---\n\
                kind: Namespace\nmetadata: {name: ns}\n";
    let expected = [
        "x.yaml/3/0 Namespace ns",
        "x.yaml/2/0 CustomResourceDefinition d",
        "x.yaml/1/0 Pod p",
    ];
    assert_eq!(check(&[("x.yaml", text)]).unwrap(), expected);
}

#[test]
fn errors_of_manifests_have_their_position() {
    for (name, text, message) in [
        ("x.yaml", "a: [b", "x.yaml: "),
        ("x.yaml", "ok: 1\n---\na: b\n  c: d\n", "line 4"),
        (
            "x.json",
            "{\"kind\": ",
            "x.json: EOF while parsing a value at line 1",
        ),
        ("x.yaml", "- a\n", "x.yaml, document 1: this is no object"),
        (
            "x.yaml",
            "kind: List\nitems: {}\n",
            "x.yaml, document 1: the items of this List are no list",
        ),
        (
            "x.yaml",
            "kind: List\nitems: [5]\n",
            "x.yaml, document 1, item 1: this is no object",
        ),
        ("x.txt", "", "has no files that end in .yaml, .yml or .json"),
    ] {
        let refused = check(&[(name, text)]).unwrap_err();
        assert!(refused.contains(message), "{refused}");
    }
    let absent = read(&["/no/such/file".into()]).unwrap_err();
    assert_eq!(absent.to_string(), "cannot read /no/such/file");
}

#[test]
fn scalars_are_those_of_requests() {
    let text = "a: 0644\nb: 010\nc: 08\nd: 1e3\ne: yes\nf: off\ng: 0o400\nh: 0x1a4\ni: 1_0\nj: 2001-01-01\n\
                k: &k {l: 1, l: 2}\n<<: *k\n3: *k\n---\na: &a 1\n---\n{a: '\\'}\n";
    let expected = [
        json!({
            "a": 420, "b": 8, "c": 8, "d": 1000, "e": true, "f": false, "g": 256, "h": 420, "i": 10,
            "j": "2001-01-01", "k": {"l": 2}, "l": 2, "3": {"l": 2},
        }),
        json!({"a": 1}),
        json!({"a": "\\"}),
    ];
    let documents = |name: &str, text: &str| read::documents(Path::new(name), text.as_bytes());
    assert_eq!(documents("x.yaml", text).unwrap(), expected);
    let several = [json!({"a": 1}), json!({"a": "/"})];
    let json = r#"{"a": 1} {"a": "\/"}"#;
    assert_eq!(documents("x.json", json).unwrap(), several);
    assert_eq!(documents("x.yaml", json).unwrap(), several);
    let flow = documents("x.yaml", "{a: 1}\n---\n{a: /}\n");
    assert_eq!(flow.unwrap(), several);
}

#[test]
fn a_link_that_leads_back_ends() {
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(directory.path(), directory.path().join("loop")).unwrap();
    let refused = read(&[directory.path().to_owned()]).unwrap_err();
    assert!(
        matches!(refused, ManifestError::File(FileError::TooDeep { .. })),
        "{refused}"
    );
}

#[test]
fn a_dump_may_be_long() {
    let item =
        "- {kind: ConfigMap, apiVersion: v1, metadata: {name: a}, data: {a: b, c: d, e: f}}\n";
    let text = format!("kind: List\nitems:\n{}", item.repeat(20_000));
    let read = read::documents(Path::new("x.yaml"), text.as_bytes()).unwrap();
    assert_eq!(read[0]["items"].as_array().unwrap().len(), 20_000);
}
