//! Files of stages, and the errors of wrong ones.

use serde_json::json;

use super::*;

const CRASH_LOOP: &str = "
apiVersion: stages/v1
kind: Stage
metadata: {name: crash-loop}
spec:
  selector: {matchLabels: {app: web}, image: '*/web:*'}
  delay: 500ms
  times: 2
  next:
    ready: never
    failingProbe: {kind: liveness, after: 5s}
    exit: {after: 3s, code: 1, reason: OOMKilled}
    logs:
    - text: booting
    - {after: 1s, text: out of memory}
    usage:
    - {after: 2s, cpu: 2}
    - {cpu: 250m, memory: 64Mi}
---
apiVersion: stages/v1
kind: Stage
metadata: {name: ready}
spec:
  resourceRef: {apiVersion: example.com/v1, kind: Website}
  delay: 2s
  next: {status: {ready: true}}
";

#[test]
fn a_file_equals_its_builder() {
    let crash_loop = Stage::of_pods("crash-loop")
        .with_label("app", "web")
        .with_image("*/web:*")
        .with_delay(Duration::from_millis(500))
        .with_times(2)
        .with_readiness(None)
        .with_failing_liveness(Duration::from_secs(5))
        .with_exit(Duration::from_secs(3), 1)
        .with_exit_reason("OOMKilled")
        .with_log(Duration::ZERO, "booting")
        .with_log(Duration::from_secs(1), "out of memory")
        .with_cpu(Duration::from_secs(2), "2")
        .and_then(|stage| stage.with_cpu(Duration::ZERO, "250m"))
        .and_then(|stage| stage.with_memory(Duration::ZERO, "64Mi"))
        .unwrap();
    let ready = Stage::of("ready", "example.com/v1", "Website")
        .with_delay(Duration::from_secs(2))
        .with_status(json!({"ready": true}));
    assert_eq!(parse(CRASH_LOOP), Ok(vec![crash_loop, ready]));
}

#[test]
fn the_recipes_of_the_page_are_stages() {
    let page = include_str!("../../../../../docs/stages.md");
    let blocks = page.split("```yaml\n").skip(1);
    let recipes: Vec<&str> = blocks
        .filter_map(|block| block.split("```").next())
        .collect();
    assert_eq!(recipes.len(), 9);
    for recipe in recipes {
        assert_eq!(parse(recipe).map(|stages| stages.len()), Ok(1), "{recipe}");
    }
}

/// Checks that a file after a replacement is refused with these words.
fn check_wrong(cases: &[[&str; 3]]) {
    for [from, to, expected] in cases {
        assert!(CRASH_LOOP.contains(from), "{from}");
        let error = parse(&CRASH_LOOP.replacen(from, to, 1))
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_wrong_file_is_rejected() {
    check_wrong(&[
        [
            "kind: Stage\nmetadata: {name: ready}",
            "kind: Pod\nmetadata: {name: ready}",
            "document 2, \"ready\": it is a \"Pod\"",
        ],
        ["delay: 2s", "delay: soon", "\"soon\" is no duration"],
        ["delay: 2s", "delay: -2s", "negative"],
        ["times: 2", "time: 2", "time"],
        [
            "next: {status: {ready: true}}",
            "next: {}",
            "it says nothing",
        ],
        [
            "ready: never",
            "status: {phase: Failed}",
            "the kubelet writes the status",
        ],
        ["ready: true}}", "ready: true}, ready: 1s}", "are for pods"],
        [
            "ready: true}}",
            "ready: true}, logs: [{text: a}]}",
            "are for pods",
        ],
        ["text: booting", "after: 1s", "text"],
    ]);
}

#[test]
fn invalid_values_are_rejected() {
    check_wrong(&[
        [
            "app: web",
            "bad label!: web",
            "\"bad label!\" is no key of a label",
        ],
        ["app: web", "app: a b", "\"a b\" is no value of a label"],
        [
            "image: '*/web:*'",
            "owner: {kind: Job, name: '*web'}",
            "name \"*web\": `*` stands for any text at the end only",
        ],
        ["times: 2", "times: 0", "times: 0 is no number of starts"],
        ["times: 2", "times: -1", "times: -1 is no number of starts"],
        [
            "code: 1",
            "code: 900",
            "code: 900 is no exit code: give 0 to 255",
        ],
        ["ready: never", "ready: maybe", "or `never`"],
        ["kind: liveness", "kind: readiness", "readiness"],
        [
            "name: ready",
            "name: crash-loop",
            "document 1 has this name already",
        ],
        [
            "stages/v1\nkind: Stage\nmetadata: {name: ready}",
            "kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: ready}",
            "a stage of kwok has to be rewritten",
        ],
    ]);
}

#[test]
fn an_expression_is_a_condition() {
    let with = |expression: &str| {
        parse(&CRASH_LOOP.replacen(
            "app: web}",
            &format!("app: web}}, expression: {expression}"),
            1,
        ))
    };
    let error = with("1 + 1").unwrap_err().to_string();
    assert!(error.contains("neither true nor false"), "{error}");
    assert!(with("object.spec.isFirst").is_ok(), "its type is not known");
}

#[test]
fn a_file_without_stages_is_rejected() {
    for nothing in ["", "# stages\n", "---\n"] {
        let error = parse(nothing).unwrap_err().to_string();
        assert!(error.starts_with("stages: "), "{error}");
    }
    let kwok = "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: a}\n\
                    spec: {resourceRef: {apiGroup: v1, kind: Pod}}";
    let error = parse(kwok).unwrap_err().to_string();
    assert!(
        error.contains("a stage of kwok has to be rewritten"),
        "{error}"
    );
}
