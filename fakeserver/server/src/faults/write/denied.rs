//! An admission webhook that denies writes.

use fakeserver_value::status::Status;
use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
    definition::{Problem, status_code},
};

const MESSAGE: &str = "admission webhook \"fault.fakeserver.dev\" denied the request";

/// The parameters of [`Fault::Denied`](crate::faults::Fault::Denied).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Denied {
    /// The status code, 403 (the default) or 422.
    pub code: u16,
}

impl Default for Denied {
    fn default() -> Self {
        Self { code: 403 }
    }
}

impl Definition for Denied {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F33",
        fault: "denied",
        parameters: &["code"],
        effect: "Refuses a write in the words of an admission webhook, with `code`, 403 or 422.",
        models: "403 or 422 in the words of an admission webhook",
        suffered: "every controller in a cluster with policies",
        target: Target::Writes,
        recovery: Recovery::Unaffected,
        properties: &[],
    };

    fn problem(self) -> Option<Problem> {
        let is_known = [403, 422].contains(&self.code);
        (!is_known).then(|| ("code", format!("{} is not 403 or 422", self.code)))
    }

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        if !request.is_write() {
            return None;
        }
        let code = status_code(self.code);
        let answer = if code == StatusCode::UNPROCESSABLE_ENTITY {
            Answer::status(code, Some("Invalid"), MESSAGE)
        } else {
            let status = Status {
                code,
                message: format!("{MESSAGE}: denied by a fault"),
                details: None,
                ..Status::denied(request.named(), "")
            };
            Answer::of(&status)
        };
        Some(RequestVerdict::Answer(answer))
    }
}
