//! Finalizers: those that keep a deleted object, and those that instruct the garbage collector.

use fakeserver_kinds::Kind;
use serde_json::{Value, json};

use crate::write::Propagation;

/// The object is deleted once no dependent names it as an owner.
pub const ORPHAN: &str = "orphan";
/// A claim, or a volume, is deleted once it is not in use.
pub const CLAIM_PROTECTION: &str = "kubernetes.io/pvc-protection";
pub const VOLUME_PROTECTION: &str = "kubernetes.io/pv-protection";
/// A class of volume attributes goes when no volume has it any more.
pub const CLASS_PROTECTION: &str = "kubernetes.io/vac-protection";
/// The object goes after what it owns.
#[doc(alias = "FinalizerDeleteDependents")]
pub const FOREGROUND: &str = "foregroundDeletion";

/// `metadata.finalizers`.
pub fn finalizers_of(object: &Value) -> Vec<String> {
    let finalizers = object["metadata"]["finalizers"].as_array();
    finalizers
        .into_iter()
        .flatten()
        .filter_map(|finalizer| finalizer.as_str().map(str::to_owned))
        .collect()
}

/// Returns whether an object is being deleted.
pub fn is_deleted(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

/// Takes a finalizer from an object.
pub fn without(object: &mut Value, finalizer: &str) {
    let mut finalizers = finalizers_of(object);
    finalizers.retain(|present| present != finalizer);
    set_finalizers(object, &finalizers);
}

pub(super) fn set_finalizers(object: &mut Value, finalizers: &[String]) {
    if !finalizers.is_empty() {
        object["metadata"]["finalizers"] = json!(finalizers);
    } else if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("finalizers");
    }
}

/// Returns the finalizers of an object that is deleted with `propagation`: those of the garbage collector.
///
/// The propagation of an earlier deletion stays, unless this one names another.
pub(super) fn finalizers_after_deletion(
    kind: &Kind,
    propagation: Option<Propagation>,
    object: &Value,
) -> Vec<String> {
    let present = finalizers_of(object);
    if !kind.habits.is_garbage_collected {
        return present;
    }
    let has = |name: &str| present.iter().any(|finalizer| finalizer == name);
    let (orphans, waits) = match propagation {
        Some(propagation) => (
            propagation == Propagation::Orphan,
            propagation == Propagation::Foreground,
        ),
        None if has(ORPHAN) || has(FOREGROUND) => (has(ORPHAN), !has(ORPHAN)),
        None => (kind.habits.orphans_by_default, false),
    };
    let wanted = [(ORPHAN, orphans), (FOREGROUND, waits)];
    let is_kept = |finalizer: &String| ![ORPHAN, FOREGROUND].contains(&finalizer.as_str());
    let is_same = wanted
        .iter()
        .all(|(name, is_wanted)| has(name) == *is_wanted);
    if is_same {
        return present;
    }
    let added = wanted
        .iter()
        .filter(|(_, is_wanted)| *is_wanted)
        .map(|(name, _)| (*name).to_owned());
    let kept = present.iter().filter(|finalizer| is_kept(finalizer));
    kept.cloned().chain(added).collect()
}
