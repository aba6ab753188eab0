//! Names by which fakeserver reads and writes fields are names of the API's schemas: a misspelt one would read as null.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    finding::Finding,
    rust::{Code, TestCode},
    tree::Tree,
};

/// The schemas of the built-in kinds.
const SCHEMAS: &str = "fakeserver/versions/data/1.36/openapi-structure.json";
/// The same kinds as Go types, with the fields that schemas leave out.
const TYPES: &str = "fakeserver/versions/data/1.36/types.json";
/// The end of the paths of diffs of these types, one for each other version.
const TYPES_DIFF: &str = "/types.json.diff";
/// Code about documents other than objects: queries, reports, tokens, OpenAPI, kubeconfigs, stencils, JSON patches, generated input.
const ELSEWHERE: [&str; 10] = [
    "fakeserver/server/src/edge/",
    "fakeserver/check/src/report/",
    "fakeserver/cli/src/",
    "fakeserver/server/src/store/stencil.rs",
    "fakeserver/value/src/patch/document.rs",
    "fakeserver/value/src/schema/arbitrary.rs",
    "fakeserver/server/src/verbs/subresources/token.rs",
    "fakeserver/server/src/controllers/service_account_tokens/claims.rs",
    "fakeserver/server/src/faults/rewrite.rs",
    "fakeserver/server/src/server/control_openapi.rs",
];
/// Fields of the API that no schema has: of reviews that webhooks answer, of queries, annotations and messages.
const OTHERS: [&str; 18] = [
    "convertedObjects",
    "desiredAPIVersion",
    "objects",
    "oldObject",
    "patch",
    "requestKind",
    "requestResource",
    "response",
    "result",
    "warnings",
    "includeObject",
    // Usage by the metrics API.
    "timestamp",
    "window",
    "usage",
    // The configuration of OpenID.
    "issuer",
    // Parts of autoscalers that older versions keep in annotations.
    "Policies",
    "metricName",
    // The struct of a volume's source, in messages.
    "persistentvolumesource",
];
/// Keys of maps: resources, and data of generated objects.
const KEYS: [&str; 7] = [
    "cpu",
    "memory",
    "cores",
    "disk",
    "environment",
    "password",
    "team",
];

/// The names of fields that no schema has.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let names = field_names(tree);
    let tests = TestCode::of(tree);
    let mut findings = Vec::new();
    for (path, text) in tree.of_type("rs") {
        let is_elsewhere = ELSEWHERE.iter().any(|part| path.starts_with(part));
        if !path.starts_with("fakeserver/")
            || path.starts_with("fakeserver/packages/")
            || is_elsewhere
            || tests.contains(path)
        {
            continue;
        }
        let code = Code::read(path, text).without_tests();
        let unknown = code.fields().into_iter().filter(|field| {
            let name = field.name.as_str();
            is_name(name)
                && !names.contains(name)
                && !OTHERS.contains(&name)
                && !KEYS.contains(&name)
        });
        findings.extend(unknown.map(|field| {
            let what = format!("no schema has a field `{}`", field.name);
            Finding::new(path, field.line, what, "spell it as the API does")
        }));
    }
    findings
}

/// True if it is a name, and not the key of a label, a placeholder or a number.
fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric())
}

/// The names of the fields of all schemas.
fn field_names(tree: &Tree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for path in [SCHEMAS, TYPES] {
        let Some(text) = tree.text(path) else {
            continue;
        };
        let data: Value =
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{path} is JSON: {error}"));
        collect(&data, &mut names);
    }
    let diffs = tree.of_type("diff");
    for (_, diff) in diffs.filter(|(path, _)| path.ends_with(TYPES_DIFF)) {
        let lines = diff.lines().filter(|line| line.starts_with('+'));
        for field in lines.flat_map(|line| line.split("\"name\":\"").skip(1)) {
            names.extend(field.split('"').next().map(ToOwned::to_owned));
        }
    }
    names
}

/// Adds the keys of `properties`, and each `name` of `fields`.
fn collect(data: &Value, names: &mut BTreeSet<String>) {
    if let Some(properties) = data["properties"].as_object() {
        names.extend(properties.keys().cloned());
    }
    let fields = data["fields"].as_array().into_iter().flatten();
    names.extend(fields.filter_map(|field| Some(field["name"].as_str()?.to_owned())));
    match data {
        Value::Object(members) => members.values().for_each(|value| collect(value, names)),
        Value::Array(items) => items.iter().for_each(|value| collect(value, names)),
        _ => {}
    }
}
