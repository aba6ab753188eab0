//! Requests in a trace: their begin, their response and their end.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{body::Body, response::Response};
use http_body::Body as _;

use super::{TraceLog, line::Ending};
use crate::server::{
    observed_body::{BodyObserver, PolledFrame, observe},
    requests::RequestRecord,
};

/// The maximum number of characters of a request's path and query.
const SAID_MAX: usize = 300;

/// A request in the trace. Dropping it records a request without a response.
pub(in crate::server) struct Traced {
    log: TraceLog,
    request: usize,
    is_answered: bool,
}

/// An observer that adds the end of a body to the trace.
struct TracedBody {
    log: TraceLog,
    request: usize,
    ending: Ending,
}

// === impl Traced ===

impl Traced {
    /// Adds a request to the trace, unless the trace has ended.
    pub(in crate::server) fn begin(log: &TraceLog, record: &RequestRecord) -> Option<Self> {
        let method = record.method.as_str();
        let verb = match record.facts.verb {
            "" => method.to_lowercase(),
            verb => verb.to_owned(),
        };
        let mut say = format!("{method} {}", record.path);
        for (place, (name, value)) in record.query.iter().enumerate() {
            let before = if place == 0 { '?' } else { '&' };
            say.extend([before]);
            say.extend([name, "=", value]);
        }
        if let Some((end, _)) = say.char_indices().nth(SAID_MAX) {
            say.truncate(end);
            say.push('…');
        }
        let request = log.ask(&record.facts.client, &verb, &say)?;
        Some(Self {
            log: log.clone(),
            request,
            is_answered: false,
        })
    }

    /// Adds the head of the answer, and the end of its body when that comes.
    pub(in crate::server) fn answer(mut self, response: Response) -> Response {
        self.is_answered = true;
        let (log, request) = (self.log.clone(), self.request);
        log.answer(request, Some(response.status().as_u16()));
        response.map(|body| {
            let ending = if body.is_end_stream() {
                Ending::Clean
            } else {
                Ending::Dropped
            };
            let traced = TracedBody {
                log,
                request,
                ending,
            };
            observe(body, traced)
        })
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        if !self.is_answered {
            self.log.answer(self.request, None);
        }
    }
}

// === impl TracedBody ===

impl BodyObserver for TracedBody {
    fn poll_frame(&mut self, body: &mut Body, context: &mut Context<'_>) -> PolledFrame {
        let polled = Pin::new(&mut *body).poll_frame(context);
        match &polled {
            Poll::Ready(None) => self.ending = Ending::Clean,
            Poll::Ready(Some(Err(_))) => self.ending = Ending::Broken,
            Poll::Ready(Some(Ok(_))) if body.is_end_stream() => self.ending = Ending::Clean,
            _ => {}
        }
        polled
    }

    fn end(&mut self, _: Body) {
        self.log.end_of(self.request, self.ending);
    }
}
