//! The version of Kubernetes from any process: `/_control/kubernetes-version`.

use axum::{
    Json,
    body::Body,
    response::{IntoResponse, Response},
};
use fakeserver_value::status::Status;
use fakeserver_versions::KubernetesVersion;
use http::Method;
use serde::{Deserialize, Serialize};

use super::assembly::Server;
use crate::edge::request::read_body;

/// The body of an upgrade.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionRequest {
    version: String,
}

/// The version that is served, and all others.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct ServedVersions {
    /// The release that is served: `1.36.2`.
    version: &'static str,
    /// All releases, from old to new.
    versions: Vec<&'static str>,
}

/// `GET` returns the version that is served, and those that there are; `POST` serves another one.
///
/// # Cancel safety
///
/// Either the other version is served, or nothing has happened.
pub(super) async fn serve_version(server: &Server, method: &Method, body: Body) -> Response {
    match *method {
        Method::GET => {
            let answer = ServedVersions {
                version: server.backend().registry().kubernetes().release(),
                versions: KubernetesVersion::all()
                    .map(KubernetesVersion::release)
                    .collect(),
            };
            Json(answer).into_response()
        }
        Method::POST => match wanted(body).await {
            Ok(version) => Json(server.upgrade(version)).into_response(),
            Err(status) => status.into_response(),
        },
        _ => Status::method_not_allowed().into_response(),
    }
}

/// Reads the version that a body names.
async fn wanted(body: Body) -> Result<KubernetesVersion, Status> {
    let bytes = read_body(body).await?;
    let wanted: VersionRequest = serde_json::from_slice(&bytes).map_err(|error| {
        Status::bad_request(format!("a version is {{\"version\": \"1.36\"}}: {error}"))
    })?;
    let version = wanted.version.parse();
    version.map_err(|error| Status::bad_request(format!("version: {error}")))
}
