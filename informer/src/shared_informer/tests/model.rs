use std::collections::BTreeMap;

use proptest::prelude::*;

use super::apply::World;
use crate::{
    fixtures::{Value, delta, object, undecodable},
    handler::Notification,
    object::{Object, ObjectKey, ResourceVersion},
    store::{Delta, Replacement},
};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// The changes of a server, one for each version: the model from which all that is true follows.
#[derive(Default)]
struct History(Vec<Change>);

#[derive(Clone, Debug)]
struct Change {
    name: &'static str,
    uid: usize,
    kind: Kind,
    is_undecodable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Create,
    Update,
    Delete,
}

/// The next step.
#[derive(Clone, Debug)]
enum Step {
    /// The server changes an object: makes it if it is not there, else updates or deletes it.
    Change {
        name: usize,
        is_deletion: bool,
        is_undecodable: bool,
    },
    /// The watch brings the next `count` changes, in one batch if no key comes twice.
    Deliver { count: usize },
    /// A change that came before comes again.
    Replay { at: usize },
    /// The watch brings a bookmark.
    Bookmark,
    /// The present state is listed; the watch continues from there.
    Relist { is_authoritative: bool },
    /// A server that lags is listed.
    LaggingList { at: usize },
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..NAMES.len(), prop::bool::weighted(0.4), prop::bool::weighted(0.2))
            .prop_map(|(name, is_deletion, is_undecodable)| Step::Change { name, is_deletion, is_undecodable }),
        5 => (1..5_usize).prop_map(|count| Step::Deliver { count }),
        3 => any::<usize>().prop_map(|at| Step::Replay { at }),
        1 => Just(Step::Bookmark),
        2 => any::<bool>().prop_map(|is_authoritative| Step::Relist { is_authoritative }),
        2 => any::<usize>().prop_map(|at| Step::LaggingList { at }),
    ]
}

/// The version that the change at `index` made. The first list of an empty server is at version 10.
fn version(index: usize) -> String {
    (index + 11).to_string()
}

impl History {
    fn change(&mut self, name: &'static str, is_deletion: bool, is_undecodable: bool) {
        let last = self.0.iter().rev().find(|change| change.name == name);
        let (uid, kind) = match last {
            Some(last) if last.kind != Kind::Delete => (
                last.uid,
                if is_deletion {
                    Kind::Delete
                } else {
                    Kind::Update
                },
            ),
            _ => (self.0.len(), Kind::Create),
        };
        self.0.push(Change {
            name,
            uid,
            kind,
            is_undecodable,
        });
    }

    /// The event of the change at `index`.
    fn event(&self, index: usize) -> Delta<Value> {
        let Change {
            name,
            uid,
            kind,
            is_undecodable,
        } = &self.0[index];
        let refused = || undecodable(&format!("{name}@{}", version(index)));
        let changed = || object(&format!("{name}@{}#{uid}", version(index)));
        match (kind, is_undecodable) {
            (Kind::Create | Kind::Update, false) => Delta::Upserted(changed()),
            (Kind::Delete, false) => Delta::Deleted(changed()),
            (Kind::Delete, true) => Delta::DeletedUndecodable(refused()),
            (_, true) => Delta::Undecodable(refused()),
        }
    }

    /// The state after the first `len` changes: for each name the index of its last change.
    fn state(&self, len: usize) -> BTreeMap<&'static str, usize> {
        let mut state = BTreeMap::new();
        for (index, change) in self.0[..len].iter().enumerate() {
            if change.kind == Kind::Delete {
                state.remove(change.name);
            } else {
                state.insert(change.name, index);
            }
        }
        state
    }

    fn list(&self, len: usize, is_authoritative: bool) -> Delta<Value> {
        let list_version = (len + 10).to_string();
        let mut list = Replacement::new(Vec::new(), ResourceVersion::new(list_version));
        list.is_authoritative = is_authoritative;
        for (name, index) in self.state(len) {
            let Change {
                uid,
                is_undecodable,
                ..
            } = &self.0[index];
            let version = version(index);
            if *is_undecodable {
                list.undecodable
                    .push(undecodable(&format!("{name}@{version}")));
            } else {
                list.objects
                    .push(object(&format!("{name}@{version}#{uid}")));
            }
        }
        Delta::ReplacedAll(list)
    }
}

/// A handler that keeps the state that its notifications add up to.
#[derive(Default)]
pub(super) struct Listener(BTreeMap<ObjectKey, Object<Value>>);

impl Listener {
    pub(super) fn text(&self) -> String {
        let words: Vec<_> = self
            .0
            .values()
            .map(|object| format!("{object:?}"))
            .collect();
        words.join(" ")
    }

    pub(super) fn hear(&mut self, notification: Notification<Value>) -> Result<(), TestCaseError> {
        let key = notification.key().clone();
        match notification {
            Notification::Add { object, .. } => {
                prop_assert!(self.0.insert(key, object).is_none(), "add of a known key");
            }
            Notification::Update { old, new, .. } => {
                prop_assert_eq!(old.uid(), new.uid());
                let known = self.0.insert(key, new);
                prop_assert!(
                    known.is_some_and(|known| known.is_same(&old)),
                    "old is the last reported state"
                );
            }
            Notification::Delete { deleted, .. } => {
                let known = self.0.remove(&key);
                prop_assert!(known.is_some(), "deletion of an unknown key");
                if deleted.is_tombstone() {
                    let last = deleted.last_known();
                    prop_assert!(last.is_some_and(|last| last.is_same(&known.unwrap())));
                }
            }
        }
        Ok(())
    }
}

/// The cache shows the server's state after the first `position` changes, and the listener knows the same.
fn check(
    world: &World,
    listener: &Listener,
    history: &History,
    position: usize,
) -> Result<(), TestCaseError> {
    let state = history.state(position);
    let (refused, held): (Vec<_>, Vec<_>) = state
        .into_iter()
        .partition(|(_, index)| history.0[*index].is_undecodable);
    let text = |entries: Vec<(&str, usize)>| -> Vec<String> {
        entries
            .into_iter()
            .map(|(name, index)| format!("{name}@{}", version(index)))
            .collect()
    };
    let held_texts: Vec<_> = world
        .snapshot
        .iter()
        .map(|object| format!("{object:?}"))
        .collect();
    prop_assert_eq!(&held_texts, &text(held));
    let marked = world.snapshot.undecodable();
    let marked: Vec<_> = marked
        .map(|error| format!("{}@{}", error.key, error.resource_version))
        .collect();
    prop_assert_eq!(marked, text(refused));
    let received: Vec<_> = listener
        .0
        .values()
        .map(|object| format!("{object:?}"))
        .collect();
    prop_assert_eq!(received, held_texts);
    let stands_at = (position + 10).to_string();
    prop_assert_eq!(world.snapshot.resource_version().as_str(), stands_at);
    Ok(())
}

proptest! {
    /// For all orders of late, repeated and lagging events: the cache shows the state that the watch has reached, and
    /// the notifications of a handler add up to the same, each deletion included.
    #[test]
    fn the_cache_and_what_handlers_received_equal_the_server(steps in prop::collection::vec(any_step(), 1..60)) {
        let (mut world, mut listener, mut history) = (World::default(), Listener::default(), History::default());
        let mut position = 0;
        world.apply(vec![history.list(0, false)]);
        for step in steps {
            let deltas = match step {
                Step::Change { name, is_deletion, is_undecodable } => {
                    history.change(NAMES[name], is_deletion, is_undecodable);
                    continue;
                }
                Step::Deliver { count } => {
                    let from = position;
                    position = history.0.len().min(from + count);
                    (from..position).map(|index| history.event(index)).collect()
                }
                Step::Replay { .. } if position == 0 => continue,
                Step::Replay { at } => vec![history.event(at % position)],
                Step::Bookmark => vec![Delta::Bookmark(ResourceVersion::new((position + 10).to_string()))],
                Step::Relist { is_authoritative } => {
                    position = history.0.len();
                    vec![history.list(position, is_authoritative)]
                }
                Step::LaggingList { at } => vec![history.list(at % (position + 1), false)],
            };
            for notification in world.apply(deltas).notifications {
                listener.hear(notification)?;
            }
            check(&world, &listener, &history, position)?;
        }
    }

    /// Any invalid input: the stream stays legal and adds up to the cache, and an authoritative state is accepted.
    #[test]
    fn any_sequence_of_calls_is_reported_as_a_legal_stream(
        words in prop::collection::vec("[-+?!][a-c]@[1-9](#[xy])?|\\^[1-9]|={1,2}[1-9]\\[(\\??[a-c]@[1-9](#[xy])?,){0,3}\\]", 0..40),
    ) {
        let (mut world, mut listener) = (World::default(), Listener::default());
        for word in words {
            let word = word.replace(",]", "]");
            for notification in world.apply(vec![delta(&refused_without_uid(&word))]).notifications {
                listener.hear(notification)?;
            }
            let received: Vec<_> = listener.0.values().map(|object| format!("{object:?}")).collect();
            let held_texts: Vec<_> = world.snapshot.iter().map(|object| format!("{object:?}")).collect();
            prop_assert_eq!(received, held_texts);
            if let Some((version, items)) = word.strip_prefix("==").and_then(|rest| rest.split_once('[')) {
                prop_assert_eq!(world.snapshot.resource_version().as_str(), version);
                let is_listed = |object: &Object<Value>| items.contains(&format!("{object:?}"));
                prop_assert!(world.snapshot.iter().all(is_listed));
            }
        }
    }
}

/// Removes the uid of refused objects, which have none.
fn refused_without_uid(word: &str) -> String {
    if word.starts_with(['?', '!']) {
        return word.split('#').next().unwrap_or_default().to_owned();
    }
    let items = word.split(',').map(|item| match item.split_once('?') {
        Some((before, refused)) => {
            let end = if item.ends_with(']') { "]" } else { "" };
            let plain = refused
                .trim_end_matches(']')
                .split('#')
                .next()
                .unwrap_or_default();
            format!("{before}?{plain}{end}")
        }
        None => item.to_owned(),
    });
    items.collect::<Vec<_>>().join(",")
}
