//! The report as JSON.

use serde_json::{Value, json};

use crate::{
    check::CheckReport,
    finding::{Finding, Severity},
};

/// Returns the report as JSON, indented, with a line break at its end.
pub fn json(report: &CheckReport) -> String {
    let names = report.versions.iter().map(|version| version.name());
    let findings: Vec<Value> = report.findings.iter().map(finding).collect();
    let document = json!({
        "versions": names.collect::<Vec<_>>(),
        "summary": {
            "files": report.files.len(),
            "objects": report.object_count(),
            "errors": report.count(Severity::Error),
            "warnings": report.count(Severity::Warning),
            "notes": report.count(Severity::Note),
        },
        "findings": findings,
    });
    format!("{document:#}\n")
}

fn finding(finding: &Finding) -> Value {
    let versions = finding.versions.iter().map(|version| version.name());
    let object = finding.object.as_ref().map(|object| {
        json!({
            "apiVersion": object.api_version,
            "kind": object.kind,
            "namespace": object.namespace,
            "name": object.name,
        })
    });
    json!({
        "rule": finding.rule.id(),
        "severity": finding.severity().name(),
        "file": &*finding.file,
        "line": finding.position.map(|position| position.line),
        "column": finding.position.map(|position| position.column),
        "object": object,
        "field": finding.field,
        "message": finding.message,
        "versions": versions.collect::<Vec<_>>(),
    })
}
