//! The state of one object, and the conditions that need nothing else.

use std::{convert::Infallible, fmt};

use crate::object::{Deleted, Object};

/// The state of one object that is waited for.
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: there, gone, or never there"
)]
pub enum ObjectState<K> {
    /// The object did not exist when the wait began, and was not created since.
    Absent,
    /// The object exists, in this version.
    Present(Object<K>),
    /// The object was deleted during the wait: the last state, or a tombstone if no watch was open at that moment.
    Deleted(Deleted<K>),
}

// === impl ObjectState ===

impl<K> ObjectState<K> {
    /// The object, if it exists.
    pub fn object(&self) -> Option<&Object<K>> {
        match self {
            Self::Present(object) => Some(object),
            Self::Absent | Self::Deleted(_) => None,
        }
    }

    /// Returns true if the object exists.
    pub fn is_present(&self) -> bool {
        self.object().is_some()
    }
}

impl<K> Clone for ObjectState<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Absent => Self::Absent,
            Self::Present(object) => Self::Present(object.clone()),
            Self::Deleted(deleted) => Self::Deleted(deleted.clone()),
        }
    }
}

impl<K> fmt::Debug for ObjectState<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("Absent"),
            Self::Present(object) => write!(f, "Present({object:?})"),
            Self::Deleted(deleted) => write!(f, "Deleted({})", deleted.key()),
        }
    }
}

/// The condition that an object exists.
///
/// # Errors
///
/// None.
pub fn exists<K>(state: &ObjectState<K>) -> Result<bool, Infallible> {
    Ok(state.is_present())
}

/// Returns whether an object does not exist, including one that never existed. An object that is deleted and recreated
/// meets this condition too, for the moment in between.
///
/// # Errors
///
/// None.
pub fn deleted<K>(state: &ObjectState<K>) -> Result<bool, Infallible> {
    Ok(!state.is_present())
}
