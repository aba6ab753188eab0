//! Smaller requests in place of a given one.

use std::collections::VecDeque;

use serde_json::Value;

use super::request::{Body, Case, Request};

/// The number of requests that are tried, at most.
const ATTEMPT_COUNT_MAX: usize = 400;
/// The length above which a text is worth shortening.
const TEXT_LENGTH: usize = 8;

/// The search for the smallest request that still differs.
///
/// Each [`candidate`](Self::candidate) lacks one part of the smallest request so far. The owner plays it, and
/// [accepts](Self::accept) it if it differs in the same way.
#[derive(Clone, Debug)]
pub(super) struct Shrinker {
    smallest: Case,
    candidates: Vec<Request>,
    place: usize,
    has_shrunk: bool,
    attempt_count: usize,
}

// === impl Shrinker ===

impl Shrinker {
    /// Creates a search that begins with `case`.
    pub(super) fn new(case: Case) -> Self {
        Self {
            candidates: reductions(&case.request),
            smallest: case,
            place: 0,
            has_shrunk: false,
            attempt_count: 0,
        }
    }

    /// Returns the next request to be tried; `None` if the search is over.
    pub(super) fn candidate(&mut self) -> Option<Case> {
        if self.place == self.candidates.len() && self.has_shrunk {
            self.place = 0;
            self.has_shrunk = false;
        }
        let request = self.candidates.get(self.place)?.clone();
        if self.attempt_count == ATTEMPT_COUNT_MAX {
            return None;
        }
        self.attempt_count += 1;
        self.place += 1;
        Some(Case {
            request,
            ..self.smallest.clone()
        })
    }

    /// Makes the last candidate the smallest request.
    pub(super) fn accept(&mut self, candidate: Case) {
        self.smallest = candidate;
        self.candidates = reductions(&self.smallest.request);
        // The parts before this one were tried already; the next one has moved into its place.
        self.place = (self.place - 1).min(self.candidates.len());
        self.has_shrunk = true;
    }

    /// Returns the smallest request.
    pub(super) fn into_smallest(self) -> Case {
        self.smallest
    }
}

/// Returns the requests that lack one part of this one, large parts first. All of them change nothing.
fn reductions(request: &Request) -> Vec<Request> {
    let mut all = Vec::new();
    for name in request.headers.keys() {
        let mut smaller = request.clone();
        smaller.headers.remove(name);
        all.push(smaller);
    }
    if let Some((path, query)) = request.path.split_once('?') {
        let parameters: Vec<&str> = query.split('&').collect();
        for place in 0..parameters.len() {
            let mut left = parameters.clone();
            left.remove(place);
            let path = if left.is_empty() {
                path.to_owned()
            } else {
                format!("{path}?{}", left.join("&"))
            };
            all.push(Request {
                path,
                ..request.clone()
            });
        }
    }
    if let Some(Body::Json(text)) = &request.body
        && let Ok(body) = serde_json::from_str::<Value>(text)
    {
        let bodies = smaller_values(&body).into_iter();
        all.extend(bodies.map(|body| request.clone().with_body(Body::Json(body.to_string()))));
    }
    all.retain(Request::is_harmless);
    all
}

/// Returns the values that lack one field, item or half of a text, in order of depth.
fn smaller_values(value: &Value) -> Vec<Value> {
    let mut smaller = Vec::new();
    let mut shortened = Vec::new();
    let mut pointers = VecDeque::from([String::new()]);
    while let Some(pointer) = pointers.pop_front() {
        let without = |change: &dyn Fn(&mut Value)| {
            let mut copy = value.clone();
            copy.pointer_mut(&pointer).map(change);
            copy
        };
        match value.pointer(&pointer) {
            Some(Value::Object(fields)) => {
                for key in fields.keys() {
                    smaller.push(without(&|object| {
                        if let Some(fields) = object.as_object_mut() {
                            fields.remove(key);
                        }
                    }));
                    let escaped = key.replace('~', "~0").replace('/', "~1");
                    pointers.push_back(format!("{pointer}/{escaped}"));
                }
            }
            Some(Value::Array(items)) => {
                for index in 0..items.len() {
                    smaller.push(without(&|list| {
                        if let Some(items) = list.as_array_mut() {
                            items.remove(index);
                        }
                    }));
                    pointers.push_back(format!("{pointer}/{index}"));
                }
            }
            Some(Value::String(text))
                if text.chars().count() > TEXT_LENGTH && !text.contains("${") =>
            {
                let half: String = text.chars().take(text.chars().count() / 2).collect();
                shortened.push(without(&|text| *text = Value::String(half.clone())));
            }
            _ => {}
        }
    }
    smaller.append(&mut shortened);
    smaller
}
