//! The report as JSON.

use std::path::{Path, PathBuf};

use serde::Serialize;
use support::call::whole;

use support::partition::Stamp;

use super::{Report, line_of, masked, named};

use crate::{
    acceptance::{Acceptance, AcceptedFinding},
    finding::Finding,
    origin::Origin,
    plan::Family,
    runs::Runs,
};

/// The report as JSON.
#[derive(Serialize)]
struct Json<'a> {
    campaign: Stamp,
    #[serde(flatten)]
    origin: &'a Origin,
    reference: JsonReference<'a>,
    planned: usize,
    interrupted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    accepted: JsonAccepted<'a>,
    runs: Vec<JsonRun<'a>>,
}

#[derive(Serialize)]
struct JsonReference<'a> {
    writes: Vec<String>,
    objects: usize,
    seconds: f64,
    masked: Vec<String>,
    unserved: &'a [String],
    findings: &'a [Finding],
    accepted: &'a [AcceptedFinding],
}

#[derive(Serialize)]
struct JsonAccepted<'a> {
    file: &'a Path,
    left_out: usize,
    unmatched: Vec<&'a Acceptance>,
    masked: Vec<String>,
    unmatched_masks: Vec<String>,
}

#[derive(Serialize)]
struct JsonRun<'a> {
    family: Family,
    line: &'static str,
    plan: String,
    survived: bool,
    idle: bool,
    seconds: f64,
    times: Runs,
    findings: &'a [Finding],
    accepted: &'a [AcceptedFinding],
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<&'a PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a PathBuf>,
}

impl Report {
    /// Returns the report as JSON.
    pub fn json(&self) -> String {
        let reference = &self.reference;
        let verdicts = self.verdicts.iter().enumerate();
        let failure = self.failure.as_ref().map(|error| whole(error));
        let json = Json {
            campaign: self
                .origin
                .stamp()
                .with_ended(failure.clone().or_else(|| self.shortfall())),
            origin: &self.origin,
            reference: JsonReference {
                writes: reference
                    .writes
                    .iter()
                    .map(|it| it.point.to_string())
                    .collect(),
                objects: reference.end.object_count(),
                seconds: reference.took.as_secs_f64(),
                masked: masked(reference),
                unserved: &reference.trace.unserved,
                findings: &reference.findings,
                accepted: &reference.left_out,
            },
            planned: self.planned_count,
            interrupted: self.interrupted,
            failure,
            accepted: JsonAccepted {
                file: &reference.accepted.file,
                left_out: self.left_out().count(),
                unmatched: self.unmatched().collect(),
                masked: reference
                    .given
                    .pairs()
                    .map(|(pair, _)| named(pair))
                    .collect(),
                unmatched_masks: self.unmatched_masks(),
            },
            runs: verdicts
                .map(|(place, verdict)| JsonRun {
                    family: verdict.plan.family,
                    line: line_of(&verdict.plan).1,
                    plan: verdict.plan.to_string(),
                    survived: verdict.findings.is_empty(),
                    idle: verdict.is_idle,
                    seconds: verdict.took.as_secs_f64(),
                    times: verdict.runs,
                    findings: &verdict.findings,
                    accepted: &verdict.accepted,
                    replay: self.replays.get(&place),
                    trace: self.traces.get(&place),
                })
                .collect(),
        };
        serde_json::to_string_pretty(&json).expect("it is made of plain values")
    }
}
