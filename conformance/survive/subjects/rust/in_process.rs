//! The operators as functions, on a paused clock.

use std::{path::Path, process::ExitCode};

use serde_json::{Value, json};
use survive::{Check, Family, Subject};
use tokio_util::sync::CancellationToken;

use crate::{kit::AnyError, operators::Operator};

/// Returns the check of an operator with its workload.
pub(crate) fn check(operator: Operator, is_buggy: bool) -> Check {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../conformance/survive/subjects/rust")
        .join(operator.name());
    let subject = Subject::replica_function(move |client, replica| {
        let identity = format!("copy-{replica}");
        operator.run(client, identity, is_buggy, CancellationToken::new())
    });
    survive::check(subject)
        .crds(folder.join("crd.yaml"))
        .workload(folder.join("survive.yaml"))
}

/// Runs the check as the arguments say, and prints the report as JSON.
pub(crate) fn run(
    operator: Operator,
    is_buggy: bool,
    arguments: &[String],
) -> Result<ExitCode, AnyError> {
    let option = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)
    };
    let mut check = check(operator, is_buggy);
    if let Some(families) = option("--families") {
        let names: Vec<&str> = families.split(',').collect();
        let families: Vec<Family> = serde_json::from_value(json!(names))?;
        check = check.families(families);
    }
    if let Some(plans) = option("--plans") {
        check = check.plans(plans.parse()?);
    }
    if let Some(jobs) = option("--jobs") {
        check = check.jobs(jobs.parse()?);
    }
    let report = check.report()?;
    let json: Value = serde_json::from_str(&report.json())?;
    println!("{json}");
    Ok(if report.is_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
