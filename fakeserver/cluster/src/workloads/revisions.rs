//! Controller revisions: the earlier templates of a stateful set or a daemon set, for rollbacks.

use fakeserver_kinds::apps::controller_revision;
use fakeserver_server::{
    controllers::cluster::{Actor, Cluster},
    store::ObjectKey,
    write::deletion::DeletionParameters,
};
use fakeserver_value::read::text;
use serde_json::{Value, json};

use super::objects::{ReconciledKind, number};

const ACTOR: Actor = Actor::CONTROLLER_MANAGER;

/// Keeps the template of `owner` under `name`, as its newest revision, and forgets the oldest beyond the limit.
///
/// Revisions in `used` are kept: they have pods.
pub(super) fn record(
    cluster: &mut Cluster<'_, '_>,
    kind: &ReconciledKind,
    owner: &Value,
    name: &str,
    used: &[&str],
) {
    let mut all = revisions(cluster, text(&owner["metadata"]["uid"]));
    let last = all.last().map_or(0, |(revision, _)| *revision);
    let namespace = owner["metadata"]["namespace"].as_str();
    let key = ObjectKey::new(controller_revision::KIND.storage().clone(), namespace, name);
    let own = all.iter().position(|(_, other)| *other == key);
    match own {
        Some(at) if at + 1 == all.len() => {}
        // A template that comes back is the newest again: its revision moves to the end, and no second one is made.
        Some(at) => {
            cluster.update(&key, ACTOR, |object| object["revision"] = json!(last + 1));
            all.remove(at);
        }
        None => {
            let mut template = owner["spec"]["template"].clone();
            // Who goes back applies it as a patch, and nothing of the present template stays.
            template["$patch"] = json!("replace");
            let object = json!({
                "metadata": {
                    "name": name,
                    "namespace": namespace,
                    "labels": owner["spec"]["template"]["metadata"]["labels"],
                    "ownerReferences": [kind.owner_reference(owner)],
                },
                "data": {"spec": {"template": template}},
                "revision": last + 1,
            });
            cluster.create(controller_revision::KIND.storage(), ACTOR, object);
        }
    }
    let limit = number(&owner["spec"]["revisionHistoryLimit"], 10);
    let limit = usize::try_from(limit).unwrap_or_default();
    all.retain(|(_, other)| *other != key && !used.contains(&other.name()));
    let surplus = all.len().saturating_sub(limit);
    for (_, key) in all.into_iter().take(surplus) {
        cluster.delete(&key, DeletionParameters::default());
    }
}

/// Returns the template that the revision of this name keeps, if `owner` has such a revision.
pub(super) fn template(cluster: &Cluster<'_, '_>, owner: &Value, name: &str) -> Option<Value> {
    let all = revisions(cluster, text(&owner["metadata"]["uid"]));
    let (_, key) = all.iter().find(|(_, key)| key.name() == name)?;
    let revision = cluster.get(key)?.to_value();
    let mut template = revision["data"]["spec"]["template"].clone();
    template.as_object_mut()?.remove("$patch");
    Some(template)
}

/// The revisions of the owner of that uid, the oldest first.
fn revisions(cluster: &Cluster<'_, '_>, uid: &str) -> Vec<(i64, ObjectKey)> {
    let owned = cluster.index.dependents(uid);
    let mut revisions: Vec<(i64, ObjectKey)> = owned
        .filter(|(key, _)| key.resource() == controller_revision::KIND.storage())
        .filter_map(|(key, _)| {
            let found = cluster.get(key)?.to_value();
            Some((number(&found["revision"], 0), key.clone()))
        })
        .collect();
    revisions.sort();
    revisions
}
