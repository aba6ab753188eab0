//! Reports of one check in all forms.

use std::sync::Arc;

use super::*;
use crate::{
    check::{CheckReport, CheckedFile},
    finding::{Finding, ObjectName, Position, Rule},
};

/// Returns a report with a finding of each weight, in three versions.
fn report() -> CheckReport {
    let versions = ["1.34", "1.35", "1.36"].map(|name| name.parse().unwrap());
    let object = |kind: &str, name: &str| {
        Arc::new(ObjectName {
            api_version: "v1".to_owned(),
            kind: kind.to_owned(),
            namespace: "shop".to_owned(),
            name: name.to_owned(),
        })
    };
    let (service, secret) = (object("Service", "a <b>"), object("Secret", "c"));
    let position = |line, column| Some(Position { line, column });
    let file: Arc<str> = "deploy/a b.yaml".into();
    let finding = |rule, position, field: &str, message: &str, versions: &[_]| Finding {
        rule,
        file: Arc::clone(&file),
        position,
        object: Some(Arc::clone(&service)),
        field: field.to_owned(),
        message: message.to_owned(),
        versions: versions.to_vec(),
    };
    CheckReport {
        versions: versions.to_vec(),
        files: vec![
            CheckedFile {
                name: Arc::clone(&file),
                objects: vec![Arc::clone(&service), secret],
            },
            CheckedFile {
                name: "/b.yaml".into(),
                objects: Vec::new(),
            },
        ],
        findings: vec![
            finding(
                Rule::MissingNamespace,
                position(4, 14),
                "",
                "no manifest creates the namespace shop; it is taken to exist",
                &versions,
            ),
            finding(
                Rule::InvalidField,
                position(12, 11),
                "spec.ports[0].port",
                "Invalid value: 0: must be between 1 and 65535, inclusive",
                &versions,
            ),
            finding(
                Rule::DeprecatedApi,
                position(1, 13),
                "",
                "v1 Endpoints is deprecated in v1.33+; use \"discovery.k8s.io/v1\" & more",
                &versions[1..],
            ),
            Finding {
                rule: Rule::Syntax,
                file: "/b.yaml".into(),
                position: position(1, 1),
                object: None,
                field: String::new(),
                message: "did not find expected node content\u{7}".to_owned(),
                versions: Vec::new(),
            },
        ],
    }
}

#[test]
fn text_has_files_with_findings_and_counts_them() {
    insta::assert_snapshot!(text(&report(), TextStyle::plain()));
}

#[test]
fn text_fits_its_terminal() {
    let narrow = text(&report(), TextStyle::terminal(60));
    insta::assert_snapshot!(narrow.replace('\x1b', "^"));
    let plain = text(
        &report(),
        TextStyle {
            width: 60,
            is_coloured: false,
        },
    );
    let (lines, summary) = plain.trim_end().rsplit_once('\n').unwrap();
    assert!(
        lines.lines().all(|line| line.chars().count() <= 60),
        "{lines}"
    );
    assert!(summary.starts_with("2 objects in 2 files"), "{summary}");
}

#[test]
fn json_has_all_fields() {
    insta::assert_snapshot!(json(&report()));
}

#[test]
fn junit_has_a_case_for_each_object_and_fails_those_with_errors() {
    insta::assert_snapshot!(junit(&report(), false));
    let strict = junit(&report(), true);
    assert!(strict.contains("v1 Endpoints is deprecated"), "{strict}");
    assert!(strict.contains("tests=\"3\" failures=\"2\""), "{strict}");
}

#[test]
fn sarif_has_rules_results_and_places() {
    let printed = sarif(&report(), "0.0.0");
    let document: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), Rule::ALL.len());
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    insta::assert_snapshot!(format!("{:#}", run["results"]));
}

#[test]
fn a_report_without_findings_is_one_line() {
    let clean = CheckReport {
        findings: Vec::new(),
        ..report()
    };
    assert_eq!(
        text(&clean, TextStyle::plain()),
        "2 objects in 2 files, Kubernetes 1.34..1.36: 0 errors, 0 warnings, 0 notes\n"
    );
}
