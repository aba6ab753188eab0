//! Token reviews: the user of a token.

use fakeserver_value::status::Status;
use serde_json::{Value, json};

use crate::verbs::Api;

/// Answers a `TokenReview`: the user of a token that is valid for the audiences.
pub(super) fn answer(api: &Api, mut review: Value) -> Result<Value, Status> {
    let spec = &review["spec"];
    let token = spec["token"].as_str().unwrap_or_default();
    if token.is_empty() {
        return Err(Status::bad_request(
            "token is required for TokenReview in authentication",
        ));
    }
    let audiences = spec["audiences"].as_array().into_iter().flatten();
    let mut audiences: Vec<String> = audiences
        .filter_map(|audience| audience.as_str().map(str::to_owned))
        .collect();
    if audiences.is_empty() {
        audiences.extend_from_slice(api.authenticator.signer().audiences());
    }
    let backend = &api.backend;
    let now = backend.clock.now();
    let authenticated = api
        .authenticator
        .token_user(token, &audiences, &backend.storage, now);
    review["status"] = match authenticated {
        Ok(authenticated) => json!({
            "authenticated": true,
            "user": authenticated.user.to_json(),
            "audiences": authenticated.audiences,
        }),
        Err(error) => json!({"user": {}, "error": error.to_string()}),
    };
    Ok(review)
}
