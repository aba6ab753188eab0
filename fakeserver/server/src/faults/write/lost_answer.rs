//! A write whose answer is lost.

use std::io::ErrorKind;

use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::faults::{
    Answer, CatalogueEntry, Definition, Property, Recovery, Replacement, RequestFacts,
    RequestVerdict, Target,
    definition::{is_default, is_true},
};

/// The parameters of [`Fault::LostAnswer`](crate::faults::Fault::LostAnswer).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LostAnswer {
    /// The substitute for the answer.
    #[serde(skip_serializing_if = "is_default")]
    #[serde(rename = "heard")]
    pub form: LostAnswerForm,
    /// True, the default, if the write takes effect.
    #[serde(skip_serializing_if = "is_true")]
    pub applied: bool,
}

/// The substitute for an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LostAnswerForm {
    /// A reset of the connection.
    #[default]
    Reset,
    /// 504 of a load balancer that did not wait for the answer.
    Timeout,
}

impl Default for LostAnswer {
    fn default() -> Self {
        Self {
            form: LostAnswerForm::Reset,
            applied: true,
        }
    }
}

impl Definition for LostAnswer {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F19",
        fault: "lost_answer",
        parameters: &["heard", "applied"],
        effect: "Loses the answer to a write: its client receives a `reset` of the connection, or a `timeout`, 504 of a load \
                 balancer. The write takes effect unless `applied` is false, and the client cannot tell the difference. With \
                 `nth` it is the k-th write of a client.",
        models: "a write whose answer is lost, whether or not it took effect",
        suffered: "Sieve: 11 of its 46 bugs are intermediate states",
        target: Target::Writes,
        recovery: Recovery::Unaffected,
        properties: &[Property::NeedsTcp],
    };

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        if !request.is_write() {
            return None;
        }
        let timeout = || Answer::text(StatusCode::GATEWAY_TIMEOUT, "Gateway Timeout\n");
        Some(match (self.form, self.applied) {
            (LostAnswerForm::Reset, true) => RequestVerdict::ReplaceAnswer(Replacement::Disconnect),
            (LostAnswerForm::Reset, false) => RequestVerdict::Sever(ErrorKind::ConnectionReset),
            (LostAnswerForm::Timeout, true) => {
                RequestVerdict::ReplaceAnswer(Replacement::Answer(timeout()))
            }
            (LostAnswerForm::Timeout, false) => RequestVerdict::Answer(timeout()),
        })
    }
}
