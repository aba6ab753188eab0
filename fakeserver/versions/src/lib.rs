//! The versions of Kubernetes that a server can be, as data: one folder of text for each.
//!
//! [`KubernetesVersion`] names one of them and gives its texts, and its [`FeatureGates`]; [`VersionRange`] and
//! [`VersionSelector`] name several. Tables that are read of the texts are kept in a [`PerVersion`]: they are made once
//! in a process, of the versions that are used.

mod diff;
mod release;
mod number;
mod version;
mod range;
mod selector;
mod per_version;
mod feature_gates;
mod version_set;
mod words;
#[cfg(test)]
mod tests;

/// The fields that a server drops while their feature gates are off, in all versions: a line has the gate, the resource
/// (`pod` for pods and templates of pods) and the path, in which `[]` and `{}` stand for each item and each value of a map;
/// after them the change without which a version does not drop the field, if there is one.
pub const GATED_FIELDS: &str = include_str!("../data/gated-fields.txt");

pub use self::{
    feature_gates::{FeatureGate, FeatureGates, Stage},
    number::ReleaseNumber,
    per_version::PerVersion,
    range::{VersionRange, VersionRangeError},
    selector::{VersionSelector, VersionSelectorError},
    version::{KubernetesVersion, UnknownVersionError},
    version_set::SharedVersionSet,
};
