//! A webhook that does not like what it sees.

use http::StatusCode;

use crate::{
    faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict},
    status::Status,
};

/// See [`denied`].
#[derive(Debug, Clone, Copy)]
pub struct Denied {
    code: StatusCode,
}

const WORDS: &str = "admission webhook \"fault.fakeserver.dev\" denied the request";

/// A write is refused in the words of an admission webhook: with `code`, which is 403 or 422.
pub fn denied(code: StatusCode) -> NamedRule<Denied> {
    NamedRule::new(Denied { code })
}

impl Effect for Denied {
    fn name(&self) -> &'static str {
        "denied"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        if !request.is_write() {
            return None;
        }
        let answer = if self.code == StatusCode::UNPROCESSABLE_ENTITY {
            Answer::status(self.code, Some("Invalid"), WORDS)
        } else {
            let status = Status {
                code: self.code,
                message: format!("{WORDS}: denied by a fault"),
                details: None,
                ..Status::denied(request.named(), "")
            };
            Answer::of(&status)
        };
        Some(RequestVerdict::Answer(answer))
    }
}
