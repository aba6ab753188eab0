//! The checks of a kind's objects.

use fakeserver_value::{field::Field, findings::Findings};
use fakeserver_versions::KubernetesVersion;

/// Checks a new object.
type CheckFn = fn(&Field<'_>, &mut Findings);
/// Checks an update: the old object, then the new one.
type CheckUpdateFn = fn(&Field<'_>, &Field<'_>, &mut Findings);

/// The checks of a kind, apart from those of its metadata.
#[derive(Clone, Copy)]
pub struct Validation {
    create: CheckFn,
    update: CheckUpdateFn,
    /// The checks of updates through subresources.
    subresources: &'static [(&'static str, CheckUpdateFn)],
    /// The check that an update begins with in versions without this change.
    repeated: Option<(&'static str, CheckFn)>,
}

// === impl Validation ===

impl Validation {
    /// Checks of metadata only.
    pub const METADATA: Self = Self::new(|_, _| {}, |_, _, _| {});

    pub const fn new(create: CheckFn, update: CheckUpdateFn) -> Self {
        Self {
            create,
            update,
            subresources: &[],
            repeated: None,
        }
    }

    /// Adds the checks of updates through subresources.
    pub const fn with(self, subresources: &'static [(&'static str, CheckUpdateFn)]) -> Self {
        Self {
            subresources,
            ..self
        }
    }

    /// Repeats a check, that of metadata included, in updates of versions without a change.
    pub const fn repeated_without(self, change: &'static str, check: CheckFn) -> Self {
        Self {
            repeated: Some((change, check)),
            ..self
        }
    }

    /// Returns the check that updates repeat in a version.
    fn repeated_in(&self, kubernetes: KubernetesVersion) -> Option<CheckFn> {
        let (change, check) = self.repeated?;
        (!kubernetes.gates().is_on(change)).then_some(check)
    }

    /// Returns true if updates repeat the check of a new object's metadata in a version.
    pub(crate) fn repeats_metadata(&self, kubernetes: KubernetesVersion) -> bool {
        self.repeated_in(kubernetes).is_some()
    }

    pub(crate) fn check(
        &self,
        subresource: &str,
        object: &Field<'_>,
        old: Option<Field<'_>>,
        found: &mut Findings,
    ) {
        let Some(old) = old else {
            return (self.create)(object, found);
        };
        match subresource {
            // A scale is written into the object, which has to be valid as a whole.
            "" | "scale" => {
                if let Some(check) = self.repeated_in(found.kubernetes()) {
                    check(object, found);
                }
                (self.update)(&old, object, found);
            }
            _ => {
                let mut own = self.subresources.iter();
                if let Some((_, check)) = own.find(|(name, _)| *name == subresource) {
                    check(&old, object, found);
                }
            }
        }
    }
}
