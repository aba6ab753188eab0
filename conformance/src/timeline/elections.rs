//! Events of candidates and of their lease.

use std::{io::Write, time::Duration};

use super::Teller;
use crate::{
    trace::ElectionEvent,
    tracefile::{EventKind, Role},
};

/// The number of the first request of candidates: those of informers have numbers of their own.
const FIRST_REQUEST: usize = 2_000_000;

impl<W: Write> Teller<W> {
    /// Tells of an election, without what only checkers need.
    pub(super) fn election(&mut self, at: Duration, event: &ElectionEvent) {
        let (name, kind) = match event {
            ElectionEvent::Status { .. }
            | ElectionEvent::IsCoordinated { .. }
            | ElectionEvent::Settled { .. } => return,
            ElectionEvent::Stands { candidacy }
            | ElectionEvent::Leads { candidacy, .. }
            | ElectionEvent::Lost { candidacy }
            | ElectionEvent::GaveUp { candidacy }
            | ElectionEvent::Stops { candidacy, .. }
            | ElectionEvent::Asks { candidacy, .. }
            | ElectionEvent::Answered { candidacy, .. } => {
                let name = candidacy.name();
                let actor = self.writer.actor(&name, Role::Candidate, None);
                self.causes.is_candidate(actor, candidacy.candidate);
                return self.say(at, actor, kind_of(event));
            }
            ElectionEvent::LeaseChanged { .. } | ElectionEvent::Meddled { .. } => {
                ("lease", EventKind::note(event.to_string()))
            }
            _ => ("election", EventKind::note(event.to_string())),
        };
        let actor = self.writer.actor(name, Role::Harness, None);
        self.causes.is_of_election(actor);
        self.say(at, actor, kind);
    }
}

/// Returns the event of a candidate.
fn kind_of(event: &ElectionEvent) -> EventKind {
    let say = event.to_string();
    match event {
        ElectionEvent::Leads { .. } => EventKind::Lead { say },
        ElectionEvent::Lost { .. } | ElectionEvent::GaveUp { .. } | ElectionEvent::Stops { .. } => {
            EventKind::Follow { say }
        }
        ElectionEvent::Asks {
            request, method, ..
        } => EventKind::Request {
            request: FIRST_REQUEST + request,
            verb: method.to_lowercase(),
            say: format!("{method} of the lease"),
            object: None,
        },
        ElectionEvent::Answered {
            request,
            status,
            lease,
            ..
        } => EventKind::Answer {
            request: FIRST_REQUEST + request,
            code: *status,
            say: lease.as_ref().map(ToString::to_string).unwrap_or_default(),
            revision: None,
        },
        _ => EventKind::note(say),
    }
}
