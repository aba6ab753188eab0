//! The APIs of other servers in the documents of this one.

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_kinds::apiregistration::{api_service, remote::Priorities};

use super::{AggregatedApi, Aggregator};

use crate::{
    edge::{
        discovery::{Remote, RemoteVersion},
        openapi::{Documents, DocumentsCache, MergedDocuments},
    },
    store::{Range, Storage},
};

/// Returns the versions of groups that other servers serve, and the priorities of all.
pub(in super::super) fn groups(aggregator: &Aggregator, storage: &Storage) -> Remote {
    let all = aggregator.all(storage);
    if all.is_empty() {
        return Remote::default();
    }
    let stored = storage.view(|view| view.snapshot(api_service::KIND.storage()));
    let mut local = BTreeMap::new();
    for service in stored.objects(&Range::All, None) {
        let object = service.to_value();
        let text = |field: &str| {
            object["spec"][field]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        local.insert((text("group"), text("version")), Priorities::of(&object));
    }
    Remote {
        versions: all.iter().map(version).collect(),
        local,
    }
}

/// Returns the documents of OpenAPI of this server, with those of others.
pub(in super::super) fn documents<'a>(
    aggregator: &Aggregator,
    storage: &Storage,
    cache: &'a DocumentsCache,
    documents: &'a Arc<Documents>,
) -> MergedDocuments<'a> {
    let all = aggregator.all(storage);
    let entries = all.iter().filter_map(|aggregated| {
        let path = aggregated.api.path().trim_start_matches('/').to_owned();
        Some((path, aggregated.documents.index_entry.clone()?))
    });
    let specs = all
        .iter()
        .filter_map(|aggregated| aggregated.documents.spec.clone());
    MergedDocuments::new(cache, documents, entries.collect(), specs.collect())
}

fn version(aggregated: &AggregatedApi) -> RemoteVersion {
    RemoteVersion {
        group: aggregated.api.group.clone(),
        version: aggregated.api.version.clone(),
        priorities: aggregated.api.priorities,
        resources: Arc::clone(&aggregated.documents.resources),
        is_current: aggregated.is_available && aggregated.documents.is_fresh(),
    }
}
