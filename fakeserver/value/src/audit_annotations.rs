//! Annotations that admission adds to the audit event of a request.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Arc, Mutex, PoisonError},
};

use serde::Serialize;

use super::{go_text, names::qualified_name_problems};

/// The annotations of the audit event of a request, if there is to be one. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct AuditAnnotations(Option<Arc<Mutex<BTreeMap<String, Annotation>>>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Annotation {
    value: String,
    /// True if it tells something of the body of the request.
    is_of_body: bool,
}

// === impl AuditAnnotations ===

impl AuditAnnotations {
    /// Returns annotations that are kept, none yet.
    pub fn kept() -> Self {
        Self(Some(Arc::default()))
    }

    /// Returns whether an audit event will record the annotations.
    pub fn are_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Adds an annotation for all levels but `None`. The first value of a key stays, and a key that is no qualified name with a
    /// prefix is left out, as by a real server.
    pub fn add(&self, key: &str, value: impl Into<String>) {
        self.add_as(key, value.into(), false);
    }

    /// Adds a value as JSON, as Go writes it.
    pub fn add_json(&self, key: &str, value: &impl Serialize) {
        if self.are_kept() {
            self.add_as(key, json(value), false);
        }
    }

    /// Adds a value as JSON that tells something of the body of the request, for the level `Request` and those above it.
    pub fn add_json_of_body(&self, key: &str, value: &impl Serialize) {
        if self.are_kept() {
            self.add_as(key, json(value), true);
        }
    }

    /// Returns the annotations: all of them, or those that do not depend on the body of the request.
    pub fn logged(&self, with_body: bool) -> BTreeMap<String, String> {
        let Some(kept) = &self.0 else {
            return BTreeMap::new();
        };
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let logged = kept.iter().filter(|(_, it)| with_body || !it.is_of_body);
        logged
            .map(|(key, it)| (key.clone(), it.value.clone()))
            .collect()
    }

    fn add_as(&self, key: &str, value: String, is_of_body: bool) {
        let Some(kept) = &self.0 else {
            return;
        };
        if !key.contains('/') || !qualified_name_problems(key).is_empty() {
            return;
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Vacant(vacant) = kept.entry(key.to_owned()) {
            vacant.insert(Annotation { value, is_of_body });
        }
    }
}

fn json(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("an annotation is JSON");
    go_text::escape_html(&json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_of_a_valid_key_is_kept() {
        let annotations = AuditAnnotations::kept();
        annotations.add("hook.example.com/a", "1");
        annotations.add("hook.example.com/a", "2");
        annotations.add("no-prefix", "1");
        annotations.add("hook.example.com/a b", "1");
        annotations.add_json_of_body("hook.example.com/patch", &["<"]);
        let expected = [("hook.example.com/a", "1")].map(|(key, value)| (key.into(), value.into()));
        assert_eq!(annotations.logged(false), BTreeMap::from(expected));
        assert_eq!(
            annotations.logged(true)["hook.example.com/patch"],
            r#"["\u003c"]"#
        );
        let nobody = AuditAnnotations::default();
        nobody.add("hook.example.com/a", "1");
        assert!(nobody.logged(true).is_empty() && !nobody.are_kept());
    }
}
