//! The lengths of the arrays of an object, so that its vectors are as long as they need to be.
//!
//! A parser of JSON does not know how long an array is before it ends, so that vectors grow by doubling, and what they do not
//! fill stays with them: a tenth of the memory of a pod. Here arrays have been measured, by the outline.

use std::cell::Cell;

/// The number of elements of each array of an object, in the order in which a parser reaches them.
///
/// A length is a hint: one that is wrong costs memory, and nothing else.
#[derive(Debug, Default)]
pub(crate) struct Lengths {
    /// The address of the JSON in memory: the skipped part shows how far the parser has come.
    begin: usize,
    /// In the order in which they begin.
    arrays: Vec<ArrayLength>,
    /// The first of them that the parser has not come to.
    next: Cell<usize>,
}

/// The number of strings and nested values of an array. Numbers are not counted: there are few vectors of them.
#[derive(Debug)]
pub(crate) struct ArrayLength {
    /// Its place in the JSON.
    pub(crate) begin: usize,
    pub(crate) len: usize,
}

// === impl Lengths ===

impl Lengths {
    /// Creates the lengths of the arrays of `json`, in the order in which they begin.
    pub(crate) fn new(json: &str, arrays: Vec<ArrayLength>) -> Self {
        Self {
            begin: json.as_ptr().addr(),
            arrays,
            next: Cell::new(0),
        }
    }

    #[cfg(test)]
    pub(crate) fn arrays(&self) -> Vec<usize> {
        self.arrays.iter().map(|array| array.len).collect()
    }

    /// Notes that the parser has stepped over `json`, and the arrays in it.
    pub(super) fn note_skipped(&self, json: &str) {
        let end = json.as_ptr().addr() + json.len();
        let rest = self.arrays.iter().skip(self.next.get());
        let skipped = rest
            .take_while(|array| self.begin + array.begin < end)
            .count();
        self.next.set(self.next.get() + skipped);
    }

    /// Returns the length of the array that begins here.
    pub(super) fn begin_array(&self) -> usize {
        let next = self.next.get();
        self.next.set(next + 1);
        self.arrays.get(next).map_or(0, |array| array.len)
    }
}
