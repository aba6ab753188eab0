//! What a test may do to the proxy, from any process: `/_control/faults`.

use axum::{
    Json,
    body::Body,
    response::{IntoResponse, Response},
};
use fakeserver::faults::{Answer, FaultSpec};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Proxy, driver};

/// How many faults may be in force.
const FAULTS_MAX: usize = 1_000;

/// `POST /_control/faults` installs one and gives its id, `GET` lists all, `DELETE` removes all;
/// `DELETE /_control/faults/ID` removes one.
pub(super) async fn handle(proxy: &Proxy, method: &Method, action: &str, body: Body) -> Response {
    let (resource, id) = match action.split_once('/') {
        Some((resource, id)) => (resource, Some(id)),
        None => (action, None),
    };
    if resource != "faults" {
        return StatusCode::NOT_FOUND.into_response();
    }
    match (method, id) {
        (&Method::GET, None) => Json(proxy.faults().installed()).into_response(),
        (&Method::POST, None) => match install(proxy, body).await {
            Ok(id) => (StatusCode::CREATED, Json(json!({"id": id}))).into_response(),
            Err(refusal) => refusal.into_response(),
        },
        (&Method::DELETE, None) => {
            for fault in proxy.faults().installed() {
                proxy.faults().remove(fault.id);
            }
            StatusCode::NO_CONTENT.into_response()
        }
        (&Method::DELETE, Some(id)) => {
            let is_removed = id.parse().is_ok_and(|id| proxy.faults().remove(id));
            if is_removed {
                StatusCode::NO_CONTENT.into_response()
            } else {
                let message = format!("no fault {id} is in force");
                Answer::status(StatusCode::NOT_FOUND, Some("NotFound"), &message).into_response()
            }
        }
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

async fn install(proxy: &Proxy, body: Body) -> Result<u64, Answer> {
    let bad = |message: &str| Answer::status(StatusCode::BAD_REQUEST, Some("BadRequest"), message);
    let body = driver::read(body).await?;
    let value: Value = serde_json::from_slice(&body).map_err(|error| bad(&error.to_string()))?;
    let spec = FaultSpec::from_value(value).map_err(|error| bad(&error.to_string()))?;
    if proxy.faults().installed().len() >= FAULTS_MAX {
        let message = format!("{FAULTS_MAX} faults are in force, and no more may be");
        let code = StatusCode::TOO_MANY_REQUESTS;
        return Err(Answer::status(code, Some("TooManyRequests"), &message));
    }
    let guard = proxy.install(&spec).map_err(|error| {
        let code = StatusCode::UNPROCESSABLE_ENTITY;
        Answer::status(code, Some("Invalid"), &error.to_string())
    })?;
    let id = guard.id();
    guard.detach();
    Ok(id)
}
