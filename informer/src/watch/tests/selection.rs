//! Changes of a selection, by tables.

use super::{
    super::selection::{Change, Selection},
    deleted_text,
};
use crate::{
    fixtures::{Value, delta, key},
    store::Delta,
};

fn change_text(change: &Change<Value>) -> String {
    match change {
        Change::Present(object) => format!("{object:?}"),
        Change::Deleted(deleted) => deleted_text(deleted),
        Change::Undecodable(error) => format!("?{}@{}", error.key, error.resource_version),
    }
}

/// The whole state at `version`: `a@5 ?b@6`, objects and those that cannot be decoded.
fn state(version: u64, text: &str) -> Delta<Value> {
    delta(&format!("={version}[{}]", text.replace(' ', ",")))
}

fn of(text: &str) -> Selection<Value> {
    let mut selection = Selection::new();
    selection.apply(state(1, text));
    selection
}

fn held(selection: &Selection<Value>) -> String {
    let objects = selection.iter().map(|object| format!("{object:?}"));
    let undecodable = selection.undecodable();
    let undecodable = undecodable.map(|error| format!("?{}", error.key));
    let words: Vec<_> = objects.chain(undecodable).collect();
    words.join(" ")
}

#[test]
fn a_new_state_reports_what_went_and_then_what_came_and_changed() {
    let check = |old: &str, new: &str, expected: &[&str]| {
        let mut selection = of(old);
        let changes = selection.apply(state(9, new));
        let changes: Vec<_> = changes.iter().map(change_text).collect();
        assert_eq!(changes, expected, "from {old:?} to {new:?}");
        assert_eq!(*selection.resource_version(), "9".into());
        assert_eq!(held(&selection), held(&of(new)));
    };
    check("", "a@1", &["a@1"]);
    check("a@1", "a@1", &[]);
    check("a@1", "a@2", &["a@2"]);
    check("a@1 b@2", "b@3", &["!a@1 MissedDelete", "b@3"]);
    check("a@1#u", "a@5#v", &["!a@1 UidChanged", "a@5"]);
    check("a@1", "?a@5", &["?a@5"]);
    check("?a@1", "a@5", &["a@5"]);
    check("?a@1", "", &["!a MissedDelete"]);
}

#[test]
fn a_change_is_taken_in_and_reported() {
    let check = |old: &str, change: &str, expected: &str, then: &str| {
        let mut selection = of(old);
        let changes = selection.apply(delta(change));
        let changes: Vec<_> = changes.iter().map(change_text).collect();
        assert_eq!(changes, [expected]);
        assert_eq!(held(&selection), then);
        assert_eq!(*selection.resource_version(), "7".into());
    };
    check("", "+a@7", "a@7", "a@7");
    check("a@1", "+a@7", "a@7", "a@7");
    check("a@1", "-a@7", "-a@7", "");
    check("a@1", "?a@7", "?a@7", "?a");
    check("?a@1", "+a@7", "a@7", "a@7");
    check("a@1", "!a@7", "!a@1 Undecodable", "");
}

#[test]
fn a_bookmark_is_no_change() {
    let mut selection = of("a@1");
    assert!(selection.apply(delta("^7")).is_empty());
    assert_eq!(*selection.resource_version(), "1".into());
}

#[test]
fn a_selection_is_read_by_key_and_shows_no_contents() {
    let selection = of("n/a@5 ?n/b@6");
    assert_eq!(selection.len(), 1);
    assert!(!selection.is_empty());
    assert!(selection.get(&key("n/a")).is_some());
    assert!(selection.get(&key("n/b")).is_none());
    let text = format!("{selection:?}");
    assert_eq!(text, "Selection { len: 1, resource_version: \"1\", .. }");
}
