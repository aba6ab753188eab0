//! A replica that has not come as far as its client.

use std::time::Duration;

use crate::{
    faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict},
    status::Status,
};

/// See [`version_too_large`].
#[derive(Debug, Clone, Copy)]
pub struct VersionTooLarge {
    wait: Duration,
}

/// A read that names a version (a list, a get, a streaming list) waits so long, three seconds at a real server, and is then
/// told that the server has not come so far: 504, by an ERROR event if it is a watch.
pub fn version_too_large(wait: Duration) -> NamedRule<VersionTooLarge> {
    NamedRule::new(VersionTooLarge { wait })
}

impl Effect for VersionTooLarge {
    fn name(&self) -> &'static str {
        "version_too_large"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let asked = request.asked_version()?;
        // What is behind a list is a page of it, and what a watch names is where it goes on: neither waits.
        let status = Status::version_too_large(asked, asked - 1);
        let answer = match request.verb {
            "get" => Answer::of(&status),
            "list" if !request.has_continue => Answer::of(&status),
            "watch" if request.is_watch_list => Answer::error_event(&status),
            _ => return None,
        };
        let after = self.wait;
        Some(RequestVerdict::AnswerLater { after, answer })
    }
}
