//! Who makes a request, as whom, and whether he may.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::{StatusCode, header, request::Parts};

use crate::{
    authentication::Peer,
    authorization::{Access, Attributes, impersonation},
    handlers::Requester,
    request::Query,
    response::refusal,
    state::Core,
    status::Status,
};

/// Finds out who makes a request. One that is not allowed is told so later, by its handler; an answer at once means that
/// nobody has made it, or that he may not act as another one.
pub(super) fn admit(core: &Core, parts: &Parts, query: &Query) -> Result<Requester, Box<Response>> {
    let headers = &parts.headers;
    let peer = parts.extensions.get::<Peer>();
    let user = core
        .authenticator
        .authenticate(headers, peer, &core.storage, core.clock.now())
        .map_err(|_| Box::new(refusal(headers, Status::unauthorized())))?;
    let access = core.authorizer.access(&core.storage);
    let asked = impersonation(headers).map_err(|why| Box::new(misguided(parts, &why)))?;
    let user = match asked {
        None => user,
        Some(asked) => {
            for need in &asked.needs {
                let asking = Requester::new(Arc::clone(&user), access.clone());
                if let Some(refused) = asking.wanting(need).refusal(headers) {
                    return Err(Box::new(refused));
                }
            }
            Arc::new(asked.user)
        }
    };
    let requester = Requester::new(user, access);
    if matches!(requester.access, Access::All) {
        return Ok(requester);
    }
    let attributes = Attributes::of_request(&parts.method, parts.uri.path(), query);
    Ok(requester.wanting(&attributes))
}

/// What is answered to headers that do not go together.
fn misguided(parts: &Parts, why: &str) -> Response {
    let uri = parts.uri.to_string();
    (
        StatusCode::INTERNAL_SERVER_ERROR,
        [
            (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ],
        format!("Internal Server Error: {uri:?}: {why}\n"),
    )
        .into_response()
}
