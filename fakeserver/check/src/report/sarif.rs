//! The report as SARIF 2.1.0, which code hosts show beside the lines of a change.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::versions;
use crate::{
    check::CheckReport,
    finding::{Finding, Rule},
};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Returns the report as SARIF, indented, with a line break at its end. `version` is that of the program.
pub fn sarif(report: &CheckReport, version: &str) -> String {
    let rules = Rule::ALL.map(|rule| {
        json!({
            "id": rule.id(),
            "shortDescription": {"text": rule.description()},
            "defaultConfiguration": {"level": rule.severity().name()},
        })
    });
    let results = report
        .findings
        .iter()
        .map(|finding| result(finding, report));
    let names = report.versions.iter().map(|version| version.name());
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "fakeserver check",
                "version": version,
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "properties": {"kubernetesVersions": names.collect::<Vec<_>>()},
            "results": results.collect::<Vec<Value>>(),
        }],
    });
    format!("{document:#}\n")
}

fn result(finding: &Finding, report: &CheckReport) -> Value {
    let index = Rule::ALL.iter().position(|rule| *rule == finding.rule);
    let region = finding
        .position
        .map(|position| json!({"startLine": position.line, "startColumn": position.column}));
    let mut physical = json!({"artifactLocation": {"uri": uri(&finding.file)}});
    if let Some(region) = region {
        physical["region"] = region;
    }
    let mut location = json!({"physicalLocation": physical});
    if let Some(object) = &finding.object {
        let path = match &*finding.field {
            "" => object.to_string(),
            field => format!("{object} {field}"),
        };
        location["logicalLocations"] = json!([{"fullyQualifiedName": path}]);
    }
    let held = versions::text(&finding.versions, &report.versions);
    let held = if held.is_empty() {
        held
    } else {
        format!(" (in Kubernetes {held})")
    };
    let names = finding.versions.iter().map(|version| version.name());
    json!({
        "ruleId": finding.rule.id(),
        "ruleIndex": index,
        "level": finding.severity().name(),
        "message": {"text": format!("{}{held}", finding.text())},
        "locations": [location],
        "properties": {"kubernetesVersions": names.collect::<Vec<_>>()},
    })
}

/// Returns a path as a reference of a URI: relative, or of the scheme `file`.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            write!(uri, "%{byte:02X}").expect("a string takes what is written");
        }
    }
    uri
}
