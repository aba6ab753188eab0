//! Self-subject reviews: the requester's own identity.

use serde_json::{Value, json};

use super::blank;
use crate::verbs::{Api, Request};

/// Tells who has asked.
pub(super) fn answer(api: &Api, request: &Request<'_>) -> Value {
    let now = api.backend.clock.now_text();
    let mut answer = blank(&request.target, &json!({"creationTimestamp": now}));
    answer["status"] = json!({"userInfo": request.requester.user.to_json()});
    answer
}
