//! Folds of hand-written logs.

use std::sync::Arc;

use super::{Histories, History};
use crate::{
    plan::{Resource, Selection},
    trace::{Change, Key, Side, State},
};

fn change(revision: u64, before: Option<&str>, after: Option<&str>) -> Change {
    let side = |label: Option<&str>| {
        let label = label?.split(' ').collect::<Vec<_>>();
        Some(Side {
            uid: Arc::from("u"),
            label: Some(Arc::from(label[0])),
            is_spoiled: label.contains(&"spoiled"),
        })
    };
    Change {
        resource: Resource::Pods,
        revision,
        key: Key::from("one/pod-0"),
        namespace: Arc::from("one"),
        before: side(before),
        after: side(after),
    }
}

fn web() -> Selection {
    Selection {
        label: Some("web".to_owned()),
        ..Selection::all(Resource::Pods)
    }
}

fn moments(history: &History) -> Vec<(u64, bool)> {
    let moments = history.moments("one/pod-0").iter();
    moments
        .map(|moment| (moment.revision, moment.state.is_some()))
        .collect()
}

fn check(selection: &Selection, want: &[(u64, bool)]) {
    let log = [
        change(3, None, Some("db")),
        change(4, Some("db"), Some("web")),
        change(6, Some("web"), Some("web")),
        change(9, Some("web"), Some("db")),
        change(12, Some("db"), None),
    ];
    let history = History::of(&log.iter().collect::<Vec<_>>(), selection);
    assert_eq!(moments(&history), want);
}

#[test]
fn labels_enter_and_leave_a_selection() {
    check(
        &Selection::all(Resource::Pods),
        &[(3, true), (4, true), (6, true), (9, true), (12, false)],
    );
    check(&web(), &[(4, true), (6, true), (9, false)]);
    let filtered = Selection {
        is_filtered: true,
        ..web()
    };
    check(&filtered, &[(4, true), (6, true), (9, false)]);
    assert_eq!(filtered.served(), Selection::all(Resource::Pods));
    check(
        &Selection {
            namespace: Some("two".to_owned()),
            ..web()
        },
        &[],
    );
    check(&Selection::all(Resource::Nodes), &[]);
}

#[test]
fn any_revision_can_be_looked_at() {
    let log = [
        change(3, None, Some("web")),
        change(5, Some("web"), Some("web")),
        change(8, Some("web"), None),
    ];
    let history = History::of(&log.iter().collect::<Vec<_>>(), &web());
    let at = |revision| history.at(revision).get("one/pod-0").cloned();
    assert_eq!(at(2), None);
    assert_eq!(at(3), Some(State::new("u", 3)));
    assert_eq!(at(7), Some(State::new("u", 5)));
    assert_eq!(at(8), None);
    assert!(history.has_been("one/pod-0", &State::new("u", 3)));
    assert!(!history.has_been("one/pod-0", &State::new("u", 4)));
    assert_eq!(history.departure_after("one/pod-0", 5), Some(8));
    assert_eq!(history.departure_after("one/pod-0", 8), None);
    let between: Vec<u64> = history
        .changes_between(3, 8)
        .map(|(revision, _)| revision)
        .collect();
    assert_eq!(between, [5, 8]);
    assert_eq!(history.changes_between(9, 3).count(), 0);
}

#[test]
fn spoiled_objects_leave_the_selection_of_a_strict_informer() {
    let log = [
        change(3, None, Some("web")),
        change(4, Some("web"), Some("web spoiled")),
        change(5, Some("web spoiled"), Some("db spoiled")),
        change(6, Some("db spoiled"), Some("web spoiled")),
        change(9, Some("web spoiled"), Some("web")),
        change(10, Some("web"), Some("web spoiled")),
        change(12, Some("web spoiled"), None),
    ];
    let log: Vec<&Change> = log.iter().collect();
    let strict = Selection {
        is_strict: true,
        ..web()
    };
    let histories = Histories::of(&log, &strict);
    let own = [(3, true), (4, false), (9, true), (10, false)];
    assert_eq!(moments(&histories.own), own);
    let undecodable = [
        (4, true),
        (5, false),
        (6, true),
        (9, false),
        (10, true),
        (12, false),
    ];
    assert_eq!(moments(&histories.undecodable), undecodable);
    assert_eq!(strict.served(), web());
    assert!(moments(&Histories::of(&log, &web()).undecodable).is_empty());
}
