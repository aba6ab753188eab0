//! Control of the server for tests, from any process: `/_control/*`.

use axum::{
    Json,
    body::Body,
    response::{IntoResponse, Response},
};
use http::{Method, StatusCode, header};
use tracing::error;

use super::control_openapi::document;
use super::{
    assembly::Server,
    control_faults::{serve_faults, unserved},
    control_version::serve_version,
    data, initial_state,
};
use crate::{faults::FaultSpec, task};

/// `POST /_control/{compact,expire,disconnect,reset,snapshot}` and `GET /_control/{stats,snapshot}`.
///
/// `GET /_control/openapi.json` describes those, without itself.
///
/// To get the snapshot is to have it; to post to it is to have it written to the data file.
///
/// `faults` and what is below it are [a function of their own](serve_faults), and so is [`kubernetes-version`](serve_version).
pub(super) async fn handle(server: &Server, method: &Method, action: &str, body: Body) -> Response {
    let backend = server.backend();
    let faults = action.strip_prefix("faults");
    if let Some(below) = faults.filter(|below| below.is_empty() || below.starts_with('/')) {
        let below = below.strip_prefix('/');
        let warning = |spec: &FaultSpec| unserved(&server.api.registry(), spec);
        return serve_faults(&server.api.faults, |_| None, warning, method, below, body).await;
    }
    if action == "kubernetes-version" {
        return serve_version(server, method, body).await;
    }
    let is_expected = match action {
        "stats" | "openapi.json" => method == Method::GET,
        "compact" | "expire" | "disconnect" | "reset" => method == Method::POST,
        "snapshot" => method == Method::GET || method == Method::POST,
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    if !is_expected {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    match action {
        "stats" => return Json(server.stats()).into_response(),
        "openapi.json" => return Json(document()).into_response(),
        "snapshot" if method == Method::GET => {
            let kind = [(header::CONTENT_TYPE, "application/jsonl")];
            return (kind, server.snapshot().to_bytes()).into_response();
        }
        "snapshot" => return save(server),
        "reset" if backend.storage.log().is_some() => {
            let why = "the state in the log is not this server's alone, and is not reset\n";
            return (StatusCode::CONFLICT, why).into_response();
        }
        "compact" => backend.storage.compact(),
        "expire" => backend.storage.expire(),
        "disconnect" => backend.watchers.disconnect(),
        _ => {
            initial_state::reset(server);
            if let Some(log) = backend.durability()
                && let Err(reason) = log.settled().await
            {
                error!(%reason, "the server was reset, but not on the disk");
                let why = format!("{reason}; the server was reset, but not on the disk\n");
                return (StatusCode::INTERNAL_SERVER_ERROR, why).into_response();
            }
        }
    }
    StatusCode::NO_CONTENT.into_response()
}

fn save(server: &Server) -> Response {
    if server.data.is_none() {
        let why = "this server keeps its state in memory; `serve --data FILE` keeps it on disk\n";
        return (StatusCode::CONFLICT, why).into_response();
    }
    match task::block(|| data::save(server)) {
        Ok(_) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => {
            error!(error = &error as &dyn std::error::Error, "state not saved");
            (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response()
        }
    }
}
