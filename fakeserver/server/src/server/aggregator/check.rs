//! A check of an aggregated API: its condition, and the documents of its server.

use std::{convert::Infallible, time::Duration};

use fakeserver_kinds::apiregistration::{
    api_service, availability::Availability, remote::RemoteApi,
};
use tokio::time::Instant;
use tracing::{debug, warn};

use super::{
    Aggregator, api_documents::ApiDocuments, download::Source, schedule::NextCheck,
    service_endpoints::ServiceEndpoints,
};
use crate::{
    controllers::written_object::{self, Actor},
    store::{CommitError, ObjectKey},
    write::Backend,
};

/// The writer of conditions.
const SERVER: Actor = Actor::new("kube-apiserver").of_status();
/// The time for one answer of a server.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// Checks the API service of that name, writes its condition, and returns when it is to be checked again.
///
/// The discovery document is downloaded before the condition becomes `Available`.
///
/// # Cancel safety
///
/// If dropped, the API is to be checked again.
pub(super) async fn check(aggregator: &Aggregator, backend: &Backend, name: &str) -> NextCheck {
    let aggregated = aggregator.read(&backend.storage, |table| table.get(name).cloned());
    let Some(aggregated) = aggregated else {
        write(backend, name, None, &Availability::local()).await;
        return NextCheck::Never;
    };
    let api = &*aggregated.api;
    let endpoints = ServiceEndpoints::read(backend, &api.service);
    if let Some(found) = endpoints.unreachable(api) {
        aggregator.learn(api, ApiDocuments::mark_stale);
        write(backend, name, Some(api), &found).await;
        return NextCheck::InPeriod;
    }
    let source = match find_source(backend, api, &endpoints).await {
        Ok(source) => source,
        Err(problem) => {
            debug!(
                key = name,
                error = problem,
                "aggregated API is not available"
            );
            aggregator.learn(api, ApiDocuments::mark_stale);
            let found = Availability::failed_discovery(problem);
            write(backend, name, Some(api), &found).await;
            return NextCheck::Soon;
        }
    };
    let mut documents = aggregated.documents.clone();
    let is_due = documents.is_due(Instant::now());
    if is_due {
        documents.ask_discovery(&source, api).await;
        aggregator.learn(api, |stored| stored.adopt_discovery(&documents));
    }
    write(backend, name, Some(api), &Availability::passed()).await;
    if is_due {
        documents.ask_spec(&source, api).await;
        aggregator.learn(api, |stored| stored.adopt_spec(&documents));
    }
    NextCheck::InPeriod
}

/// Requests the discovery document of the API, as kube-aggregator does.
///
/// # Errors
///
/// The document is not available, for this reason.
async fn find_source<'a>(
    backend: &Backend,
    api: &'a RemoteApi,
    endpoints: &ServiceEndpoints,
) -> Result<Source<'a>, String> {
    let path = api.path();
    let source = Source::find(backend, api, endpoints, ANSWER_LIMIT)?;
    let url = source.url(&path);
    let problem = match source.get(&path, &[]).await {
        Ok(document) if document.code.is_success() => return Ok(source),
        Ok(document) => format!("bad status from {url}: {}", document.code.as_u16()),
        Err(problem) => format!("Get {url:?}: {problem}"),
    };
    Err(format!("failing or missing response from {url}: {problem}"))
}

/// Writes the condition of an API service, unless it is another one by now: `api` is what was checked, `None` a local one.
async fn write(backend: &Backend, name: &str, api: Option<&RemoteApi>, found: &Availability) {
    let key = ObjectKey::cluster(api_service::KIND.storage().clone(), name);
    let Some(resource) = written_object::resource_type(&backend.registry(), key.resource()) else {
        return;
    };
    let committing = backend.storage.commit_eventually(|tx| {
        let Some(stored) = tx.get(&key) else {
            return Ok::<_, Infallible>(());
        };
        let old = written_object::api_object(&resource, &stored);
        if RemoteApi::parse(&old).as_ref() != api {
            return Ok(());
        }
        let now = backend.clock.now_text();
        let mut new = old.clone();
        new["status"] = found.applied(&old["status"], &now);
        let new = written_object::updated(&resource, SERVER, &old, new, &now);
        if new != old {
            tx.put(&key, new);
        }
        Ok(())
    });
    // The next check writes it again.
    if let Err(CommitError::Log(error)) = committing.await {
        let error = &error as &dyn std::error::Error;
        warn!(key = name, error, "condition of an API service not written");
    }
}
