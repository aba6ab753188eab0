//! Warnings about objects that are stored and have no effect, although the API server of a real cluster would act on them.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use fakeserver_kinds::{
    apiregistration::{
        api_service,
        remote::{RemoteApi, ServiceReference},
    },
    core::service,
};
use http::header;
use serde_json::Value;

use super::{Api, Request};
use crate::{
    edge::request::header_text,
    store::ObjectKey,
    write::{Backend, Outcome},
};

/// The number of clients and kinds that are remembered. Further ones are not warned.
const REMEMBERED_MAX: usize = 10_000;

/// The warnings that were given: each client is warned of a kind once.
#[derive(Debug, Default)]
pub struct InertWarnings(Mutex<BTreeSet<(String, String, String)>>);

/// Returns the warning about an object that was written, if the client has not had it.
pub(super) fn inert_warning(api: &Api, request: &Request<'_>, outcome: &Outcome) -> Option<String> {
    let Outcome::Stored(object) = outcome else {
        return None;
    };
    let target = &request.target;
    if !target.subresource().is_empty() || !target.rules().is(&api_service::KIND) {
        return None;
    }
    let warning = warning(api, &object.to_value())?;
    let agent = header_text(request.headers, header::USER_AGENT);
    let user = request.requester.user.name();
    let is_new = api.inert.remember(&target.resource.kind, agent, user);
    is_new.then_some(warning)
}

/// Returns the warning about an API service.
fn warning(api: &Api, object: &Value) -> Option<String> {
    let remote = RemoteApi::parse(object)?;
    let (namespace, name) = (&remote.service.namespace, &remote.service.name);
    is_unreachable(&api.backend, &remote.service).then(|| {
        format!(
            "fakeserver: no process stands for service {namespace}/{name}, to which requests are forwarded; say where it is \
             by `--webhook-service {namespace}/{name}=URL`, or by `--pod-backend`"
        )
    })
}

/// Returns whether a service can have no endpoints but pods, for which no process stands.
fn is_unreachable(backend: &Backend, reference: &ServiceReference) -> bool {
    let route = backend
        .webhooks
        .route_to(&reference.host(), Some(reference.port));
    let kubelets = backend.kubelets.as_ref();
    if route.is_some() || kubelets.is_some_and(|all| all.has_backends()) {
        return false;
    }
    let namespace = Some(&*reference.namespace);
    let key = ObjectKey::new(service::KIND.storage().clone(), namespace, &reference.name);
    let service = backend.storage.view(|view| view.get(&key).cloned());
    service.is_some_and(|service| {
        let spec = &service.to_value()["spec"];
        spec["type"] != "ExternalName" && spec["selector"].is_object()
    })
}

// === impl InertWarnings ===

impl InertWarnings {
    /// Remembers that a client was warned of a kind, and returns whether it was not yet.
    fn remember(&self, kind: &str, agent: &str, user: &str) -> bool {
        let mut given = self.lock();
        given.len() < REMEMBERED_MAX
            && given.insert((kind.to_owned(), agent.to_owned(), user.to_owned()))
    }

    /// Forgets all of them.
    pub fn reset(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<(String, String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
