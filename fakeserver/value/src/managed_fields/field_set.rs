//! A set of fields of an object, in the form in which `fieldsV1` writes it.

use serde_json::{Map, Value};

use crate::schema::Schema;

/// A set of paths, as a tree of path elements.
///
/// An element is kept as the wire writes it: `f:name` for a field, `k:{"name":"x"}` for an item of a list by its keys,
/// `v:"x"` for an item of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// In the order of their elements, each of which is there once. Most sets are small, and made in that order.
    children: Vec<(String, Node)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    /// True if the path that ends here is in the set.
    is_member: bool,
    below: FieldSet,
}

/// The key by which `fieldsV1` marks that the path up to here is in the set.
const SELF: &str = ".";

// === impl FieldSet ===

impl FieldSet {
    /// Reads a `fieldsV1`; `None` if it is invalid.
    pub fn from_value(value: &Value) -> Option<Self> {
        let mut set = Self::default();
        for (element, below) in value.as_object()? {
            if element == SELF {
                continue;
            }
            if !matches!(element.get(..2), Some("f:" | "k:" | "v:" | "i:")) {
                return None;
            }
            let fields = below.as_object()?;
            *set.node_mut(element) = Node {
                is_member: fields.is_empty() || fields.contains_key(SELF),
                below: Self::from_value(below)?,
            };
        }
        Some(set)
    }

    /// Writes a `fieldsV1`.
    pub fn into_value(self) -> Value {
        self.into_members(false)
    }

    /// The same, which says of itself that it is in the set, too, if it is.
    fn into_members(self, is_member: bool) -> Value {
        let has_own = is_member && !self.is_empty();
        let own = has_own.then(|| (SELF.to_owned(), Value::Object(Map::new())));
        let children = self.children.into_iter();
        let children = children.map(|(element, node)| {
            let below = node.below.into_members(node.is_member);
            (element, below)
        });
        Value::Object(own.into_iter().chain(children).collect())
    }

    /// Returns the index of `element`, or the index at which it would be inserted.
    fn find(&self, element: &str) -> Result<usize, usize> {
        match self.children.last() {
            Some((last, _)) if last.as_str() < element => Err(self.children.len()),
            _ => (self.children).binary_search_by(|(own, _)| own.as_str().cmp(element)),
        }
    }

    fn node(&self, element: &str) -> Option<&Node> {
        let at = self.find(element).ok()?;
        Some(&self.children[at].1)
    }

    /// The node of `element`, which is made if it is not there.
    fn node_mut(&mut self, element: &str) -> &mut Node {
        let at = self.find(element).unwrap_or_else(|at| {
            let child = (element.to_owned(), Node::default());
            self.children.insert(at, child);
            at
        });
        &mut self.children[at].1
    }

    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    /// Adds the path to this set. The empty path is no field.
    pub fn insert(&mut self, path: &[String]) {
        let Some((element, rest)) = path.split_first() else {
            return;
        };
        let node = self.node_mut(element);
        if rest.is_empty() {
            node.is_member = true;
        } else {
            node.below.insert(rest);
        }
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: &Self) {
        for (element, theirs) in &other.children {
            let ours = self.node_mut(element);
            ours.is_member |= theirs.is_member;
            ours.below.extend(&theirs.below);
        }
    }

    /// Takes out all of `other`. Says whether anything was taken out.
    pub fn subtract(&mut self, other: &Self) -> bool {
        let mut is_changed = false;
        self.children.retain_mut(|(element, ours)| {
            if let Some(theirs) = other.node(element) {
                is_changed |= ours.is_member && theirs.is_member;
                ours.is_member &= !theirs.is_member;
                is_changed |= ours.below.subtract(&theirs.below);
            }
            ours.is_member || !ours.below.is_empty()
        });
        is_changed
    }

    /// Takes out `element` with everything below it.
    pub fn remove(&mut self, element: &str) {
        if let Ok(at) = self.find(element) {
            self.children.remove(at);
        }
    }

    /// Removes `element`, and applies `cut` to the set below it.
    pub fn cut(&mut self, element: &str, cut: impl FnOnce(&mut Self)) {
        if let Ok(at) = self.find(element) {
            let node = &mut self.children[at].1;
            node.is_member = false;
            cut(&mut node.below);
            if node.below.is_empty() {
                self.children.remove(at);
            }
        }
    }

    /// Returns its elements: whether the path of just the element is in the set, and the set below it.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&str, bool, &Self)> {
        let children = self.children.iter();
        children.map(|(element, node)| (element.as_str(), node.is_member, &node.below))
    }

    /// Adds `element`, if `is_member`, and what is `below` it.
    pub fn insert_node(&mut self, element: String, is_member: bool, below: Self) {
        if !is_member && below.is_empty() {
            return;
        }
        let node = Node { is_member, below };
        match self.find(&element) {
            Ok(at) => self.children[at].1 = node,
            Err(at) => self.children.insert(at, (element, node)),
        }
    }

    /// Returns whether the path of just `element` is in the set.
    pub fn has(&self, element: &str) -> bool {
        self.node(element).is_some_and(|node| node.is_member)
    }

    /// Returns the set below `element`, if there is one.
    pub fn below(&self, element: &str) -> Option<&Self> {
        self.node(element)
            .map(|node| &node.below)
            .filter(|below| !below.is_empty())
    }

    /// Returns the intersection of both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = Self::default();
        for (element, ours) in &self.children {
            if let Some(theirs) = other.node(element) {
                let is_member = ours.is_member && theirs.is_member;
                both.insert_node(
                    element.clone(),
                    is_member,
                    ours.below.intersection(&theirs.below),
                );
            }
        }
        both
    }

    /// Returns the set with every declared struct that has a field in the set.
    ///
    /// A struct has no owner of its own: a manager that gives up all its fields gives up the struct, too.
    pub fn with_structs(&self, schema: Option<Schema<'_>>) -> Self {
        let mut all = Self::default();
        for (element, node) in &self.children {
            let (schema, is_declared) = match element.strip_prefix("f:") {
                Some(name) => {
                    let property = schema.and_then(|schema| schema.property(name));
                    let value = property.or_else(|| schema.and_then(Schema::additional));
                    (value, property.is_some())
                }
                None => (schema.and_then(Schema::items), false),
            };
            all.insert_node(
                element.clone(),
                node.is_member || is_declared,
                node.below.with_structs(schema),
            );
        }
        all
    }

    /// The paths in the set, as errors print them: `.spec.containers[name="c"].image`.
    pub fn printed(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.print_below("", &mut paths);
        paths
    }

    fn print_below(&self, prefix: &str, paths: &mut Vec<String>) {
        let printed = |element: &str| format!("{prefix}{}", print_element(element));
        for (element, node) in &self.children {
            if node.is_member {
                paths.push(printed(element));
            }
        }
        for (element, node) in &self.children {
            if !node.below.is_empty() {
                node.below.print_below(&printed(element), paths);
            }
        }
    }
}

/// A path element as errors print it.
pub fn print_element(element: &str) -> String {
    match element.split_at_checked(2) {
        Some(("f:", name)) => format!(".{name}"),
        Some(("k:", keys)) => match serde_json::from_str::<Map<String, Value>>(keys) {
            Ok(keys) => {
                let keys: Vec<String> = keys
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                format!("[{}]", keys.join(","))
            }
            Err(_) => format!("[{keys}]"),
        },
        Some(("v:", value)) => format!("[={value}]"),
        Some((_, index)) => format!("[{index}]"),
        None => element.to_owned(),
    }
}
