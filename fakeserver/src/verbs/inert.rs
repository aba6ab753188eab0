//! Warnings about objects that are stored and not acted on, although the API server of a real cluster would act on them.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use http::header;
use serde_json::Value;

use super::{Api, Request};
use crate::{
    edge::request::header_text,
    kinds::{apiregistration::api_service, networking::service_cidr},
    write::{Outcome, Target},
};

/// The number of clients and kinds that are remembered. Further ones are not warned.
const REMEMBERED_MAX: usize = 10_000;

/// The warnings that were given: each client is warned of a kind once.
#[derive(Debug, Default)]
pub(crate) struct InertWarnings(Mutex<BTreeSet<(String, String, String)>>);

/// Returns the warning about an object that was written, if the client has not had it.
pub(super) fn inert_warning(api: &Api, request: &Request<'_>, outcome: &Outcome) -> Option<String> {
    let Outcome::Stored(object) = outcome else {
        return None;
    };
    let target = &request.target;
    if !target.subresource().is_empty() || !is_concerned(target) {
        return None;
    }
    let warning = warning(target, &object.to_value())?;
    let agent = header_text(request.headers, header::USER_AGENT);
    let user = request.requester.user.name();
    let is_new = api.inert.give(&target.resource.kind, agent, user);
    is_new.then_some(warning)
}

/// Returns whether objects of the kind may be inert.
fn is_concerned(target: &Target) -> bool {
    let rules = target.rules();
    rules.is(&api_service::KIND) || rules.is(&service_cidr::KIND)
}

/// Returns the warning about an object of a concerned kind.
fn warning(target: &Target, object: &Value) -> Option<String> {
    if target.rules().is(&service_cidr::KIND) {
        return Some(
            "fakeserver: addresses of services are not taken from service CIDRs".to_owned(),
        );
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let service = object["spec"]["service"].as_object()?;
    let (namespace, name) = (text(&service["namespace"]), text(&service["name"]));
    Some(format!(
        "fakeserver: there is no aggregation layer; requests are not forwarded to service {namespace}/{name}"
    ))
}

// === impl InertWarnings ===

impl InertWarnings {
    /// Remembers that a client is warned of a kind; tells whether it was not yet.
    fn give(&self, kind: &str, agent: &str, user: &str) -> bool {
        let mut given = self.lock();
        given.len() < REMEMBERED_MAX
            && given.insert((kind.to_owned(), agent.to_owned(), user.to_owned()))
    }

    /// Forgets all of them.
    pub(crate) fn reset(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<(String, String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
