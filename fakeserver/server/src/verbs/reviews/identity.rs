//! Self-subject reviews: the requester's own identity.

use serde_json::{Value, json};

use super::empty_review;
use crate::verbs::{Api, Request};

/// Answers a `SelfSubjectReview`.
pub(super) fn answer(api: &Api, request: &Request<'_>) -> Value {
    let now = api.backend.clock.now_text();
    let mut answer = empty_review(&request.target, &json!({"creationTimestamp": now}));
    answer["status"] = json!({"userInfo": request.requester.user.to_json()});
    answer
}
