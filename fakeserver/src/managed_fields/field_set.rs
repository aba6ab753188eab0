//! A set of fields of an object, in the form in which `fieldsV1` writes it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A set of paths, as a tree of path elements.
///
/// An element is kept as the wire writes it: `f:name` for a field, `k:{"name":"x"}` for an item of a list by its keys,
/// `v:"x"` for an item of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSet {
    children: BTreeMap<String, Node>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    /// Whether the path that ends here is in the set.
    is_member: bool,
    below: FieldSet,
}

/// How a `fieldsV1` writes that the path up to here is in the set.
const SELF: &str = ".";

// === impl FieldSet ===

impl FieldSet {
    /// Reads a `fieldsV1`; nothing if it is none.
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        let mut children = BTreeMap::new();
        for (element, below) in value.as_object()? {
            if element == SELF {
                continue;
            }
            if !matches!(element.get(..2), Some("f:" | "k:" | "v:" | "i:")) {
                return None;
            }
            let fields = below.as_object()?;
            let node = Node {
                is_member: fields.is_empty() || fields.contains_key(SELF),
                below: Self::from_value(below)?,
            };
            children.insert(element.clone(), node);
        }
        Some(Self { children })
    }

    /// Writes a `fieldsV1`.
    pub(crate) fn to_value(&self) -> Value {
        let mut fields = Map::new();
        for (element, node) in &self.children {
            let mut below = node.below.to_value();
            if let Value::Object(below) = &mut below
                && node.is_member
                && !below.is_empty()
            {
                below.insert(SELF.to_owned(), Value::Object(Map::new()));
            }
            fields.insert(element.clone(), below);
        }
        Value::Object(fields)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    /// Adds the path to this set. The empty path is no field.
    pub(crate) fn insert(&mut self, path: &[String]) {
        let Some((element, rest)) = path.split_first() else {
            return;
        };
        let node = self.children.entry(element.clone()).or_default();
        if rest.is_empty() {
            node.is_member = true;
        } else {
            node.below.insert(rest);
        }
    }

    /// Adds all of `other`.
    pub(crate) fn extend(&mut self, other: &Self) {
        for (element, theirs) in &other.children {
            let ours = self.children.entry(element.clone()).or_default();
            ours.is_member |= theirs.is_member;
            ours.below.extend(&theirs.below);
        }
    }

    /// Takes out all of `other`. Says whether anything was taken out.
    pub(crate) fn subtract(&mut self, other: &Self) -> bool {
        let mut is_changed = false;
        self.children.retain(|element, ours| {
            if let Some(theirs) = other.children.get(element) {
                is_changed |= ours.is_member && theirs.is_member;
                ours.is_member &= !theirs.is_member;
                is_changed |= ours.below.subtract(&theirs.below);
            }
            ours.is_member || !ours.below.is_empty()
        });
        is_changed
    }

    /// Takes out `element` with everything below it.
    pub(crate) fn remove(&mut self, element: &str) {
        self.children.remove(element);
    }

    /// Takes out what `cut` takes out of what is below `element`, and `element` itself.
    pub(crate) fn cut(&mut self, element: &str, cut: impl FnOnce(&mut Self)) {
        if let Some(node) = self.children.get_mut(element) {
            node.is_member = false;
            cut(&mut node.below);
            if node.below.is_empty() {
                self.children.remove(element);
            }
        }
    }
}
