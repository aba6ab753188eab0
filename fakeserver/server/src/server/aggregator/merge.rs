//! The APIs of other servers in the documents of this one.

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_kinds::apiregistration::{api_service, remote::Priorities};

use super::{super::assembly::Server, Served};

use crate::{
    edge::{
        discovery::{Remote, RemoteVersion},
        openapi::{Documents, Merged},
    },
    store::Range,
};

/// Returns the versions of groups that other servers serve, and the priorities of all.
pub(in super::super) fn groups(server: &Server) -> Remote {
    let storage = &server.backend().storage;
    let all = server.aggregator.all(storage);
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
    server: &'a Server,
    documents: &'a Arc<Documents>,
) -> Merged<'a> {
    let all = server.aggregator.all(&server.backend().storage);
    let entries = all.iter().filter_map(|served| {
        let path = served.api.path().trim_start_matches('/').to_owned();
        Some((path, served.learned.index_entry.clone()?))
    });
    let specs = all.iter().filter_map(|served| served.learned.spec.clone());
    Merged::new(
        &server.openapi,
        documents,
        entries.collect(),
        specs.collect(),
    )
}

fn version(served: &Served) -> RemoteVersion {
    RemoteVersion {
        group: served.api.group.clone(),
        version: served.api.version.clone(),
        priorities: served.api.priorities,
        resources: Arc::clone(&served.learned.resources),
        is_current: served.is_available && served.learned.is_told(),
    }
}
