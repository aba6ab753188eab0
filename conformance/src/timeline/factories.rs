//! Events of the informers of a factory.

use std::{io::Write, time::Duration};

use super::{Teller, wire::end_of};
use crate::{
    trace::{FactoryEvent, FactoryRequest},
    tracefile::{EventKind, Role},
};

/// The number of the first request of a factory: those of informers have numbers of their own.
const FIRST_REQUEST: usize = 1_000_000;

impl<W: Write> Teller<W> {
    /// Tells of the factory, without contents of caches.
    pub(super) fn factory(&mut self, at: Duration, event: &FactoryEvent) {
        let kind = match event {
            FactoryEvent::Cached { .. } | FactoryEvent::Wanted { .. } => return,
            FactoryEvent::Asks {
                request,
                list,
                kind,
            } => {
                let (verb, what) = match kind {
                    FactoryRequest::List => ("list", "list"),
                    FactoryRequest::Page => ("list", "next page of"),
                    FactoryRequest::Watch => ("watch", "watch"),
                };
                EventKind::Request {
                    request: FIRST_REQUEST + request,
                    verb: verb.to_owned(),
                    say: format!("{what} {list}"),
                    object: None,
                }
            }
            FactoryEvent::Answers { request, status } => EventKind::Answer {
                request: FIRST_REQUEST + request,
                code: Some(*status),
                say: String::new(),
                revision: None,
            },
            FactoryEvent::Ends { request, ending } => EventKind::End {
                request: FIRST_REQUEST + request,
                how: end_of(*ending),
            },
            other => EventKind::note(other.to_string()),
        };
        let actor = self.writer.actor("factory", Role::Client, None);
        self.say(at, actor, kind);
    }
}
