//! References of pods to config maps and secrets: those of volumes, of whole environments, and of single variables.

use fakeserver_value::read::text;
use serde_json::Value;

use super::sources::{Entries, PodSources};

/// A reference to a config map or a secret of the pod's namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference<'a> {
    pub(crate) holder: Holder,
    pub(crate) name: &'a str,
    /// True if a pod does without it, or without parts of it.
    pub(crate) is_optional: bool,
    pub(crate) part: EntrySelection<'a>,
}

/// The kind of an object that holds entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    ConfigMap,
    Secret,
}

/// The entries that a reference is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntrySelection<'a> {
    All,
    /// Items with a `key`, and the `path` that it gets in a volume.
    Items(&'a [Value]),
    Key(&'a str),
}

// === impl Reference ===

impl<'a> Reference<'a> {
    /// Reads the reference of a volume, or of a source of a projected one.
    pub(crate) fn of_volume(source: &'a Value) -> Option<Self> {
        let (map, secret) = (&source["configMap"], &source["secret"]);
        // A projected source calls it `name`, a volume `secretName`.
        let secret_name = match secret["secretName"].as_str() {
            Some(_) => "secretName",
            None => "name",
        };
        let read = |holder, reference: &'a Value, field| {
            let items = reference["items"]
                .as_array()
                .filter(|items| !items.is_empty());
            let part = items.map_or(EntrySelection::All, |items| EntrySelection::Items(items));
            Self::of(holder, reference, field, part)
        };
        let map = read(Holder::ConfigMap, map, "name");
        map.or_else(|| read(Holder::Secret, secret, secret_name))
    }

    /// Reads the reference of an entry of `envFrom`.
    pub(crate) fn of_environment(source: &'a Value) -> Option<Self> {
        let (map, secret) = (&source["configMapRef"], &source["secretRef"]);
        let read = |holder, reference| Self::of(holder, reference, "name", EntrySelection::All);
        read(Holder::ConfigMap, map).or_else(|| read(Holder::Secret, secret))
    }

    /// Reads the reference of a variable's `valueFrom`.
    pub(crate) fn of_variable(from: &'a Value) -> Option<Self> {
        let (map, secret) = (&from["configMapKeyRef"], &from["secretKeyRef"]);
        let read = |holder, reference: &'a Value| {
            let part = EntrySelection::Key(text(&reference["key"]));
            Self::of(holder, reference, "name", part)
        };
        read(Holder::ConfigMap, map).or_else(|| read(Holder::Secret, secret))
    }

    fn of(
        holder: Holder,
        reference: &'a Value,
        field: &str,
        part: EntrySelection<'a>,
    ) -> Option<Self> {
        Some(Self {
            holder,
            name: reference[field].as_str()?,
            is_optional: reference["optional"] == true,
            part,
        })
    }

    /// Returns the entries of the object that it leads to; `None` if that is not there.
    pub(super) fn entries(&self, sources: &dyn PodSources) -> Option<Entries> {
        match self.holder {
            Holder::ConfigMap => sources.config_map(self.name),
            Holder::Secret => sources.secret(self.name),
        }
    }
}

// === impl EntrySelection ===

impl<'a> EntrySelection<'a> {
    /// Returns the keys that have to be there.
    pub(crate) fn keys(self) -> Vec<&'a str> {
        match self {
            Self::All => Vec::new(),
            Self::Items(items) => items.iter().map(|item| text(&item["key"])).collect(),
            Self::Key(key) => vec![key],
        }
    }

    /// Chooses the entries that it is about, by their paths in a volume.
    pub(super) fn chosen(self, mut entries: Entries) -> Entries {
        match self {
            Self::All => entries,
            Self::Items(items) => {
                let chosen = items.iter().filter_map(|item| {
                    let content = entries.get(text(&item["key"]))?.clone();
                    Some((text(&item["path"]).to_owned(), content))
                });
                chosen.collect()
            }
            Self::Key(key) => entries.remove_entry(key).into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_is_read_of_volumes_environments_and_variables() {
        let whole = |holder, name| Reference {
            holder,
            name,
            is_optional: false,
            part: EntrySelection::All,
        };
        let map = json!({"configMap": {"name": "m", "optional": true}});
        let optional = Reference {
            is_optional: true,
            ..whole(Holder::ConfigMap, "m")
        };
        assert_eq!(Reference::of_volume(&map), Some(optional));
        for secret in [
            json!({"secret": {"secretName": "s"}}),
            json!({"secret": {"name": "s"}}),
        ] {
            let read = Reference::of_volume(&secret);
            assert_eq!(read, Some(whole(Holder::Secret, "s")));
        }
        let from = json!({"prefix": "P_", "secretRef": {"name": "s"}});
        let read = Reference::of_environment(&from);
        assert_eq!(read, Some(whole(Holder::Secret, "s")));
        let from = json!({"configMapKeyRef": {"name": "m", "key": "k"}});
        let read = Reference::of_variable(&from).unwrap();
        assert_eq!((read.name, read.part), ("m", EntrySelection::Key("k")));
        let other = json!({"fieldRef": {"fieldPath": "metadata.name"}, "emptyDir": {}});
        assert_eq!(Reference::of_variable(&other), None);
        assert_eq!(Reference::of_volume(&other), None);
    }

    #[test]
    fn items_are_chosen_each_time_that_they_are_named() {
        let entries = Entries::from([("a".into(), b"1".to_vec()), ("b".into(), b"2".to_vec())]);
        let item = |key: &str, path: &str| json!({"key": key, "path": path});
        let items = [item("a", "x/y"), item("a", "x/z"), item("c", "z")];
        let part = EntrySelection::Items(&items);
        assert_eq!(part.keys(), ["a", "a", "c"]);
        let chosen = part.chosen(entries.clone());
        let expected = ["x/y", "x/z"].map(|path| (path.to_owned(), b"1".to_vec()));
        assert_eq!(chosen, Entries::from(expected));
        assert_eq!(EntrySelection::All.chosen(entries.clone()), entries);
    }
}
