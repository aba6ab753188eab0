//! Differences that a server makes when one set of manifests is applied after another one.

mod normal_form;
mod side;
mod text;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use self::side::Side;
use crate::{
    catalogue::Catalogue,
    check::CheckOptions,
    finding::{Finding, ObjectName},
    session::Session,
    sources::ManifestSet,
};

/// The change of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: an object is in one set, or in both"
)]
pub enum ChangeKind {
    /// Only the new set has it.
    Created,
    /// Only the old set has it.
    Deleted,
    /// Both have it, and it differs.
    Changed,
}

/// An object that changes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ObjectDiff {
    /// The object, with its namespace.
    pub name: ObjectName,
    /// The change.
    pub kind: ChangeKind,
    /// The file of the old set.
    pub old_file: Option<Arc<str>>,
    /// The file of the new set.
    pub new_file: Option<Arc<str>>,
    /// The stored object of the old set as YAML, without what the server sets, or an empty text.
    pub old: String,
    /// The same of the new set.
    pub new: String,
    /// The reason why a server does not update the object, which has to be deleted and created instead.
    pub replaced_because: Option<String>,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DiffReport {
    /// The objects that change, by group, kind, namespace and name.
    pub objects: Vec<ObjectDiff>,
    /// The number of objects that stay as they are.
    pub unchanged: usize,
    /// Errors and warnings about the manifests. An object that a server rejects is not compared.
    pub findings: Vec<Finding>,
}

/// The identity of an object: group, kind, namespace and name.
type ObjectKey = (Arc<str>, String, String, String);

/// An object as a server has it.
#[derive(Clone, Debug)]
struct AppliedObject {
    name: ObjectName,
    file: Arc<str>,
    object: Value,
    replaced_because: Option<String>,
}

type Objects = BTreeMap<ObjectKey, AppliedObject>;

/// Compares two sets of manifests by what a server makes of them: `old` is applied, then `new` over it, by server-side apply of
/// one manager, in the order of dependencies. So defaults are filled in, fields that `new` does not have any more are removed,
/// and a change that the server does not allow is reported. It runs in process, without sockets, in a tokio runtime.
///
/// Of the options the first version counts.
///
/// # Cancel safety
///
/// The comparison ends, and nothing remains of it.
///
/// # Memory
///
/// All objects of both sets, as manifests and as they are stored.
pub async fn diff(old: &ManifestSet, new: &ManifestSet, options: &CheckOptions) -> DiffReport {
    let kubernetes = options.first_version();
    let mut session = Session::new(kubernetes);
    let mut catalogue = Catalogue::of(kubernetes);
    let before = Side::new(old, options, &mut session, &mut catalogue);
    let (before, mut findings) = before.apply(&Objects::new()).await;
    let after = Side::new(new, options, &mut session, &mut catalogue);
    let (after, found) = after.apply(&before).await;
    findings.extend(found);
    let mut report = DiffReport {
        findings,
        ..DiffReport::default()
    };
    let mut keys: Vec<&ObjectKey> = before.keys().chain(after.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        match compared(before.get(key), after.get(key)) {
            Some(changed) => report.objects.push(changed),
            None => report.unchanged += 1,
        }
    }
    report
}

/// Returns the change of an object, if it changes.
fn compared(old: Option<&AppliedObject>, new: Option<&AppliedObject>) -> Option<ObjectDiff> {
    let kind = match (old, new) {
        (None, _) => ChangeKind::Created,
        (_, None) => ChangeKind::Deleted,
        (Some(old), Some(new)) if old.object == new.object => return None,
        _ => ChangeKind::Changed,
    };
    let name = new.or(old)?.name.clone();
    let (old_object, new_object) = normal_form::masked(
        old.map(|side| side.object.clone()),
        new.map(|side| side.object.clone()),
    );
    let file = |side: Option<&AppliedObject>| side.map(|side| Arc::clone(&side.file));
    Some(ObjectDiff {
        name,
        kind,
        old_file: file(old),
        new_file: file(new),
        old: text::yaml(old_object.as_ref()),
        new: text::yaml(new_object.as_ref()),
        replaced_because: new.and_then(|side| side.replaced_because.clone()),
    })
}
