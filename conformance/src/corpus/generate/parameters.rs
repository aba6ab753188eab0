//! Query parameters, usual and odd ones.

use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};

use super::{super::request::DRY_RUN, odd::pick, subject::LABEL};

/// Draws the parameters of a write.
pub(super) fn of_write(rng: &mut ChaCha8Rng) -> Vec<String> {
    let mut parameters = vec![DRY_RUN.to_owned()];
    if rng.random_bool(0.25) {
        let validation = pick(rng, &["Strict", "Strict", "Warn", "Ignore", "bogus", ""]);
        parameters.push(format!("fieldValidation={validation}"));
    }
    if rng.random_bool(0.08) {
        parameters.push(format!("fieldManager={}", manager(rng)));
    }
    if rng.random_bool(0.03) {
        let odd = [
            "pretty=x",
            "dryRun=All",
            "timeout=x",
            "timeout=5s",
            "bogus=1",
            "force=true",
        ];
        parameters.push(pick(rng, &odd).to_owned());
    }
    parameters
}

/// Draws the parameters of an apply.
pub(super) fn of_apply(rng: &mut ChaCha8Rng) -> Vec<String> {
    let mut parameters = of_write(rng);
    let has_manager = |parameters: &[String]| {
        let mut parameters = parameters.iter();
        parameters.any(|parameter| parameter.starts_with("fieldManager="))
    };
    if !has_manager(&parameters) && rng.random_bool(0.95) {
        let manager = pick(rng, &["first", "second"]);
        parameters.push(format!("fieldManager={manager}"));
    }
    if rng.random_bool(0.5) {
        parameters.push(format!(
            "force={}",
            pick(rng, &["true", "true", "true", "false", "x"])
        ));
    }
    parameters
}

/// Draws the parameters of a list, which select one object or fail.
pub(super) fn of_list(rng: &mut ChaCha8Rng, name: &str) -> Vec<String> {
    let (label, value) = LABEL;
    let selected = [
        format!("fieldSelector=metadata.name%3D{name}"),
        format!("labelSelector={label}%3D{value}&fieldSelector=metadata.name%3D{name}"),
        format!("labelSelector={label}%20in%20({value},x)&fieldSelector=metadata.name%3D{name}"),
        format!("fieldSelector=metadata.name%3D{name}&limit=1"),
    ];
    let odd = [
        "labelSelector=a%20in%20(",
        "labelSelector=%3D%3D",
        "labelSelector=a%3Db%3Dc",
        "labelSelector=-a",
        "labelSelector=a%20notin%20()",
        "labelSelector=!",
        "labelSelector=a%3E1",
        "labelSelector=a%3Ex",
        "labelSelector=a%3D!b",
        "fieldSelector=a",
        "fieldSelector=spec.bogus%3D1",
        "fieldSelector=metadata.name",
        "fieldSelector=metadata.namespace%3D%3Dnone",
        "fieldSelector=status.phase%3Dnone",
        "fieldSelector=type%3Dnone",
        "fieldSelector=spec.nodeName%3Dnone",
        "fieldSelector=metadata.name%3Da,metadata.name%3Db",
        "fieldSelector=metadata.name%20in%20(a)",
        "fieldSelector=metadata.labels%3Da",
        "limit=x",
        "limit=-1",
        "limit=1.5",
        "continue=zzz",
        "continue=zzz&resourceVersion=1",
        "resourceVersion=abc",
        "resourceVersion=-1",
        "resourceVersionMatch=Exact",
        "resourceVersionMatch=bogus&resourceVersion=1",
        "resourceVersionMatch=Exact&resourceVersion=0",
        "resourceVersionMatch=NotOlderThan",
        "timeoutSeconds=x",
        "sendInitialEvents=true",
        "allowWatchBookmarks=x",
        "pretty=x&fieldSelector=a%3D",
    ];
    let drawn = if rng.random_bool(0.4) {
        selected.choose(rng).cloned()
    } else {
        odd.choose(rng).map(|parameters| (*parameters).to_owned())
    };
    drawn.into_iter().collect()
}

fn manager(rng: &mut ChaCha8Rng) -> String {
    match rng.random_range(0..4) {
        0 => "m".repeat(pick(rng, &[128, 129])),
        1 => String::new(),
        2 => "a%00b".to_owned(),
        _ => "someone".to_owned(),
    }
}
