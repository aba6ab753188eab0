//! The fields that are left out while an object is decoded: dropped ones are skipped, and never built.

use std::cell::RefCell;

use super::{FieldPath, Step, after_element, after_key};

/// The dropped fields of an object: of each value on the way to the one that is decoded, the steps that are left on each path.
/// None of them is at its end.
pub(crate) struct DroppedFields<'a>(RefCell<Vec<&'a [Step]>>);

/// The paths that continue in one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DroppedPaths {
    begin: usize,
    end: usize,
}

// === impl DroppedFields ===

impl<'a> DroppedFields<'a> {
    pub(crate) fn new(paths: &'a [FieldPath]) -> Self {
        Self(RefCell::new(paths.iter().map(|path| &*path.0).collect()))
    }

    /// Returns the paths in the whole object.
    pub(crate) fn paths(&self) -> DroppedPaths {
        DroppedPaths {
            begin: 0,
            end: self.0.borrow().len(),
        }
    }

    /// Returns the paths that continue in the value of a key; `None` if the value is dropped.
    pub(crate) fn after_key(&self, paths: DroppedPaths, key: &str) -> Option<DroppedPaths> {
        self.after(paths, |steps| after_key(steps, key))
    }

    /// Returns the paths that continue in each element of a sequence; `None` if all elements are dropped.
    pub(crate) fn after_element(&self, paths: DroppedPaths) -> Option<DroppedPaths> {
        self.after(paths, |steps| Some(after_element(steps)))
    }

    fn after(
        &self,
        paths: DroppedPaths,
        step: impl Fn(&'a [Step]) -> Option<&'a [Step]>,
    ) -> Option<DroppedPaths> {
        if paths.begin == paths.end {
            return Some(paths);
        }
        let mut all = self.0.borrow_mut();
        // What follows is of the value before, which is complete.
        all.truncate(paths.end);
        for at in paths.begin..paths.end {
            let Some(rest) = step(all[at]) else {
                continue;
            };
            if rest.is_empty() {
                return None;
            }
            all.push(rest);
        }
        let (begin, end) = (paths.end, all.len());
        Some(DroppedPaths { begin, end })
    }
}
