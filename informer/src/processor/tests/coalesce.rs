use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*, test_runner::TestCaseResult};

use super::{
    super::{
        Buffer,
        coalesce::CoalescedChanges,
        item::Item,
        mailbox::{Mailbox, PushResult},
    },
    PresentObjects,
};
use crate::{
    fixtures::{Value, object},
    handler::{Notification, NotificationCause},
    object::{Deleted, Object, ObjectKey},
    testing::notification_text,
};

// === By table ===

/// `(+a@1)` an initial add, `+a@1` a live one, `~a@1..2` an update, `-a@3` a deletion; `#uid` behind any of them.
fn parse(word: &str) -> Notification<Value> {
    let initial = word
        .strip_prefix('(')
        .and_then(|word| word.strip_suffix(')'));
    let cause = if initial.is_some() {
        NotificationCause::Initial
    } else {
        NotificationCause::Live
    };
    let (kind, rest) = initial.unwrap_or(word).split_at(1);
    match kind {
        "+" => Notification::Add {
            object: object(rest),
            cause,
        },
        "~" => {
            let (old, new) = rest.split_once("..").unwrap();
            let name = old.split_once('@').unwrap().0;
            Notification::Update {
                old: object(old),
                new: object(&format!("{name}@{new}")),
                cause,
            }
        }
        _ => Notification::Delete {
            deleted: Deleted::Object(object(rest)),
            cause,
        },
    }
}

fn check(pushed: &str, expected: &str) {
    let mut coalesced = CoalescedChanges::new();
    for word in pushed.split_whitespace() {
        coalesced.push(parse(word));
    }
    let len = coalesced.len();
    let delivered: Vec<_> = std::iter::from_fn(|| coalesced.pop()).collect();
    let words: Vec<_> = delivered.iter().map(notification_text).collect();
    assert_eq!(words.join(" "), expected, "{pushed}");
    assert_eq!(len, words.len(), "{pushed}");
    assert_eq!(coalesced.len(), 0);
}

#[test]
fn changes_of_one_key_are_merged_to_what_they_come_to() {
    check("~a@1..2 ~a@2..3", "~a@1..3");
    check("~a@1..2 ~a@2..3 ~a@3..4", "~a@1..4");
    check("+a@1 ~a@1..2", "+a@2");
    check("(+a@1) ~a@1..2", "(+a@2)");
    check("+a@1 -a@2", "");
    check("+a@1 ~a@1..2 -a@3", "");
    check("~a@1..2 -a@3", "-a@3");
    check("-a@3 +a@4#new", "-a@3 +a@4");
    // The same object may leave a selection and enter it again: the deletion is delivered.
    check("-a@3 +a@4", "-a@3 +a@4");
    check("-a@3 +a@4#new ~a@4..5", "-a@3 +a@5");
    check("-a@3 +a@4#new -a@5#new", "-a@3");
    check("-a@3 +a@4#n -a@5#n +a@6#m ~a@6..7", "-a@3 +a@7");
    check("~a@1..2 -a@3 +a@4#n -a@5#n", "-a@3");
    check("+a@1 -a@2 +a@3#n", "+a@3");
}

#[test]
fn keys_do_not_mix_and_keep_the_place_of_their_first_change() {
    check("~a@1..2 ~b@1..3 ~a@2..4 +c@5", "~a@1..4 ~b@1..3 +c@5");
    check("+a@1 +b@2 -a@3", "+b@2");
    check("-a@3 ~b@1..4 +a@5#n ~b@4..6 ~a@5..7", "-a@3 ~b@1..6 +a@7");
}

#[test]
fn the_cause_of_merged_updates_is_that_of_the_last() {
    let mut coalesced = CoalescedChanges::new();
    coalesced.push(parse("~a@1..2"));
    let (old, new) = (object("a@2"), object("a@3"));
    let cause = NotificationCause::Relist;
    coalesced.push(Notification::Update { old, new, cause });
    assert_eq!(coalesced.pop().unwrap().cause(), NotificationCause::Relist);
}

#[test]
fn delivered_changes_are_not_merged() {
    let mut coalesced = CoalescedChanges::new();
    coalesced.push(parse("-a@3"));
    coalesced.push(parse("+a@4#n"));
    assert_eq!(notification_text(&coalesced.pop().unwrap()), "-a@3");
    // The deletion was delivered: nothing is left of the add.
    coalesced.push(parse("-a@5#n"));
    assert!(coalesced.pop().is_none());
    coalesced.push(parse("+a@6#m"));
    assert_eq!(notification_text(&coalesced.pop().unwrap()), "+a@6");
    coalesced.push(parse("-a@7#m"));
    assert_eq!(notification_text(&coalesced.pop().unwrap()), "-a@7");
}

// === By model ===

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The key changes, in a way that its state allows.
    Change {
        key: u8,
        is_deletion: bool,
    },
    /// The changes since the last time are handed over.
    Distribute,
    /// All of the initial state was handed over.
    MarkSynced,
    Resync,
    /// The handler takes an item, and handles this number of its notifications before the next step.
    Pop,
    Deliver {
        count: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0..4_u8, prop::bool::weighted(0.3))
            .prop_map(|(key, is_deletion)| Step::Change { key, is_deletion }),
        4 => Just(Step::Distribute),
        1 => Just(Step::MarkSynced),
        1 => Just(Step::Resync),
        3 => Just(Step::Pop),
        3 => (1..4_usize).prop_map(|count| Step::Deliver { count }),
    ]
}

/// A cache, a mailbox, and a handler that records its notifications.
struct World {
    limit: usize,
    mailbox: Mailbox<Value>,
    cache: BTreeMap<ObjectKey, Object<Value>>,
    batch: Vec<Notification<Value>>,
    is_synced: bool,
    version: u64,
    telling: Option<Item<Value>>,
    delivered: BTreeMap<ObjectKey, Object<Value>>,
    is_told_synced: bool,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    taken: usize,
    coalesced: usize,
    delivered: usize,
}

// === impl World ===

impl World {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            mailbox: Mailbox::new(Buffer::Coalescing { limit }),
            cache: BTreeMap::new(),
            batch: Vec::new(),
            is_synced: false,
            version: 0,
            telling: None,
            delivered: BTreeMap::new(),
            is_told_synced: false,
            counts: Counts::default(),
        }
    }

    fn step(&mut self, step: Step) -> TestCaseResult {
        match step {
            Step::Change { key, is_deletion } => self.change(key, is_deletion),
            Step::Distribute => self.distribute()?,
            Step::MarkSynced if !self.is_synced => {
                self.distribute()?;
                self.is_synced = true;
                self.push(Item::EndOfInitialState)?;
            }
            Step::Resync if self.is_synced => {
                self.distribute()?;
                let objects: Vec<_> = self.cache.values().cloned().collect();
                let present: PresentObjects<Value> = Box::new(objects.into_iter());
                self.push(Item::Resync(present))?;
            }
            Step::MarkSynced | Step::Resync => {}
            Step::Pop => {
                self.deliver(usize::MAX)?;
                self.telling = self.mailbox.pop();
            }
            Step::Deliver { count } => self.deliver(count)?,
        }
        Ok(())
    }

    fn change(&mut self, key: u8, is_deletion: bool) {
        self.version += 1;
        let version = self.version;
        let key = ObjectKey::cluster(format!("k{key}"));
        let cause = if self.is_synced {
            NotificationCause::Live
        } else {
            NotificationCause::Initial
        };
        let old = self.cache.get(&key).cloned();
        let uid = old
            .as_ref()
            .map_or(version.to_string(), |old| old.uid().to_owned());
        let new = object(&format!("{key}@{version}#{uid}"));
        self.batch.push(match old {
            Some(_) if is_deletion => {
                self.cache.remove(&key);
                let deleted = Deleted::Object(new);
                Notification::Delete { deleted, cause }
            }
            None if is_deletion => return,
            old => {
                self.cache.insert(key, new.clone());
                match old {
                    Some(old) => Notification::Update { old, new, cause },
                    None => Notification::Add { object: new, cause },
                }
            }
        });
    }

    fn distribute(&mut self) -> TestCaseResult {
        let batch = std::mem::take(&mut self.batch);
        self.push(Item::changes(batch.into(), self.is_synced))
    }

    fn push(&mut self, item: Item<Value>) -> TestCaseResult {
        let (is_resync, len) = (item.is_resync(), item.len());
        match self.mailbox.push(item) {
            PushResult::Taken { count, coalesced } => {
                prop_assert_eq!(count, len);
                self.counts.taken += count;
                self.counts.coalesced += coalesced;
            }
            PushResult::Refused => prop_assert!(is_resync),
            PushResult::Overflow { .. } => prop_assert!(false, "it never overflows"),
        }
        // Two for each of four keys, on each side of an end of the initial state and a resync.
        let backlog = self.mailbox.backlog();
        prop_assert!(backlog <= self.limit + 3 * 2 * 4, "{backlog} wait");
        Ok(())
    }

    fn deliver(&mut self, count: usize) -> TestCaseResult {
        let Some(mut item) = self.telling.take() else {
            return Ok(());
        };
        for _ in 0..count {
            let Some(notification) = item.next() else {
                match item {
                    Item::EndOfInitialState => self.is_told_synced = true,
                    Item::Resync(_) => self.mailbox.finish_resync(),
                    _ => {}
                }
                return Ok(());
            };
            self.counts.delivered += 1;
            let notification = notification.into_owned();
            self.hear(notification)?;
        }
        self.telling = Some(item);
        Ok(())
    }

    /// The promises of a handler.
    fn hear(&mut self, notification: Notification<Value>) -> TestCaseResult {
        let key = notification.key().clone();
        let cause = notification.cause();
        prop_assert_eq!(cause.is_initial(), !self.is_told_synced);
        match notification {
            Notification::Add { object, .. } => {
                prop_assert!(
                    self.delivered.insert(key, object).is_none(),
                    "add of a known key"
                );
            }
            Notification::Update { old, new, .. } => {
                prop_assert_eq!(old.uid(), new.uid());
                prop_assert_eq!(cause.is_resync(), old.is_same(&new));
                let known = self.delivered.insert(key, new);
                prop_assert!(
                    known.is_some_and(|known| known.is_same(&old)),
                    "old is the last reported state"
                );
            }
            Notification::Delete { deleted, .. } => {
                let known = self.delivered.remove(&key);
                let uid = deleted.last_known().map(Object::uid);
                prop_assert!(
                    known.is_some_and(|known| Some(known.uid()) == uid),
                    "it was known"
                );
            }
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn a_handler_that_has_fewer_notifications_ends_with_the_same(
        limit in 0..6_usize,
        steps in vec(step(), 0..120),
    ) {
        let mut world = World::new(limit);
        for step in steps {
            world.step(step)?;
        }
        world.distribute()?;
        loop {
            world.step(Step::Pop)?;
            if world.telling.is_none() {
                break;
            }
        }
        prop_assert_eq!(world.delivered.len(), world.cache.len());
        for (key, object) in &world.cache {
            prop_assert!(world.delivered[key].is_same(object));
        }
        prop_assert_eq!(world.is_told_synced, world.is_synced);
        prop_assert_eq!(world.counts.delivered + world.counts.coalesced, world.counts.taken);
    }
}
