//! One check of an API: its condition, and what its server tells.

use std::time::Duration;

use fakeserver_kinds::apiregistration::{
    api_service, availability::Availability, remote::RemoteApi,
};
use tokio::time::Instant;
use tracing::debug;

use super::{Aggregator, download::Source, facts::Facts, learned::Learned, schedule::Next};
use crate::{
    controllers::written::{self, Actor},
    store::ObjectKey,
    write::Backend,
};

/// The writer of conditions.
const SERVER: Actor = Actor::new("kube-apiserver").of_status();
/// The time for one answer of a server.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// Checks the API service of that name, writes its condition, and returns when it is to be checked again.
///
/// Discovery and OpenAPI of the API are known before the condition says that it is available.
///
/// # Cancel safety
///
/// If dropped, the API is to be checked again.
pub(super) async fn check(aggregator: &Aggregator, backend: &Backend, name: &str) -> Next {
    let served = aggregator.read(&backend.storage, |table| table.get(name).cloned());
    let Some(served) = served else {
        write(backend, name, None, &Availability::local());
        return Next::Never;
    };
    let api = &*served.api;
    let facts = Facts::read(backend, &api.service);
    if let Some(found) = facts.unreachable(api) {
        aggregator.learn(api, Learned::grow_stale);
        write(backend, name, Some(api), &found);
        return Next::InPeriod;
    }
    let source = match asked(backend, api, &facts).await {
        Ok(source) => source,
        Err(problem) => {
            debug!(
                key = name,
                error = problem,
                "aggregated API is not available"
            );
            aggregator.learn(api, Learned::grow_stale);
            let found = Availability::failed_discovery(problem);
            write(backend, name, Some(api), &found);
            return Next::Soon;
        }
    };
    let mut learned = served.learned.clone();
    let is_due = learned.is_due(Instant::now());
    if is_due {
        learned.ask_discovery(&source, api).await;
        aggregator.learn(api, |known| known.adopt_discovery(&learned));
    }
    write(backend, name, Some(api), &Availability::passed());
    if is_due {
        learned.ask_spec(&source, api).await;
        aggregator.learn(api, |known| known.adopt_spec(&learned));
    }
    Next::InPeriod
}

/// Asks the server of an API for the document that it has to have.
///
/// # Errors
///
/// It has not answered with it, for this reason.
async fn asked<'a>(
    backend: &Backend,
    api: &'a RemoteApi,
    facts: &Facts,
) -> Result<Source<'a>, String> {
    let path = api.path();
    let source = Source::find(backend, api, facts, ANSWER_LIMIT)?;
    let url = source.url(&path);
    let problem = match source.get(&path, &[]).await {
        Ok(document) if document.code.is_success() => return Ok(source),
        Ok(document) => format!("bad status from {url}: {}", document.code.as_u16()),
        Err(problem) => format!("Get {url:?}: {problem}"),
    };
    Err(format!("failing or missing response from {url}: {problem}"))
}

/// Writes the condition of an API service, unless it is another one by now: `api` is what was checked, `None` a local one.
fn write(backend: &Backend, name: &str, api: Option<&RemoteApi>, found: &Availability) {
    let key = ObjectKey::cluster(api_service::KIND.storage().clone(), name);
    let Some(resource) = written::resource_type(&backend.registry(), key.resource()) else {
        return;
    };
    let Ok(()) = backend.storage.transact(|tx| {
        let Some(stored) = tx.get(&key) else {
            return Ok::<_, std::convert::Infallible>(());
        };
        let old = written::shown(&resource, &stored);
        if RemoteApi::parse(&old).as_ref() != api {
            return Ok(());
        }
        let now = backend.clock.now_text();
        let mut new = old.clone();
        new["status"] = found.applied(&old["status"], &now);
        let new = written::updated(&resource, SERVER, &old, new, &now);
        if new != old {
            tx.put(&key, new);
        }
        Ok(())
    });
}
