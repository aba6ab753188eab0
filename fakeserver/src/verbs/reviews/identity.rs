//! Self-subject reviews: the requester's own identity.

use serde_json::{Value, json};

use super::blank;
use crate::verbs::Call;

/// Tells who has asked.
pub(super) fn answer(call: &Call<'_>) -> Value {
    let now = call.api.backend.clock.now_text();
    let mut answer = blank(call, &json!({"creationTimestamp": now}));
    answer["status"] = json!({"userInfo": call.requester.user.to_json()});
    answer
}
