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
    held_objects::HeldObjects,
    object::{Object, ObjectKey, Reads},
    store::Store,
};

/// One value a word; `fail` and `panic` are refused.
fn by_word() -> IndexFn<Value> {
    IndexFn::fallible(|object: &Object<Value>| {
        let text = object.get().text.clone();
        match text.as_str() {
            "fail" => Err("the text is bad"),
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
fn an_index_that_is_removed_is_unknown_and_its_name_is_free() {
    let mut writer = holding([("n/a@1", "red")]);
    let before = writer.reader().snapshot();
    writer.remove_index("word").unwrap();
    let unknown = IndexerError::UnknownIndex {
        name: "word".into(),
    };
    let reader = writer.reader();
    assert_eq!(reader.by_index("word", "red").unwrap_err(), unknown);
    assert_eq!(writer.remove_index("word"), Err(unknown));
    let permanent = IndexerError::PermanentIndex {
        name: NAMESPACE_INDEX.into(),
    };
    assert_eq!(writer.remove_index(NAMESPACE_INDEX), Err(permanent));
    assert_eq!(reader.namespace("n").len(), 1);
    assert_eq!(before.by_index("word", "red").unwrap().len(), 1);
    writer.add_index("word", IndexFn::by_label("x")).unwrap();
    check_values(&writer, "word", "");
}

#[test]
fn an_index_reports_how_much_of_an_object_it_reads() {
    let by_field = IndexFn::<Value>::by_field("{.text}").unwrap();
    assert_eq!(by_field.reads(), Reads::Fields);
    assert_eq!(by_field.field_path().unwrap().to_string(), ".text");
    assert_eq!(format!("{by_field:?}"), "IndexFn(.text)");
    for (function, reads) in [
        (IndexFn::by_label("x"), Reads::Metadata),
        (IndexFn::by_owner_uid(), Reads::Metadata),
        (
            IndexFn::of_metadata(|metadata| [metadata.key.name()].map(str::to_owned)),
            Reads::Metadata,
        ),
        (
            IndexFn::of_value(|value: &Value| [value.text.clone()]),
            Reads::Value,
        ),
        (by_word(), Reads::Value),
    ] {
        assert_eq!(function.reads(), reads);
        assert_eq!(function.field_path(), None);
    }
    let error = IndexFn::<Value>::by_field(".text..").unwrap_err();
    assert_eq!(error.position(), 6);
}

#[test]
fn an_index_by_a_field_finds_what_is_there() {
    let mut writer = holding([("n/a@1", "red"), ("n/b@1", "blue"), ("n/c@1", "red")]);
    let by_text = IndexFn::by_field(".text").unwrap();
    writer.add_index("text", by_text).unwrap();
    let by_absent = IndexFn::by_field(".absent").unwrap();
    writer.add_index("absent", by_absent).unwrap();
    check_index(&writer, "text", "red", "n/a n/c");
    writer.write(|draft| draft.insert(object_with("n/a@2", "blue", [])));
    check_index(&writer, "text", "blue", "n/a n/b");
    check_values(&writer, "text", "blue red");
    check_values(&writer, "absent", "");
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
            "n/c: the text is bad"
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
fn an_indexer_is_a_store_that_shows_the_last_write() {
    let mut writer = holding([("n/a@1", "red")]);
    let reader = writer.reader();
    let store: &dyn Store<Value> = &reader;
    assert!(store.resource_version().is_unknown());
    writer.write(|draft| draft.set_resource_version("7".into()));
    assert_eq!(store.resource_version().as_str(), "7");
    assert_eq!(store.list().len(), 1);
    assert!(store.get(&key("n/a")).is_some());
    assert!(store.get(&key("n/b")).is_none());
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
    let snapshot = reader.snapshot();
    let found = snapshot.get_undecodable(&key("n/a")).unwrap();
    assert_eq!(found.resource_version.as_str(), "2");
    assert!(snapshot.get_undecodable(&key("n/b")).is_none());
}

#[test]
fn an_object_is_found_by_its_names_and_a_snapshot_without_any_is_empty() {
    let mut writer = holding([("n/a@1", "red"), ("z@2", "")]);
    let snapshot = writer.reader().snapshot();
    for (namespace, name, version) in [("n", "a", Some("1")), ("", "z", Some("2")), ("z", "", None)]
    {
        let found = snapshot.get_by_name(namespace, name);
        assert_eq!(
            found.map(|object| object.resource_version().as_str()),
            version
        );
    }
    assert!(!snapshot.is_empty());
    writer.write(|draft| {
        draft.remove(&key("n/a"));
        draft.remove(&key("z"));
    });
    assert!(writer.reader().snapshot().is_empty());
}

#[test]
fn an_index_error_is_noted_once_with_key_and_reason() {
    let mut writer = holding([]);
    writer.write(|draft| {
        draft.insert(object_with("n/a@1", "red", []));
        draft.insert(object_with("n/b@2", "fail", []));
        let noted: Vec<String> = draft
            .take_failures()
            .iter()
            .map(|failure| format!("{} {}: {}", failure.index, failure.key, failure.reason))
            .collect();
        assert_eq!(noted, ["word n/b: the text is bad"]);
        assert!(draft.take_failures().is_empty());
    });
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
    RemoveIndex,
    Publish,
}

fn any_step() -> impl Strategy<Value = Step> {
    let any_key = "(|[a-c]/)[a-d]";
    let any_text = prop_oneof![4 => "[x-z]?( [x-z]){0,2}", 1 => Just("fail".into()), 1 => Just("panic".into())];
    prop_oneof![
        6 => (any_key, any_text).prop_map(|(key, text)| Step::Insert { key, text }),
        3 => any_key.prop_map(|key| Step::Remove { key }),
        1 => any_key.prop_map(|key| Step::Undecodable { key }),
        2 => Just(Step::AddIndex),
        1 => Just(Step::RemoveIndex),
        3 => Just(Step::Publish),
    ]
}

type Model = BTreeMap<ObjectKey, String>;

fn has_late(snapshot: &Snapshot<Value>) -> bool {
    snapshot.index_names().iter().any(|name| &**name == "late")
}

fn words(text: &str) -> BTreeSet<&str> {
    match text {
        "fail" | "panic" => BTreeSet::new(),
        _ => text.split(' ').filter(|word| !word.is_empty()).collect(),
    }
}

fn check_against(model: &Model, snapshot: &Snapshot<Value>) -> Result<(), TestCaseError> {
    let held: Vec<_> = snapshot
        .iter()
        .map(|object| (object.key().clone(), object.get().text.clone()))
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

    let texts: BTreeSet<_> = model.values().map(String::as_str).collect();
    let found = snapshot.list_index_values("text").unwrap();
    prop_assert!(found.iter().map(|value| &**value).eq(texts.iter().copied()));
    for text in texts {
        let own = model.iter().filter(|(_, own)| **own == text);
        let expected: Vec<_> = own.map(|(key, _)| key.clone()).collect();
        prop_assert_eq!(snapshot.index_keys("text", text).unwrap(), expected);
    }

    for index in snapshot.index_names() {
        if ["word", "late"].contains(&&*index) {
            check_words(model, snapshot, &index)?;
        }
    }
    Ok(())
}

/// The index of words equals the model, and names the objects for which its function fails.
fn check_words(
    model: &Model,
    snapshot: &Snapshot<Value>,
    index: &str,
) -> Result<(), TestCaseError> {
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
    Ok(())
}

proptest! {
    /// Any sequence of edits, published at any moment: the objects and every index equal a plain map, and a snapshot
    /// that is held still shows what it showed.
    #[test]
    fn an_indexer_equals_a_plain_map(steps in prop::collection::vec(any_step(), 0..80)) {
        let mut writer = IndexerWriter::new();
        writer.add_index("word", by_word()).unwrap();
        writer.add_index("text", IndexFn::by_field(".text").unwrap()).unwrap();
        let mut draft = Snapshot::clone(&writer.reader().snapshot());
        let mut model = Model::new();
        let mut held = Vec::new();
        for step in steps {
            match step {
                Step::Insert { key: name, text } => {
                    let new = object_with(&format!("{name}@1"), &text, []);
                    let old = draft.insert(new).map(|old| old.get().text.clone());
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
                    let is_new = !has_late(&draft);
                    prop_assert_eq!(draft.add_index("late", by_word()).is_ok(), is_new);
                }
                Step::RemoveIndex => {
                    let is_there = has_late(&draft);
                    prop_assert_eq!(draft.remove_index("late").is_ok(), is_there);
                    prop_assert!(!has_late(&draft));
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

// === With concurrent readers ===

const KEYS: usize = 7;
const STATES: usize = 400;

/// Returns the objects of state `state`: for about half of the keys, with a text that changes with each state.
fn state(state: usize) -> Model {
    let held = (0..KEYS).filter(|own| !(state + own).is_multiple_of(3));
    held.map(|own| {
        let text = format!("w{} v{}", (state + own) % 4, state % 2);
        (key(&format!("n{}/k{own}", own % 2)), text)
    })
    .collect()
}

/// Edits `draft` from the state before to `state`, one key after the other.
fn advance(draft: &mut Snapshot<Value>, to: usize) {
    let (old, new) = (state(to - 1), state(to));
    for key in old.keys().filter(|key| !new.contains_key(key)) {
        draft.remove(key);
    }
    for (key, text) in &new {
        draft.insert(object_with(&format!("{key}@{to}"), text, []));
    }
    draft.set_resource_version(to.to_string().as_str().into());
}

/// Checks all that a snapshot answers against the state that its version names; gives that.
fn check_state(snapshot: &Snapshot<Value>) -> usize {
    let version = snapshot.resource_version().as_str();
    let at: usize = if version.is_empty() {
        return 0;
    } else {
        version.parse().unwrap()
    };
    let model = state(at);
    let objects = snapshot.iter();
    let held: Model = objects
        .map(|object| (object.key().clone(), object.get().text.clone()))
        .collect();
    assert_eq!(held, model);
    for value in ["w0", "w1", "w2", "w3", "v0", "v1"] {
        let own = model.iter().filter(|(_, text)| words(text).contains(value));
        let expected: Vec<_> = own.map(|(key, _)| key.clone()).collect();
        assert_eq!(snapshot.index_keys("word", value).unwrap(), expected);
    }
    let values: BTreeSet<_> = model.values().map(String::as_str).collect();
    let found = snapshot.list_index_values("text").unwrap();
    assert!(found.iter().map(|value| &**value).eq(values));
    at
}

/// Readers on threads of their own see states that were published, each whole with its indices, and never an older one after
/// a newer one, however the writer and they interleave.
#[test]
fn concurrent_readers_see_whole_states_in_order() {
    let mut writer = holding([]);
    let by_text = IndexFn::by_field(".text").unwrap();
    writer.add_index("text", by_text).unwrap();
    let reader = writer.reader();
    writer.write(|draft| advance(draft, 1));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let reader = reader.clone();
            scope.spawn(move || {
                let mut last = 0;
                while last < STATES {
                    let seen = check_state(&reader.snapshot());
                    assert!(seen >= last, "{seen} after {last}");
                    last = seen;
                }
            });
        }
        // Questions to the indexer itself, each of which loads what is newest.
        scope.spawn(|| {
            let mut last = 0;
            while last < STATES {
                let version = reader.resource_version();
                let seen = version.as_str().parse().unwrap();
                assert!(seen >= last, "{seen} after {last}");
                last = seen;
                for object in reader.by_index("word", "w1").unwrap() {
                    let version: usize = object.resource_version().as_str().parse().unwrap();
                    assert!(version >= last, "{version} after {last}");
                    assert!(words(&object.get().text).contains("w1"));
                }
            }
        });
        for to in 2..=STATES {
            writer.write(|draft| advance(draft, to));
        }
    });
    assert_eq!(check_state(&reader.snapshot()), STATES);
}
