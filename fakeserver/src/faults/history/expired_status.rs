//! 410 in its second form: the status of a request.

use crate::{
    faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict},
    status::Status,
    storage::continue_token::ContinueToken,
};

/// See [`expired_status`].
#[derive(Debug, Clone, Copy)]
pub struct ExpiredStatus {
    has_replacement: bool,
}

/// A watch, a list at a version, or the continuation of a list is answered with 410. A continuation is told how to go on
/// with the state of now.
pub fn expired_status() -> NamedRule<ExpiredStatus> {
    NamedRule::new(ExpiredStatus {
        has_replacement: true,
    })
}

// === impl ExpiredStatus ===

impl NamedRule<ExpiredStatus> {
    /// A continuation is not told how to go on: the list has to begin anew.
    pub fn without_replacement_token(mut self) -> Self {
        self.effect_mut().has_replacement = false;
        self
    }
}

impl ExpiredStatus {
    /// The token to go on with, if the one of `request` is one of this server's.
    fn replacement(self, request: &RequestFacts) -> Option<String> {
        let token = ContinueToken::decode(&request.continue_token).ok();
        let token = token.filter(|_| self.has_replacement)?;
        let latest = ContinueToken {
            revision: None,
            start: token.start,
        };
        Some(latest.encode())
    }
}

impl Effect for ExpiredStatus {
    fn name(&self) -> &'static str {
        "expired_status"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let asked = request.asked_version();
        let status = match request.verb {
            "watch" if !request.is_watch_list => {
                Status::watch_expired(asked?, request.revision.max(asked? + 1))
            }
            "list" if request.has_continue => match self.replacement(request) {
                Some(token) => Status::continue_expired(token),
                None => Status::list_expired(),
            },
            "list" if asked.is_some() => Status::list_expired(),
            _ => return None,
        };
        Some(RequestVerdict::Answer(Answer::of(&status)))
    }
}
