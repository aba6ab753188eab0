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

/// The name and the label of a new revision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Naming<'a> {
    pub(super) name: &'a str,
    /// The label that has the hash of the template.
    pub(super) label: &'static str,
    pub(super) hash: &'a str,
}

/// Keeps the template of `owner` as its newest revision, forgets the oldest ones beyond the limit, and returns the name of the
/// newest.
///
/// Revisions in `used` are kept: they have pods.
pub(super) fn record(
    cluster: &mut Cluster<'_, '_>,
    kind: &ReconciledKind,
    owner: &Value,
    naming: Naming<'_>,
    used: &[&str],
) -> String {
    let mut all = revisions(cluster, text(&owner["metadata"]["uid"]));
    let last = all.last().map_or(0, |revision| revision.number);
    let data = data(owner);
    let namespace = owner["metadata"]["namespace"].as_str();
    // By its data: a revision of the same template may have another name, if a client has created it.
    let own = all.iter().rposition(|revision| revision.data == data);
    let key = match own {
        Some(at) if at + 1 == all.len() => all[at].key.clone(),
        // A template that comes back is the newest again: its revision moves to the end, and no second one is made.
        Some(at) => {
            let key = all.remove(at).key;
            cluster.update(&key, ACTOR, |object| object["revision"] = json!(last + 1));
            key
        }
        None => {
            let name = naming.name;
            let mut labels = owner["spec"]["template"]["metadata"]["labels"].clone();
            labels[naming.label] = json!(naming.hash);
            let mut object = json!({
                "metadata": {
                    "name": name,
                    "namespace": namespace,
                    "labels": labels,
                    "ownerReferences": [kind.owner_reference(owner)],
                },
                "data": data,
                "revision": last + 1,
            });
            let annotations = &owner["metadata"]["annotations"];
            if annotations.is_object() {
                object["metadata"]["annotations"] = annotations.clone();
            }
            cluster.create(controller_revision::KIND.storage(), ACTOR, object);
            ObjectKey::new(controller_revision::KIND.storage().clone(), namespace, name)
        }
    };
    let limit = number(&owner["spec"]["revisionHistoryLimit"], 10);
    let limit = usize::try_from(limit).unwrap_or_default();
    all.retain(|it| it.key != key && !used.contains(&it.key.name()));
    let surplus = all.len().saturating_sub(limit);
    for revision in all.into_iter().take(surplus) {
        cluster.delete(&revision.key, DeletionParameters::default());
    }
    key.name().to_owned()
}

/// Returns the patch that brings the template of `owner` back.
fn data(owner: &Value) -> Value {
    let mut template = owner["spec"]["template"].clone();
    // Nothing of the present template stays.
    template["$patch"] = json!("replace");
    json!({"spec": {"template": template}})
}

/// Returns the template that the revision of this name keeps, if `owner` has such a revision.
pub(super) fn template(cluster: &Cluster<'_, '_>, owner: &Value, name: &str) -> Option<Value> {
    let all = revisions(cluster, text(&owner["metadata"]["uid"]));
    let revision = all.into_iter().find(|it| it.key.name() == name)?;
    let mut template = revision.data["spec"]["template"].clone();
    template.as_object_mut()?.remove("$patch");
    Some(template)
}

/// A revision of an owner.
#[derive(Debug)]
struct Revision {
    number: i64,
    key: ObjectKey,
    data: Value,
}

/// Returns the revisions of the owner of that uid, the oldest first.
fn revisions(cluster: &Cluster<'_, '_>, uid: &str) -> Vec<Revision> {
    let owned = cluster.index.dependents(uid);
    let mut revisions: Vec<Revision> = owned
        .filter(|(key, _)| key.resource() == controller_revision::KIND.storage())
        .filter_map(|(key, _)| {
            let mut found = cluster.get(key)?.to_value();
            Some(Revision {
                number: number(&found["revision"], 0),
                key: key.clone(),
                data: found["data"].take(),
            })
        })
        .collect();
    revisions.sort_by(|a, b| (a.number, &a.key).cmp(&(b.number, &b.key)));
    revisions
}
