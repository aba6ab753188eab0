//! Events of what crossed the transport.

use std::{io::Write, time::Duration};

use super::Teller;
use crate::{
    trace::{Ending as Ended, Member, Observation, RequestKind},
    tracefile::{Ending, Event, EventKind},
};

impl<W: Write> Teller<W> {
    /// Tells of what crossed the transport; other observations are left out.
    pub(super) fn on_the_wire(&mut self, at: Duration, observation: &Observation) {
        let kind = match observation {
            Observation::Request {
                informer,
                request,
                kind,
            } => return self.asked(at, *informer, *request, kind),
            Observation::Called {
                informer,
                text,
                status,
            } => return self.called(at, *informer, text, *status),
            Observation::Answer { request, status } => EventKind::Answer {
                request: *request,
                code: Some(*status),
                say: String::new(),
                revision: None,
            },
            Observation::Page {
                request,
                revision,
                has_more,
                members,
            } => EventKind::Page {
                request: *request,
                revision: *revision,
                more: *has_more,
                list: self.list(self.asker(*request), members),
            },
            Observation::Frame {
                request,
                kind,
                member,
            } => self.frame(*request, kind, member),
            Observation::Bookmark {
                request,
                revision,
                ends_initial_events,
            } => EventKind::Bookmark {
                request: *request,
                revision: *revision,
                say: match ends_initial_events {
                    true => "the end of the initial events".to_owned(),
                    false => String::new(),
                },
            },
            Observation::ErrorEvent { request, status } => {
                EventKind::note(format!("sends on {request}: ERROR {status}"))
            }
            Observation::Garbled { request } => {
                EventKind::note(format!("sends on {request}: no event"))
            }
            Observation::Refused { request } => end(*request, Ending::Refused),
            Observation::Ended { request, ending } => {
                let kind = end(*request, end_of(*ending));
                if *ending == Ended::Dropped {
                    let client = self.informer(self.asker(*request));
                    return self.say(at, client, kind);
                }
                kind
            }
            _ => return,
        };
        self.say(at, self.server, kind);
    }

    /// Returns the informer that sent a request.
    fn asker(&self, request: usize) -> usize {
        self.requests.get(&request).copied().unwrap_or_default()
    }

    fn asked(&mut self, at: Duration, informer: usize, request: usize, kind: &RequestKind) {
        self.requests.insert(request, informer);
        let (verb, say) = match kind {
            RequestKind::List {
                is_continued: true, ..
            } => ("list", "next page".to_owned()),
            RequestKind::List { revision, .. } => ("list", format!("list from \"{revision}\"")),
            RequestKind::Watch {
                revision,
                is_streaming_list: true,
            } => ("watch", format!("streaming list from \"{revision}\"")),
            RequestKind::Watch { revision, .. } => ("watch", format!("watch from \"{revision}\"")),
        };
        let actor = self.informer(informer);
        let kind = EventKind::Request {
            request,
            verb: verb.to_owned(),
            say,
            object: None,
        };
        self.say(at, actor, kind);
    }

    /// Tells of another request, a write mostly, and of what was read before.
    fn called(&mut self, at: Duration, informer: usize, text: &str, status: Option<u16>) {
        let answer = status.map_or_else(|| "nothing".to_owned(), |status| status.to_string());
        let actor = self.informer(informer);
        let kind = EventKind::note(format!("calls {text}, answered {answer}"));
        let causes = self.causes.read_before(informer, text);
        self.event(&Event::new(at, actor, kind).with_causes(causes));
    }

    fn frame(&mut self, request: usize, kind: &str, member: &Member) -> EventKind {
        let informer = self.asker(request);
        EventKind::Frame {
            request,
            change: kind.to_owned(),
            object: self.object(informer, &member.key, &member.state.uid),
            revision: member.state.revision,
        }
    }
}

pub(super) const fn end_of(ending: Ended) -> Ending {
    match ending {
        Ended::Clean => Ending::Clean,
        Ended::Broken => Ending::Broken,
        Ended::Dropped => Ending::Dropped,
    }
}

const fn end(request: usize, how: Ending) -> EventKind {
    EventKind::End { request, how }
}
