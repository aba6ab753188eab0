//! Authentication, impersonation and authorization of requests.

use std::sync::Arc;

use axum::response::Response;
use fakeserver_kinds::rbac::policy::Access;
use fakeserver_value::status::Status;
use http::{HeaderMap, HeaderValue, header, request::Parts};
use tracing::info;
use uuid::Uuid;

use crate::{
    edge::{
        authentication::Peer,
        authorization::{Authorizer, impersonation, request_attributes},
        flow_control::FlowClassifier,
        request::Query,
        response::refusal,
    },
    verbs::{Api, Requester},
};

/// The rules by which requests are authorized and classified.
#[derive(Debug)]
pub(super) struct AccessControl {
    pub(super) authorizer: Authorizer,
    pub(super) flows: FlowClassifier,
    /// The uids of the flow schema and the priority level of requests that no stored flow schema matches.
    pub(super) default_flow: (Uuid, Uuid),
}

/// Authenticates a request. The handler refuses a request that is not authorized later. An answer here means that
/// authentication or impersonation failed.
pub(super) fn admit(
    api: &Api,
    authorizer: &Authorizer,
    parts: &Parts,
    query: &Query,
) -> Result<Requester, Box<Response>> {
    let headers = &parts.headers;
    let backend = &api.backend;
    let peer = parts.extensions.get::<Peer>();
    let user = api
        .authenticator
        .authenticate(headers, peer, &backend.storage, backend.clock.now())
        .map_err(|error| {
            // The answer does not say why.
            info!(%error, path = parts.uri.path(), "unable to authenticate the request");
            Box::new(refusal(headers, Status::unauthorized()))
        })?;
    // One policy for the whole request: its impersonation and all its permissions are decided by the same roles.
    let access = authorizer.access(&backend.storage);
    let impersonation_request =
        impersonation(headers).map_err(|why| Box::new(inconsistent_headers(headers, &why)))?;
    let (user, impersonator) = match impersonation_request {
        None => (user, None),
        Some(impersonation_request) => {
            // Decided for the original user, before the identity changes.
            for need in &impersonation_request.needs {
                let asking = Requester::new(Arc::clone(&user), access.clone());
                if let Some(refused) = asking.wanting(need).refusal(headers) {
                    return Err(Box::new(refused));
                }
            }
            (Arc::new(impersonation_request.user), Some(user))
        }
    };
    let mut requester = Requester::new(user, access);
    requester.impersonator = impersonator;
    if matches!(requester.access, Access::All) {
        return Ok(requester);
    }
    let attributes = request_attributes(&parts.method, parts.uri.path(), query);
    Ok(requester.wanting(&attributes))
}

/// Answers a request with inconsistent headers.
fn inconsistent_headers(headers: &HeaderMap, why: &str) -> Response {
    let mut response = refusal(headers, Status::bad_request(why));
    response.headers_mut().insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}
