//! The checks of a kind's objects.

use fakeserver_value::{field::Field, findings::Findings};

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
        }
    }

    /// Adds the checks of updates through subresources.
    pub const fn with(self, subresources: &'static [(&'static str, CheckUpdateFn)]) -> Self {
        Self {
            subresources,
            ..self
        }
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
            "" | "scale" => (self.update)(&old, object, found),
            _ => {
                let mut own = self.subresources.iter();
                if let Some((_, check)) = own.find(|(name, _)| *name == subresource) {
                    check(&old, object, found);
                }
            }
        }
    }
}
