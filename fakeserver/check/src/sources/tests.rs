//! Texts that become manifests, and texts that do not.

use std::fs;

use proptest::prelude::*;

use fakeserver_server::store::manifests::FileError;

use super::*;

/// Returns the objects of a text and what is wrong with it: `LINE kind name` and `LINE:COLUMN rule message`.
fn read(name: &str, text: &[u8]) -> (Vec<String>, Vec<String>) {
    let mut set = ManifestSet::default();
    set.add(name, text.to_vec());
    let objects = set.manifests.iter().map(|manifest| {
        let line = set.files[0].position(manifest.start).line;
        format!("{line} {}", manifest.name)
    });
    let findings = set.findings.iter().map(|finding| {
        let position = finding.position.unwrap();
        format!("{position} {} {}", finding.rule.id(), finding.text())
    });
    (objects.collect(), findings.collect())
}

#[test]
fn documents_and_lists_become_objects_with_their_lines() {
    let text = "\
# a comment
---
kind: Pod
apiVersion: v1
metadata: {name: a, namespace: shop}
---
---
kind: List
apiVersion: v1
items:
- {kind: Pod, apiVersion: v1, metadata: {name: b}}
- kind: ConfigMapList
  apiVersion: v1
  items:
  - metadata: {generateName: c-}
";
    let (objects, findings) = read("x.yaml", text.as_bytes());
    assert_eq!(objects, ["3 Pod shop/a", "11 Pod b", "15 ConfigMap c-*"]);
    assert_eq!(findings, [""; 0]);
}

#[test]
fn json_may_have_several_values() {
    let text = "{\"kind\": \"Pod\", \"apiVersion\": \"v1\",\n\"metadata\": {\"name\": \"a\\/b\"}}\n\
                {\"kind\": \"Pod\", \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"c\", \"name\": \"d\"}}\n";
    let (objects, findings) = read("x.json", text.as_bytes());
    assert_eq!(objects, ["1 Pod a/b", "3 Pod d"]);
    assert_eq!(
        findings,
        ["3:63 duplicate-field metadata.name: the key is there twice, and the last one counts"]
    );
}

#[test]
fn a_document_that_is_no_yaml_hides_no_other_one() {
    let good = "kind: Pod\napiVersion: v1\nmetadata: {name: a}\n";
    let text =
        format!("{good}---\nkind: [\n---\n{good}---\na: b\n c: d\n---\n- 5\n---\nkind: Pod\n");
    let (objects, findings) = read("x.yaml", text.as_bytes());
    assert_eq!(objects, ["1 Pod a", "7 Pod a"]);
    let lines: Vec<&str> = findings
        .iter()
        .map(|finding| finding.split(':').next().unwrap())
        .collect();
    assert_eq!(lines, ["5", "12", "14", "16"], "{findings:?}");
    assert!(
        findings[3].ends_with("no-object this object has no `apiVersion`"),
        "{findings:?}"
    );
}

#[test]
fn repeated_keys_are_found_in_lists_and_maps() {
    let text = "\
kind: Pod
apiVersion: v1
metadata: {name: a}
spec:
  containers:
  - name: a
    image: b
    image: c
  containers: []
";
    let (_, findings) = read("x.yaml", text.as_bytes());
    assert_eq!(
        findings,
        [
            "8:5 duplicate-field spec.containers[0].image: the key is there twice, and the last one counts",
            "9:3 duplicate-field spec.containers: the key is there twice, and the last one counts",
        ]
    );
}

#[test]
fn a_template_is_to_be_rendered_first() {
    let (_, findings) = read(
        "x.yaml",
        b"kind: Pod\nmetadata:\n  name: {{ .Values.name }}\n",
    );
    assert!(findings[0].contains("helm template CHART"), "{findings:?}");
}

#[test]
fn garbage_is_a_finding_with_a_line_in_bounded_work() {
    let aliases = (1..20).fold("a0: &a0 [x]\n".to_owned(), |text, level| {
        let row = vec![format!("*a{}", level - 1); 10].join(", ");
        format!("{text}a{level}: &a{level} [{row}]\n")
    });
    let deep = format!("a: {}\n", "[".repeat(200_000));
    let deep_objects = format!("x: {}1{}\n", "{a: ".repeat(5_000), "}".repeat(5_000));
    for (name, text, line) in [
        ("aliases", aliases.as_bytes(), 1),
        ("deep", deep.as_bytes(), 1),
        ("deep objects", deep_objects.as_bytes(), 1),
        ("binary", b"kind: Pod\nname: \xff\xfe\x00", 2),
        ("control characters", b"kind: Pod\nname: \x07\n", 2),
        ("an alias of nothing", b"# x\na: *b\n", 2),
        ("an alias of itself", b"a: &a [*a]\n", 1),
        ("a number", b"5\n", 1),
    ] {
        let (objects, findings) = read(name, text);
        assert_eq!(objects, [""; 0], "{name}");
        assert_eq!(findings.len(), 1, "{name}: {findings:?}");
        let of_line = format!("{line}:");
        assert!(findings[0].starts_with(&of_line), "{name}: {findings:?}");
    }
    let (_, findings) = read("x.json", b"{\"kind\": \"Pod\",\n\"a\": }\n");
    assert_eq!(findings, ["2:6 syntax expected value"]);
}

#[test]
fn many_documents_with_errors_are_read_in_linear_time() {
    let text = "---\n[\n".repeat(20_000);
    let (_, findings) = read("x.yaml", text.as_bytes());
    assert_eq!(findings.len(), 20_000);
    assert!(
        findings[19_999].starts_with("40000:"),
        "{}",
        findings[19_999]
    );
}

#[test]
fn folders_are_read_in_the_order_of_names_and_files_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("b/c")).unwrap();
    fs::create_dir_all(path("empty")).unwrap();
    for name in [
        "b/c/z.yml",
        "a.yaml",
        "b/x.json",
        "kustomization.yaml",
        "README.md",
    ] {
        fs::write(
            path(name),
            "{kind: Pod, apiVersion: v1, metadata: {name: a}}",
        )
        .unwrap();
    }
    let paths = [
        path("b"),
        folder.path().to_owned(),
        path("none"),
        path("empty"),
    ];
    let set = ManifestSet::read(&paths, &mut "".as_bytes());
    let names = set.files.iter().map(|file| {
        let name = Path::new(&*file.name).strip_prefix(folder.path());
        name.unwrap().display().to_string()
    });
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["b/c/z.yml", "b/x.json", "a.yaml"]
    );
    let errors: Vec<String> = set.errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].ends_with("none"), "{errors:?}");
    assert!(
        errors[1].contains("empty has no files that end in"),
        "{errors:?}"
    );
}

#[test]
fn a_link_that_leads_back_ends() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
    let set = ManifestSet::read(&[folder.path().to_owned()], &mut "".as_bytes());
    assert!(
        matches!(
            set.errors[..],
            [SourceError::File(FileError::TooDeep { .. })]
        ),
        "{:?}",
        set.errors
    );
}

#[test]
fn a_file_above_the_limit_is_an_error() {
    let endless = std::io::repeat(b'#');
    let set = ManifestSet::read(&[STDIN.into()], &mut { endless });
    let errors: Vec<String> = set.errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        ["stdin has more than 64 MiB: split it into several files"]
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in "[-a{}\\[\\]:*&!|>'\"%@, \n#0~]{0,60}") {
        let _ = read("x.yaml", text.as_bytes());
        let _ = read("x.json", text.as_bytes());
    }
}
