use std::{
    collections::{BTreeMap, BTreeSet},
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use proptest::prelude::*;

use super::{IndexFn, IndexerError, IndexerWriter, NAMESPACE_INDEX, RecountError, Snapshot};
use crate::{
    fixtures::{Value, key, object, object_with, undecodable},
    known::Known,
    object::{Object, ObjectKey},
};

/// One value a word; `fail` and `panic` are refused.
fn by_word() -> IndexFn<Value> {
    IndexFn::fallible(|object: &Object<Value>| {
        let text = object.get().unwrap().text.clone();
        match text.as_str() {
            "fail" => Err("the text says so"),
            // Without the hook's message on standard error.
            "panic" => resume_unwind(Box::new("told to")),
            _ => Ok(text
                .split(' ')
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect::<Vec<_>>()),
        }
    })
}

fn holding<const N: usize>(objects: [(&str, &str); N]) -> IndexerWriter<Value> {
    let mut writer = IndexerWriter::new();
    writer.add_index("word", by_word()).unwrap();
    writer.write(|draft| {
        for (name, text) in objects {
            draft.insert(object_with(name, text, []));
        }
    });
    writer
}

fn names(keys: &[ObjectKey]) -> String {
    keys.iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

#[track_caller]
fn check_index(writer: &IndexerWriter<Value>, index: &str, value: &str, expected: &str) {
    let snapshot = writer.reader().snapshot();
    assert_eq!(names(&snapshot.index_keys(index, value).unwrap()), expected);
    let found = snapshot.by_index(index, value).unwrap();
    let found: Vec<_> = found.iter().map(|object| object.key().clone()).collect();
    assert_eq!(names(&found), expected);
    assert_eq!(snapshot.recount(), Ok(()));
}

#[track_caller]
fn check_values(writer: &IndexerWriter<Value>, index: &str, expected: &str) {
    assert_eq!(
        writer.reader().list_index_values(index).unwrap().join(" "),
        expected
    );
}

#[test]
fn an_object_is_found_under_each_of_its_values() {
    let writer = holding([("n/a@1", "red blue red"), ("n/b@2", "blue"), ("n/c@3", "")]);
    check_index(&writer, "word", "red", "n/a");
    check_index(&writer, "word", "blue", "n/a n/b");
    check_index(&writer, "word", "green", "");
    check_index(&writer, "word", "blu", "");
    check_values(&writer, "word", "blue red");
}

#[test]
fn an_update_moves_an_object_between_values() {
    let mut writer = holding([("n/a@1", "red blue"), ("n/b@2", "blue")]);
    writer.write(|draft| draft.insert(object_with("n/a@3", "blue green", [])));
    check_index(&writer, "word", "red", "");
    check_index(&writer, "word", "blue", "n/a n/b");
    check_index(&writer, "word", "green", "n/a");
    check_values(&writer, "word", "blue green");
}

#[test]
fn a_value_that_nothing_has_is_forgotten() {
    let mut writer = holding([("n/a@1", "red"), ("n/b@2", "red")]);
    writer.write(|draft| draft.remove(&key("n/a")));
    check_values(&writer, "word", "red");
    writer.write(|draft| draft.remove(&key("n/b")));
    check_values(&writer, "word", "");
}

#[test]
fn the_namespace_index_is_always_there() {
    let writer = holding([("m/a@1", ""), ("m/b@1", ""), ("mm/a@1", ""), ("z@1", "")]);
    check_index(&writer, NAMESPACE_INDEX, "m", "m/a m/b");
    check_index(&writer, NAMESPACE_INDEX, "mm", "mm/a");
    check_index(&writer, NAMESPACE_INDEX, "", "z");
    check_index(&writer, NAMESPACE_INDEX, "l", "");
    check_values(&writer, NAMESPACE_INDEX, " m mm");
    assert_eq!(writer.reader().namespace("m").len(), 2);
}

#[test]
fn an_unknown_index_is_an_error_and_an_unknown_value_is_none() {
    let reader = holding([("n/a@1", "red")]).reader();
    let unknown = IndexerError::UnknownIndex {
        name: "node".into(),
    };
    assert_eq!(reader.by_index("node", "x").unwrap_err(), unknown);
    assert_eq!(reader.index_keys("node", "x").unwrap_err(), unknown);
    assert_eq!(reader.list_index_values("node").unwrap_err(), unknown);
    assert_eq!(reader.snapshot().unindexed("node").unwrap_err(), unknown);
    assert!(reader.by_index("word", "x").unwrap().is_empty());
}

#[test]
fn an_index_that_is_added_late_covers_what_is_there() {
    let mut writer = holding([("n/a@1", "red"), ("n/b@2", "fail")]);
    writer.add_index("again", by_word()).unwrap();
    check_index(&writer, "again", "red", "n/a");
    assert_eq!(
        writer.reader().snapshot().unindexed("again").unwrap().len(),
        1
    );
    assert_eq!(
        writer.reader().snapshot().index_names().join(" "),
        "again namespace word"
    );
}

#[test]
fn a_name_that_is_taken_is_refused_and_changes_nothing() {
    let mut writer = holding([("n/a@1", "red")]);
    for name in ["word", NAMESPACE_INDEX] {
        let outcome = writer.add_index(name, IndexFn::by_label("x"));
        assert_eq!(
            outcome,
            Err(IndexerError::DuplicateIndex { name: name.into() })
        );
    }
    check_index(&writer, "word", "red", "n/a");
}

#[test]
fn an_object_whose_index_function_fails_or_panics_is_stored_and_marked() {
    let mut writer = holding([("n/a@1", "red"), ("n/b@1", "panic"), ("n/c@1", "fail")]);
    let snapshot = writer.reader().snapshot();
    assert_eq!(snapshot.len(), 3);
    let unindexed = snapshot.unindexed("word").unwrap();
    let unindexed: Vec<_> = unindexed
        .iter()
        .map(|(key, why)| format!("{key}: {why}"))
        .collect();
    assert_eq!(
        unindexed,
        [
            "n/b: the index function panicked: told to",
            "n/c: the text says so"
        ]
    );
    assert_eq!(snapshot.recount(), Ok(()));

    writer.write(|draft| {
        draft.insert(object_with("n/b@2", "red", []));
        draft.insert(object_with("n/a@2", "fail", []));
        draft.remove(&key("n/c"));
    });
    check_index(&writer, "word", "red", "n/b");
    assert_eq!(
        writer.reader().snapshot().unindexed("word").unwrap().len(),
        1
    );
}

#[test]
fn indices_over_labels_and_owners_need_no_decoding() {
    let mut writer = IndexerWriter::new();
    writer.add_index("team", IndexFn::by_label("team")).unwrap();
    writer.add_index("owner", IndexFn::by_owner_uid()).unwrap();
    writer.write(|draft| {
        draft.insert(object_with("n/a@1", "", [("team", "x"), ("z", "y")]));
        draft.insert(object("n/b@1"));
    });
    check_index(&writer, "team", "x", "n/a");
    check_values(&writer, "owner", "");
}

#[test]
fn readers_see_a_whole_write_and_keep_what_they_hold() {
    let mut writer = holding([("n/a@1", "red")]);
    let reader = writer.reader();
    let before = reader.snapshot();
    writer.write(|draft| {
        draft.insert(object_with("n/b@2", "red", []));
        draft.set_resource_version("2".into());
        assert_eq!(reader.len(), 1);
    });
    assert_eq!(reader.len(), 2);
    assert_eq!(reader.resource_version().as_str(), "2");
    assert_eq!(before.len(), 1);
    assert_eq!(names(&before.index_keys("word", "red").unwrap()), "n/a");
    assert!(before.resource_version().is_unknown());
}

#[test]
fn a_write_that_panics_publishes_nothing() {
    let mut writer = holding([("n/a@1", "red")]);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        writer.write(|draft| {
            draft.remove(&key("n/a"));
            resume_unwind(Box::new(()));
        });
    }));
    assert!(panicked.is_err());
    check_index(&writer, "word", "red", "n/a");
}

#[test]
fn a_key_is_either_an_object_or_undecodable() {
    let mut writer = holding([("n/a@1", "red")]);
    writer.write(|draft| {
        draft.mark_undecodable(undecodable("n/a@2"));
        draft.mark_undecodable(undecodable("n/b@3"));
        draft.mark_undecodable(undecodable("n/c@4"));
    });
    check_index(&writer, "word", "red", "");
    writer.write(|draft| {
        assert!(draft.insert(object("n/b@5")).is_none());
        assert!(draft.remove(&key("n/c")).is_none());
    });
    let reader = writer.reader();
    assert_eq!(reader.undecodable().len(), 1);
    assert_eq!(reader.undecodable()[0].key, key("n/a"));
    assert_eq!(reader.len(), 1);
}

#[test]
fn only_the_exact_version_of_the_exact_object_is_known() {
    let writer = holding([("n/a@5#u1", "red"), ("n/b@#u2", "")]);
    let reader = writer.reader();
    let lookup = |text: &str| reader.lookup(object(text).metadata());
    let held = reader.get(&key("n/a")).unwrap();
    assert!(lookup("n/a@5#u1").unwrap().is_same(&held));
    assert!(lookup("n/a@6#u1").is_none());
    assert!(lookup("n/a@5#u2").is_none());
    assert!(lookup("n/c@5#u1").is_none());
    assert!(lookup("n/b@#u2").is_none(), "no version says nothing");
}

#[test]
fn a_recount_finds_an_index_function_that_is_not_pure() {
    let is_odd = Arc::new(AtomicBool::new(false));
    let mut writer = IndexerWriter::new();
    let flag = Arc::clone(&is_odd);
    let moody = IndexFn::<Value>::new(move |_| {
        [if flag.load(Ordering::Relaxed) {
            "odd"
        } else {
            "even"
        }]
    });
    writer.add_index("moody", moody).unwrap();
    writer.write(|draft| draft.insert(object("n/a@1")));
    assert_eq!(writer.reader().recount(), Ok(()));
    is_odd.store(true, Ordering::Relaxed);
    assert!(matches!(
        writer.reader().recount(),
        Err(RecountError::Missing { .. })
    ));
    writer.write(|draft| draft.remove(&key("n/a")));
    assert!(matches!(
        writer.reader().recount(),
        Err(RecountError::Surplus { .. })
    ));
}

// === Against a model ===

#[derive(Clone, Debug)]
enum Step {
    Insert { key: String, text: String },
    Remove { key: String },
    Undecodable { key: String },
    AddIndex,
    Publish,
}

fn any_step() -> impl Strategy<Value = Step> {
    let any_key = "(|[a-c]/)[a-d]";
    let any_text = prop_oneof![4 => "[x-z]?( [x-z]){0,2}", 1 => Just("fail".into()), 1 => Just("panic".into())];
    prop_oneof![
        6 => (any_key, any_text).prop_map(|(key, text)| Step::Insert { key, text }),
        3 => any_key.prop_map(|key| Step::Remove { key }),
        1 => any_key.prop_map(|key| Step::Undecodable { key }),
        1 => Just(Step::AddIndex),
        3 => Just(Step::Publish),
    ]
}

type Model = BTreeMap<ObjectKey, String>;

fn words(text: &str) -> BTreeSet<&str> {
    match text {
        "fail" | "panic" => BTreeSet::new(),
        _ => text.split(' ').filter(|word| !word.is_empty()).collect(),
    }
}

fn check_against(model: &Model, snapshot: &Snapshot<Value>) -> Result<(), TestCaseError> {
    let held: Vec<_> = snapshot
        .iter()
        .map(|object| (object.key().clone(), object.get().unwrap().text.clone()))
        .collect();
    let expected: Vec<_> = model
        .iter()
        .map(|(key, text)| (key.clone(), text.clone()))
        .collect();
    prop_assert_eq!(held, expected);
    prop_assert_eq!(snapshot.recount(), Ok(()));

    let namespaces: BTreeSet<_> = model.keys().map(|key| key.namespace().to_owned()).collect();
    let found: Vec<_> = snapshot.list_index_values(NAMESPACE_INDEX).unwrap();
    prop_assert!(
        found
            .iter()
            .map(|value| &**value)
            .eq(namespaces.iter().map(String::as_str))
    );
    for namespace in ["", "a", "b", "c", "d"] {
        let expected: Vec<_> = model
            .keys()
            .filter(|key| key.namespace() == namespace)
            .cloned()
            .collect();
        prop_assert_eq!(
            snapshot.index_keys(NAMESPACE_INDEX, namespace).unwrap(),
            expected
        );
    }

    for index in snapshot
        .index_names()
        .iter()
        .filter(|name| &***name != NAMESPACE_INDEX)
    {
        let values: BTreeSet<_> = model.values().flat_map(|text| words(text)).collect();
        let found = snapshot.list_index_values(index).unwrap();
        prop_assert!(found.iter().map(|value| &**value).eq(values));
        for value in ["w", "x", "y", "z"] {
            let expected: Vec<_> = model
                .iter()
                .filter(|(_, text)| words(text).contains(value))
                .map(|(key, _)| key.clone())
                .collect();
            prop_assert_eq!(snapshot.index_keys(index, value).unwrap(), expected);
        }
        let refused: Vec<_> = model
            .iter()
            .filter(|(_, text)| matches!(text.as_str(), "fail" | "panic"))
            .map(|(key, _)| key.clone())
            .collect();
        let unindexed: Vec<_> = snapshot
            .unindexed(index)
            .unwrap()
            .into_iter()
            .map(|(key, _)| key)
            .collect();
        prop_assert_eq!(unindexed, refused);
    }
    Ok(())
}

proptest! {
    /// Any sequence of edits, published at any moment: the objects and every index equal a plain map, and a snapshot
    /// that somebody holds still shows what it showed.
    #[test]
    fn an_indexer_equals_a_plain_map(steps in prop::collection::vec(any_step(), 0..80)) {
        let mut writer = IndexerWriter::new();
        writer.add_index("word", by_word()).unwrap();
        let mut draft = Snapshot::clone(&writer.reader().snapshot());
        let mut model = Model::new();
        let mut held = Vec::new();
        for step in steps {
            match step {
                Step::Insert { key: name, text } => {
                    let new = object_with(&format!("{name}@1"), &text, []);
                    let old = draft.insert(new).map(|old| old.get().unwrap().text.clone());
                    prop_assert_eq!(old, model.insert(key(&name), text));
                }
                Step::Remove { key: name } => {
                    let old = draft.remove(&key(&name));
                    prop_assert_eq!(old.is_some(), model.remove(&key(&name)).is_some());
                }
                Step::Undecodable { key: name } => {
                    let old = draft.mark_undecodable(undecodable(&format!("{name}@2")));
                    prop_assert_eq!(old.is_some(), model.remove(&key(&name)).is_some());
                }
                Step::AddIndex => {
                    let is_new = draft.index_names().len() == 2;
                    prop_assert_eq!(draft.add_index("late", by_word()).is_ok(), is_new);
                }
                Step::Publish => {
                    writer.write(|current| current.clone_from(&draft));
                    held.push((writer.reader().snapshot(), model.clone()));
                }
            }
            check_against(&model, &draft)?;
        }
        for (snapshot, model) in &held {
            check_against(model, snapshot)?;
        }
    }
}
