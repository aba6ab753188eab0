//! The objects that a replica has observed by its lists and watches, by selection.

use std::{collections::BTreeSet, fmt};

use fakeserver::faults::RequestFacts;
use tracefile::MirroredSelection;

use super::kinds::{ServedKinds, full_name};

/// A read of a replica.
#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    /// `get`, `list` or `watch`.
    pub(super) verb: &'static str,
    /// The plural name of the resource, with its group.
    pub(super) resource: String,
    /// The kind of its objects.
    pub(super) kind: String,
    pub(super) namespace: Option<String>,
    pub(super) name: Option<String>,
    pub(super) selector: Option<String>,
    /// True if it selects by fields, too.
    pub(super) has_field_selector: bool,
    /// The version from which on it reads.
    pub(super) resource_version: String,
    /// True for a later page of a list.
    pub(super) is_continued: bool,
}

/// The objects that a replica has observed, by selection.
#[derive(Debug, Default)]
pub(super) struct ClientView(Vec<(MirroredSelection, BTreeSet<usize>)>);

// === impl Query ===

impl Query {
    /// Reads a request.
    pub(super) fn of(facts: &RequestFacts, query: Option<&str>, kinds: &ServedKinds) -> Self {
        let query = query.unwrap_or_default();
        let parameter = |wanted: &str| {
            let mut pairs = form_urlencoded::parse(query.as_bytes());
            let found = pairs.find(|(key, value)| key == wanted && !value.is_empty());
            found.map(|(_, value)| value.into_owned())
        };
        let mut served = kinds.resources().iter();
        let kind = served.find(|it| it.resource == facts.resource && it.group == facts.group);
        Self {
            verb: facts.verb,
            resource: full_name(&facts.resource, &facts.group),
            kind: kind.map(|kind| kind.kind.clone()).unwrap_or_default(),
            namespace: facts.namespace.clone(),
            name: facts.name.clone(),
            selector: parameter("labelSelector"),
            has_field_selector: parameter("fieldSelector").is_some(),
            resource_version: facts.resource_version.clone(),
            is_continued: facts.has_continue,
        }
    }

    /// Returns what a list or a watch lets its client mirror. One object, or a selection by fields, mirrors nothing that can
    /// be compared.
    pub(super) fn mirrored(&self) -> Option<MirroredSelection> {
        let is_collection = self.verb != "get" && self.name.is_none() && !self.has_field_selector;
        is_collection.then(|| MirroredSelection {
            resource: self.resource.clone(),
            namespace: self.namespace.clone(),
            selector: self.selector.clone(),
        })
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        match (&self.namespace, &self.name) {
            (Some(namespace), Some(name)) => write!(f, " {namespace}/{name}")?,
            (None, Some(name)) => write!(f, " {name}")?,
            (Some(namespace), None) => write!(f, " in {namespace}")?,
            (None, None) => {}
        }
        if let Some(selector) = &self.selector {
            write!(f, " with {selector}")?;
        }
        if !self.resource_version.is_empty() {
            write!(f, " from \"{}\"", self.resource_version)?;
        }
        Ok(())
    }
}

// === impl ClientView ===

impl ClientView {
    /// Takes a selection, and returns whether it is new.
    pub(super) fn mirrors(&mut self, mirrored: &MirroredSelection) -> bool {
        let is_new = self.0.iter().all(|(selection, _)| selection != mirrored);
        if is_new {
            self.0.push((mirrored.clone(), BTreeSet::new()));
        }
        is_new
    }

    /// Takes objects of a selection, and returns those that are gone: they are not in a list that is whole, and no other
    /// selection shows them.
    pub(super) fn listed(
        &mut self,
        mirrored: &MirroredSelection,
        objects: &[(usize, u64)],
        is_whole: bool,
    ) -> Vec<usize> {
        let objects: BTreeSet<usize> = objects.iter().map(|(object, _)| *object).collect();
        let Some((_, held)) = self
            .0
            .iter_mut()
            .find(|(selection, _)| selection == mirrored)
        else {
            return Vec::new();
        };
        let mut gone = BTreeSet::new();
        if is_whole {
            gone = held.difference(&objects).copied().collect();
            held.clear();
        }
        held.extend(objects);
        self.unviewed(gone)
    }

    /// Takes a deletion, and returns the object unless another selection shows it.
    pub(super) fn deleted(&mut self, mirrored: &MirroredSelection, object: usize) -> Vec<usize> {
        for (selection, held) in &mut self.0 {
            if selection == mirrored {
                held.remove(&object);
            }
        }
        self.unviewed(BTreeSet::from([object]))
    }

    fn unviewed(&self, mut objects: BTreeSet<usize>) -> Vec<usize> {
        for (_, held) in &self.0 {
            objects.retain(|object| !held.contains(object));
        }
        objects.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirrored(namespace: Option<&str>) -> MirroredSelection {
        MirroredSelection {
            resource: "pods".to_owned(),
            namespace: namespace.map(ToOwned::to_owned),
            selector: None,
        }
    }

    #[test]
    fn a_whole_list_shows_what_is_gone_and_a_page_does_not() {
        let (all, mut view) = (mirrored(None), ClientView::default());
        assert!(view.mirrors(&all));
        assert!(!view.mirrors(&all));
        assert!(view.listed(&all, &[(0, 1), (1, 1)], false).is_empty());
        assert!(view.listed(&all, &[(2, 1)], false).is_empty());
        assert_eq!(view.listed(&all, &[(1, 2)], true), [0, 2]);
        assert!(view.deleted(&all, 1) == [1]);
    }

    #[test]
    fn an_object_is_not_gone_while_another_selection_shows_it() {
        let (all, one, mut view) = (mirrored(None), mirrored(Some("one")), ClientView::default());
        view.mirrors(&all);
        view.mirrors(&one);
        view.listed(&all, &[(0, 1)], true);
        view.listed(&one, &[(0, 1)], true);
        assert!(view.deleted(&one, 0).is_empty());
        assert_eq!(view.deleted(&all, 0), [0]);
    }

    #[test]
    fn one_object_and_a_selection_by_fields_mirror_nothing() {
        let list = Query {
            verb: "list",
            resource: "pods".to_owned(),
            ..Query::default()
        };
        assert_eq!(list.mirrored(), Some(mirrored(None)));
        let by_field = Query {
            has_field_selector: true,
            ..list.clone()
        };
        let get = Query {
            verb: "get",
            ..list
        };
        assert_eq!((by_field.mirrored(), get.mirrored()), (None, None));
    }
}
