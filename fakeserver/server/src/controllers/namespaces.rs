//! The end of a namespace: its objects are deleted, and then the namespace itself.
//!
//! It begins shortly after the deletion, so that clients see the namespace terminating. Pods go first, and other objects
//! once there are no pods. Objects with finalizers stay until their finalizers are removed, and the namespace stays with them.
//! It stays, too, while an API of another server is not available, which may have something in it.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    sync::Arc,
    time::Duration,
};

use fakeserver_kinds::{
    apiregistration::{
        api_service,
        remote::{self, RemoteApi},
    },
    core,
};
use serde_json::{Value, json};

use super::{
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, ObjectChange},
    meta::Meta,
    queue::KeyQueue,
};
use crate::{
    store::{ObjectKey, Range, StoredObject},
    write::{
        Backend,
        deletion::{DeletionParameters, delete_all},
    },
};

/// The minimum time for which a deleted namespace keeps its contents.
const EMPTIED_AFTER: Duration = Duration::from_secs(1);
/// The delay after a deletion in a namespace, or a change of an API service, in which others may follow.
const LOOKED_AT_AFTER: Duration = Duration::from_millis(20);

/// The finalizer that every namespace has.
const FINALIZER: &str = "kubernetes";

/// The controller of namespaces.
#[derive(Debug)]
pub(super) struct Namespaces {
    /// The names of those that are going away.
    terminating: BTreeSet<String>,
    /// True if kubelets stop the pods that are on nodes. Otherwise they are deleted at once.
    has_kubelets: bool,
}

// === impl Namespaces ===

impl Namespaces {
    pub(super) fn new(has_kubelets: bool) -> Self {
        Self {
            terminating: BTreeSet::new(),
            has_kubelets,
        }
    }
}

// === impl Namespaces ===

impl Controller for Namespaces {
    fn name(&self) -> &'static str {
        "namespaces"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(&core::namespace::KIND) {
            let key = change.key();
            let is_going = change
                .after
                .as_ref()
                .is_some_and(|(_, meta)| meta.is_deleted());
            if !is_going {
                self.terminating.remove(key.name());
            // Once: later updates of a terminating namespace must not postpone its deletion.
            } else if self.terminating.insert(key.name().to_owned()) {
                due.add(key.clone(), EMPTIED_AFTER);
            }
            return;
        }
        if change.is_of(&api_service::KIND) {
            // An API that has become available may have objects in them, or let them end.
            for name in &self.terminating {
                due.add(key(name), LOOKED_AT_AFTER);
            }
            return;
        }
        let namespace = change.key().namespace();
        if let Some(namespace) = namespace.filter(|name| self.terminating.contains(*name))
            && change.after.is_none()
        {
            due.add(key(namespace), LOOKED_AT_AFTER);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        empty(cluster, key, self.has_kubelets);
    }
}

/// Empties the namespaces that were going away when the server stopped.
pub(super) fn resume(backend: &Backend) {
    let resource = core::namespace::KIND.storage().clone();
    let namespaces = backend.storage.view(|view| view.snapshot(&resource));
    for found in namespaces.objects(&Range::All, None) {
        let emptied: Result<(), Infallible> = backend.storage.transact(|tx| {
            let mut cluster = Cluster {
                backend,
                tx,
                index: &Index::default(),
                refusal: None,
            };
            empty(&mut cluster, found.key(), false);
            Ok(())
        });
        let Ok(()) = emptied;
    }
}

/// Deletes the objects in a terminating namespace, and the namespace itself if it is empty.
fn empty(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, has_kubelets: bool) {
    let is_going = cluster
        .get(key)
        .is_some_and(|found| Meta::of(&found).is_deleted());
    if !is_going {
        return;
    }
    let now = cluster.now_text();
    let pods = core::pod::KIND.storage();
    let found = cluster.tx.list(pods, Some(key.name()));
    // Pods stop gracefully only where a kubelet confirms it; without one they would never go.
    if has_kubelets {
        for pod in found {
            cluster.delete(pod.key(), DeletionParameters::default());
        }
    } else {
        delete_all(cluster.tx, found, &now);
    }
    // Other objects wait for the pods, which may use them until they stop, as in a real namespace controller.
    if !cluster.tx.list(pods, Some(key.name())).is_empty() {
        let unknown = undiscovered(cluster);
        report(cluster, key, &conditions(&[], &unknown), &now);
        return;
    }
    let others = cluster.tx.list_namespace(key.name());
    delete_all(cluster.tx, others, &now);
    // Read again: objects with finalizers were only marked.
    let left = cluster.tx.list_namespace(key.name());
    let unknown = undiscovered(cluster);
    // The namespace is deleted by this update, with its last finalizer.
    if left.is_empty() && unknown.is_empty() {
        cluster.update(key, Actor::CONTROLLER_MANAGER, |namespace| {
            if let Some(finalizers) = namespace["spec"]["finalizers"].as_array_mut() {
                finalizers.retain(|finalizer| finalizer != FINALIZER);
            }
        });
    } else {
        report(cluster, key, &conditions(&left, &unknown), &now);
    }
}

/// Returns the versions of groups that other servers have and that are not available, in the order of their names.
fn undiscovered(cluster: &Cluster<'_, '_>) -> Vec<String> {
    let services = cluster.tx.list(api_service::KIND.storage(), None);
    let remote = services
        .iter()
        .filter(|stored| remote::may_be_remote(&stored.json()))
        .map(|stored| stored.to_value())
        .filter(|service| !remote::is_available(service));
    let mut versions: Vec<String> = remote
        .filter_map(|service| Some(RemoteApi::parse(&service)?.group_version()))
        .collect();
    versions.sort_unstable();
    versions
}

/// Writes the conditions of a namespace. While pods exist, a real server reports the remaining contents as deleted.
fn report(cluster: &mut Cluster<'_, '_>, key: &ObjectKey, rows: &[[String; 4]], now: &str) {
    let status = Actor::CONTROLLER_MANAGER.of_status();
    cluster.update(key, status, |namespace| {
        set_conditions(namespace, rows, now);
    });
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::cluster(core::namespace::KIND.storage().clone(), name)
}

/// Returns the conditions of a namespace by its remaining contents, and by the versions of groups that are not available:
/// type, status, reason and message of each.
fn conditions(left: &[Arc<StoredObject>], unknown: &[String]) -> Vec<[String; 4]> {
    let mut by_resource: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_finalizer: BTreeMap<String, usize> = BTreeMap::new();
    for object in left {
        let resource = object.resource();
        let name = format!("{}.{}", resource.resource(), resource.group());
        *by_resource.entry(name).or_default() += 1;
        for finalizer in Meta::of(object).finalizers() {
            *by_finalizer.entry(finalizer.clone()).or_default() += 1;
        }
    }
    let sentence = |counts: &BTreeMap<String, usize>, verb: &str| {
        let each = counts
            .iter()
            .map(|(name, count)| format!("{name} {verb} {count} resource instances"));
        each.collect::<Vec<_>>().join(", ")
    };
    let remaining = if left.is_empty() {
        row([
            "NamespaceContentRemaining",
            "False",
            "ContentRemoved",
            "All content successfully removed",
        ])
    } else {
        row([
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            &format!(
                "Some resources are remaining: {}",
                sentence(&by_resource, "has")
            ),
        ])
    };
    let finalizers = if by_finalizer.is_empty() {
        row([
            "NamespaceFinalizersRemaining",
            "False",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ])
    } else {
        row([
            "NamespaceFinalizersRemaining",
            "True",
            "SomeFinalizersRemain",
            &format!(
                "Some content in the namespace has finalizers remaining: {}",
                sentence(&by_finalizer, "in")
            ),
        ])
    };
    let [parsing, deletion] = successes();
    vec![discovery(unknown), parsing, deletion, remaining, finalizers]
}

/// Returns the condition that lists the group versions whose discovery failed.
fn discovery(unknown: &[String]) -> [String; 4] {
    const TYPE: &str = "NamespaceDeletionDiscoveryFailure";
    if unknown.is_empty() {
        let message = "All resources successfully discovered";
        return row([TYPE, "False", "ResourcesDiscovered", message]);
    }
    let each = unknown
        .iter()
        .map(|version| format!("{version}: stale GroupVersion discovery: {version}"));
    let message = format!(
        "Discovery failed for some groups, {} failing: unable to retrieve the complete list of server APIs: {}",
        unknown.len(),
        each.collect::<Vec<_>>().join(", ")
    );
    row([TYPE, "True", "DiscoveryFailed", &message])
}

/// Returns the other failure conditions, which never report a failure here.
fn successes() -> [[String; 4]; 2] {
    [
        row([
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ]),
        row([
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ]),
    ]
}

fn row(cells: [&str; 4]) -> [String; 4] {
    cells.map(str::to_owned)
}

/// Sets conditions; the time stays where the status does.
fn set_conditions(namespace: &mut Value, rows: &[[String; 4]], now: &str) {
    let present = namespace["status"]["conditions"].take();
    let present = present.as_array().cloned().unwrap_or_default();
    let conditions = rows.iter().map(|[kind, status, reason, message]| {
        let mut same = present.iter().filter(|existing| {
            existing["type"] == kind.as_str() && existing["status"] == status.as_str()
        });
        let since = same.next().map_or_else(
            || json!(now),
            |existing| existing["lastTransitionTime"].clone(),
        );
        json!({
            "type": kind,
            "status": status,
            "lastTransitionTime": since,
            "reason": reason,
            "message": message,
        })
    });
    namespace["status"]["conditions"] = conditions.collect();
}
