//! The recent requests and their answers, for assertions in tests.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bytes::{Bytes, BytesMut};
use http::{Method, StatusCode};

use crate::faults::RequestFacts;

/// The default number of recorded requests.
pub(crate) const REQUESTS_KEPT: usize = 1_000;

/// A request, and how it was answered.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestRecord {
    /// The number of the request, counted from 0 since the server was built or reset. If the first recorded number is
    /// not 0, older records were dropped.
    pub number: u64,
    /// The method.
    pub method: Method,
    /// The path as sent, at most the first 8 KiB; the query has the same limit.
    pub path: String,
    /// The facts for fault rules, as far as the head of the request has them.
    ///
    /// The verb is empty if the request is not about a resource, or if its method is no verb there. The user is always
    /// empty: the log precedes authentication.
    pub facts: RequestFacts,
    /// The parameters, decoded, in their order.
    pub query: Vec<(String, String)>,
    /// The `User-Agent`; of a longer one the first 1 KiB.
    pub user_agent: String,
    /// The status code of the response; `None` until there is one.
    pub code: Option<StatusCode>,
    /// The part of the body that was read, if [bodies are kept](crate::FakeServerBuilder::with_request_bodies).
    pub body: Bytes,
}

/// The last requests of one server, up to a limit.
#[derive(Debug)]
pub(crate) struct Requests {
    limit: usize,
    pub(crate) keeps_bodies: bool,
    ring: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    records: VecDeque<RequestRecord>,
    /// The number of the next request.
    next: u64,
    forgotten: u64,
}

// === impl RequestRecord ===

impl RequestRecord {
    /// The value of a parameter; of several, the first.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut parameters = self.query.iter();
        parameters
            .find(|(parameter, _)| parameter == name)
            .map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for RequestRecord {
    /// Without the contents of the body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestRecord")
            .field("number", &self.number)
            .field("method", &self.method)
            .field("path", &self.path)
            .field("verb", &self.facts.verb)
            .field("query", &self.query)
            .field("user_agent", &self.user_agent)
            .field("code", &self.code)
            .field("body_size_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

// === impl Requests ===

impl Requests {
    pub(crate) fn new(limit: usize, keeps_bodies: bool) -> Self {
        Self {
            limit,
            keeps_bodies,
            ring: Mutex::default(),
        }
    }

    /// Records a request, and returns its number. The oldest records beyond the limit are dropped.
    pub(crate) fn begin(&self, mut record: RequestRecord) -> u64 {
        let mut ring = self.lock();
        let number = ring.next;
        ring.next += 1;
        record.number = number;
        ring.records.push_back(record);
        while ring.records.len() > self.limit {
            ring.records.pop_front();
            ring.forgotten += 1;
        }
        number
    }

    /// Records the status code of a request.
    pub(crate) fn answered(&self, number: u64, code: StatusCode) {
        if let Some(record) = self.lock().find(number) {
            record.code = Some(code);
        }
    }

    /// Appends a part of the body to a record.
    pub(crate) fn body(&self, number: u64, part: &Bytes) {
        let mut ring = self.lock();
        let Some(record) = ring.find(number) else {
            return;
        };
        if record.body.is_empty() {
            record.body = part.clone();
            return;
        }
        let mut whole = BytesMut::from(&*record.body);
        whole.extend_from_slice(part);
        record.body = whole.freeze();
    }

    pub(crate) fn all(&self) -> Vec<RequestRecord> {
        self.lock().records.iter().cloned().collect()
    }

    pub(crate) fn take(&self) -> Vec<RequestRecord> {
        std::mem::take(&mut self.lock().records).into()
    }

    /// Returns the number of requests that were dropped from the log.
    pub(crate) fn forgotten(&self) -> u64 {
        self.lock().forgotten
    }

    pub(crate) fn reset(&self) {
        *self.lock() = Ring::default();
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Ring ===

impl Ring {
    /// Returns a record. Records have consecutive numbers, so the number gives the index.
    fn find(&mut self, number: u64) -> Option<&mut RequestRecord> {
        let first = self.records.front()?.number;
        let place = usize::try_from(number.checked_sub(first)?).ok()?;
        self.records.get_mut(place)
    }
}
