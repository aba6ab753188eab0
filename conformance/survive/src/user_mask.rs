//! The fields that a user's file masks, and which of them differed.

use std::sync::atomic::{AtomicBool, Ordering};

use super::end_state::{Difference, Mask, hides};

/// The pairs of objects and paths of a user's file. Each remembers whether it hid a difference.
#[derive(Debug, Default)]
pub(super) struct UserMask(Vec<((String, String), AtomicBool)>);

// === impl UserMask ===

impl UserMask {
    /// Takes the pairs. A path may begin with a dot.
    pub(super) fn of(mask: &Mask) -> Self {
        let pairs = mask.0.iter().map(|(object, path)| {
            let path = path.strip_prefix('.').unwrap_or(path);
            ((object.clone(), path.to_owned()), AtomicBool::default())
        });
        Self(pairs.collect())
    }

    /// Returns whether a difference is hidden.
    pub(super) fn hides(&self, difference: &Difference) -> bool {
        let hiding = self.0.iter().find(|(pair, _)| hides(pair, difference));
        if let Some((_, hid)) = hiding {
            hid.store(true, Ordering::Relaxed);
        }
        hiding.is_some()
    }

    /// Returns the pairs, each with whether it hid a difference.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&(String, String), bool)> {
        let pairs = self.0.iter();
        pairs.map(|(pair, hid)| (pair, hid.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_never_differs_is_reported() {
        let pair = |path: &str| ("configmaps default/one".to_owned(), path.to_owned());
        let given = UserMask::of(&Mask([pair(".data.x"), pair("data.y")].into()));
        let difference = |path: &str| Difference {
            object: pair("").0,
            path: path.to_owned(),
            text: "is 1 instead of 2".to_owned(),
        };
        assert!(given.hides(&difference("data.x")) && !given.hides(&difference("data.z")));
        let pairs: Vec<_> = given.pairs().collect();
        assert_eq!(pairs, [(&pair("data.x"), true), (&pair("data.y"), false)]);
    }
}
