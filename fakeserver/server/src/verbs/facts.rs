//! The facts of a request that fault rules see.

use fakeserver_value::revision::Revision;
use http::{HeaderMap, HeaderValue, header};

use super::{Request, Verb};
use crate::{edge::request::ListOptions, faults::RequestFacts};

/// Returns the facts of `request` at `revision` of the store.
pub(super) fn facts(
    request: &Request<'_>,
    verb: Verb,
    options: &ListOptions,
    revision: Revision,
) -> RequestFacts {
    let path = &request.target.path;
    RequestFacts {
        client: client(request.headers).to_owned(),
        verb: verb.name(),
        group: path.group.clone(),
        version: path.version.clone(),
        resource: path.resource.clone(),
        subresource: path.subresource.clone(),
        namespace: path.namespace.clone(),
        name: path.name.clone(),
        resource_version: options.resource_version.clone(),
        is_watch_list: verb == Verb::Watch && options.send_initial_events == Some(true),
        has_continue: verb == Verb::List && !options.continue_token.is_empty(),
        continue_token: options.continue_token.clone(),
        user: request.requester.user.name().to_owned(),
        revision: revision.get(),
    }
}

/// Returns the client: the user agent up to the first `/`.
pub(super) fn client(headers: &HeaderMap) -> &str {
    let agent = headers.get(header::USER_AGENT);
    let agent = agent
        .map(HeaderValue::as_bytes)
        .and_then(|agent| std::str::from_utf8(agent).ok());
    let agent = agent.unwrap_or_default();
    agent.split('/').next().unwrap_or_default()
}
