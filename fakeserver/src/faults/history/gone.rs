//! 410 as old servers and things in between say it.

use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::{
    faults::{
        Answer, Effect, FrameFacts, FrameVerdict, NamedRule, RequestFacts, RequestVerdict,
        verdict::error_frame,
    },
    status::Status,
};

/// How 410 is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GoneForm {
    /// By an ERROR event in place of a frame, with the reason `Gone`, as servers before 1.18 have it.
    #[default]
    Event,
    /// By the status of a request that names a version, with the reason `Gone`.
    Status,
    /// By the status of a request that names a version, with a text for a body that is no `Status`.
    Text,
}

/// See [`gone`].
#[derive(Debug, Clone, Copy)]
pub struct Gone {
    form: GoneForm,
}

/// 410 with the reason `Gone` instead of `Expired`, or without any: it means the same.
pub fn gone(form: GoneForm) -> NamedRule<Gone> {
    NamedRule::new(Gone { form })
}

fn status(version: u64, oldest: u64) -> Status {
    Status {
        reason: "Gone".into(),
        ..Status::watch_expired(version, oldest)
    }
}

impl Effect for Gone {
    fn name(&self) -> &'static str {
        "gone"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let asked = request.asked_version();
        let names_version = match request.verb {
            "watch" => asked.is_some() && !request.is_watch_list,
            "list" => asked.is_some() || request.has_continue,
            _ => false,
        };
        if !names_version || self.form == GoneForm::Event {
            return None;
        }
        let asked = asked.unwrap_or_default();
        let answer = match self.form {
            GoneForm::Text => Answer::text(StatusCode::GONE, "Gone\n"),
            _ => Answer::of(&status(asked, request.revision.max(asked + 1))),
        };
        Some(RequestVerdict::Answer(answer))
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let status = status(frame.revision, frame.revision + 1);
        (self.form == GoneForm::Event).then(|| FrameVerdict::EndWith(error_frame(&status)))
    }
}
