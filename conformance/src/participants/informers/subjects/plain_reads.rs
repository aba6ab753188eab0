//! The plain reads of a cache, each compared with a scan of its objects, and questions that have to be refused.

use informer::{
    DecodeError, Indexer, IndexerError, LabelSelector, ListerError, NamespacedLister, Object,
    Snapshot,
};

use super::{
    indices::TIER,
    readers::{version, versions},
};
use crate::plan::NAMESPACES;

/// A name that nothing has.
const NOBODY: &str = "nobody";

/// Texts that are no selectors.
const REFUSED: [&str; 14] = [
    "=web",
    "tier=a b",
    "tier in",
    "tier in ()",
    "tier in (web",
    "tier=web,",
    "!",
    "tier>web",
    "tier<-1",
    "-tier",
    "tier=web-",
    "tier=w%b",
    "Example.com/tier",
    "example-/tier",
];

/// Texts that are selectors, as they are written again.
const ACCEPTED: [&str; 5] = [
    "a.example-1.com/tier",
    "tier=web_1.a-B",
    "slot>2,!tier",
    "tier in (,db)",
    "tier notin (db,web)",
];

/// A difference: its name, and its description.
type Difference = (String, String);

/// Compares what `indexer` and `snapshot` answer with a scan of `snapshot`.
pub(super) fn compare<K: Send + Sync + 'static>(
    indexer: &Indexer<K>,
    snapshot: &Snapshot<K>,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut expect = |name: &str, is_true: bool| {
        if !is_true {
            differences.push((name.to_owned(), "differs from a scan".to_owned()));
        }
    };
    let all = versions(snapshot.iter());
    expect("indexer", versions(indexer.list().iter()) == all);
    expect("size", indexer.len() == all.len());
    expect("emptiness", indexer.is_empty() == all.is_empty());
    expect("own emptiness", snapshot.is_empty() == all.is_empty());
    for namespace in NAMESPACES {
        let objects = snapshot.iter();
        let want = versions(objects.filter(|object| object.key().namespace() == namespace));
        expect(namespace, versions(snapshot.namespace(namespace)) == want);
        expect(
            namespace,
            versions(indexer.namespace(namespace).iter()) == want,
        );
        expect(NOBODY, snapshot.get_by_name(namespace, NOBODY).is_none());
    }
    for object in snapshot.iter() {
        let (key, want) = (object.key(), Some(version(object)));
        let (namespace, name) = (key.namespace(), key.name());
        let found = |found: Option<&Object<K>>| found.map(version);
        expect(name, found(indexer.get(key).as_ref()) == want);
        expect(name, found(snapshot.get_by_name(namespace, name)) == want);
        expect(NOBODY, snapshot.get_by_name(NOBODY, name).is_none());
        let is_refused = snapshot.get_undecodable(key).is_some();
        expect("object of what cannot be decoded", !is_refused);
    }
    let refused = |errors: &mut dyn Iterator<Item = &DecodeError>| -> Vec<_> {
        let versions = errors.map(|error| (error.key.clone(), error.resource_version.to_string()));
        versions.collect()
    };
    let want = refused(&mut snapshot.undecodable());
    expect(
        "all that cannot be decoded",
        refused(&mut indexer.undecodable().iter()) == want,
    );
    let found = snapshot
        .undecodable()
        .filter_map(|error| snapshot.get_undecodable(&error.key));
    expect(
        "what cannot be decoded",
        refused(&mut found.into_iter()) == want,
    );
    let marked = snapshot.unindexed(TIER).map(|marked| marked.len());
    expect("what has no index value", marked == Ok(0));
    let unknown = Err(IndexerError::UnknownIndex {
        name: NOBODY.to_owned(),
    });
    expect(
        "unknown index",
        snapshot.index_keys(NOBODY, "web") == unknown,
    );
    differences
}

/// Asks questions that have to be refused, and others of the same kind.
pub(super) fn ask_in_vain<K>(lister: &NamespacedLister<K>) -> Vec<Difference> {
    let mut differences = Vec::new();
    for text in REFUSED {
        if text.parse::<LabelSelector>().is_ok() {
            differences.push((text.to_owned(), "is taken for a selector".to_owned()));
        }
    }
    for text in ACCEPTED {
        let written = text.parse::<LabelSelector>().map(|own| own.to_string());
        if written.as_deref() != Ok(text) {
            differences.push((text.to_owned(), format!("became {written:?}")));
        }
    }
    let is_everything = |text: &str| {
        let parsed = text.parse::<LabelSelector>();
        parsed.is_ok_and(|selector| selector.is_everything())
    };
    if !is_everything("") || is_everything("tier") {
        differences.push(("everything".to_owned(), "is something else".to_owned()));
    }
    match lister.get(NOBODY) {
        Err(error @ ListerError::NotFound { .. }) if error.to_string().contains(NAMESPACES[0]) => {}
        Err(ListerError::NotStarted { .. }) => {}
        Err(error) => differences.push((NOBODY.to_owned(), format!("is described as {error}"))),
        Ok(_) => differences.push((NOBODY.to_owned(), "is there".to_owned())),
    }
    differences
}
