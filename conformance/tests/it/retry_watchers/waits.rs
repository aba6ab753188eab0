//! Waits for conditions: each is asked about all states in order, and the next one continues.

use std::{collections::BTreeMap, time::Duration};

use informer::{
    ObjectKey, Scope,
    watch::{Selection, UntilError, Waiter},
};
use k8s_openapi::api::core::v1::ConfigMap;
use tokio::time::{Instant, sleep};

use super::{
    DAYS, HeldObject, Log, Maps, NAMES, SECOND, SEEDS, missed,
    model::{Next, Subject, World},
    selection_text, steady, text_of_selection, text_of_state,
};

// === impl World ===

impl World {
    pub(super) async fn check(&mut self) -> Next {
        let call = self.next(&format!("list of one at {}", self.last)).await;
        self.next_at = Instant::now();
        match self.random.u8(0..5) {
            0 => call.refuse_as(410, "Expired", Duration::ZERO),
            1 if self.last > 1 => call.give_objects(self.last - 1, &BTreeMap::new()),
            2 => {
                let failure = (self.random.choice([403, 503]).unwrap(), "", SECOND);
                call.refuse_as(failure.0, failure.1, failure.2);
                return self.fail(failure, Next::Watch);
            }
            _ => {
                call.give_objects(self.last + self.random.u32(0..2), &self.objects);
                self.heard_at = self.next_at;
                return Next::Watch;
            }
        }
        Next::List
    }

    /// Answers a list, which asks for the most recent state whatever was seen.
    pub(super) async fn list(&mut self) -> Next {
        let call = self.next("list").await;
        self.next_at = Instant::now();
        match self.random.u8(0..8) {
            0 => {
                let failure = self.draw_failure();
                call.refuse_as(failure.0, failure.1, failure.2);
                self.fail(failure, Next::List)
            }
            1 => {
                // No answer comes, or one from which no watch can begin.
                if self.random.bool() {
                    sleep(Duration::from_mins(2)).await;
                } else {
                    call.give_objects(0, &self.objects);
                }
                self.delay(Duration::ZERO);
                Next::List
            }
            _ => {
                let back = self.random.choice([0, 0, 3]).unwrap();
                let version = (self.last + self.random.u32(0..9))
                    .saturating_sub(back)
                    .max(1);
                let objects = self.draw_objects(version);
                call.give_objects(version, &objects);
                (self.last, self.heard_at) = (version, self.next_at);
                self.replace(objects);
                Next::Watch
            }
        }
    }

    fn draw_objects(&mut self, version: u32) -> BTreeMap<&'static str, HeldObject> {
        let mut objects = BTreeMap::new();
        for name in NAMES {
            let before = self.objects.get(name).copied();
            let drawn = HeldObject {
                version: self.random.u32(1..=version),
                uid: self.random.u32(0..2),
                is_readable: self.random.u8(0..5) > 0,
            };
            let now = match self.random.u8(0..3) {
                0 => None,
                1 => before,
                _ => Some(drawn),
            };
            objects.extend(now.map(|now| (name, now)));
        }
        objects
    }

    /// Takes over the state of a list.
    fn replace(&mut self, objects: BTreeMap<&'static str, HeldObject>) {
        let before = std::mem::replace(&mut self.objects, objects).remove("a");
        let now = self.objects.get("a").copied();
        let known = before.filter(|before| before.is_readable);
        let mut states = Vec::new();
        match now {
            None if before.is_some() => states.push(missed(known, "MissedDelete")),
            None => {}
            Some(now) if now.is_readable => {
                let is_other = known.is_some_and(|known| known.uid != now.uid);
                if is_other {
                    states.push(missed(known, "UidChanged"));
                }
                if is_other || known.is_none_or(|known| known.version != now.version) {
                    states.push(self.present_object());
                }
            }
            Some(_) => states.push(self.present_object()),
        }
        if std::mem::replace(&mut self.has_listed, true) {
            self.answer(states);
        } else {
            self.begin();
        }
    }

    pub(super) fn present_object(&self) -> String {
        match self.objects.get("a") {
            None => "absent".to_owned(),
            Some(held) if held.is_readable => format!("a@{}", held.version),
            Some(held) => format!("cannot decode n/a at version {}", held.version),
        }
    }

    /// Returns the state that a wait is asked about first.
    fn present(&self) -> String {
        if self.subject == Subject::Object {
            return self.present_object();
        }
        let named = |is_readable| {
            let objects = self
                .objects
                .iter()
                .filter(move |(_, held)| held.is_readable == is_readable);
            objects.map(|(name, held)| format!("{name}@{}", held.version))
        };
        selection_text(named(true), named(false))
    }

    /// Begins a wait, which is asked about the present state, if there is one.
    pub(super) fn begin(&mut self) {
        if self.has_listed && self.subject != Subject::Changes {
            self.expected.push(self.present());
            self.is_idle = self.present().starts_with("cannot");
        }
    }

    /// Notes a change, in which the object of a wait had these states, one after the other.
    pub(super) fn answer(&mut self, mut states: Vec<String>) {
        if self.is_idle {
            if !self.present_object().starts_with("cannot") {
                self.begin();
            }
            return;
        }
        if self.subject == Subject::Selection {
            states = vec![self.present()];
        }
        for state in states {
            self.expected.push(state.clone());
            self.is_idle = self.subject == Subject::Object && state.starts_with("cannot");
            if self.is_idle {
                return;
            }
            if verdict(&state) != Ok(false) {
                return self.begin();
            }
        }
    }
}

/// Decides whether a condition holds or fails, by chance but for each state the same.
fn verdict(state: &str) -> Result<bool, ()> {
    let sum: u32 = state.bytes().map(u32::from).sum();
    match sum % 5 {
        0 => Err(()),
        digit => Ok(digit == 1),
    }
}

/// Waits again and again.
async fn wait(mut waiter: Waiter<ConfigMap, Maps>, subject: Subject, log: &Log) {
    let key = ObjectKey::new("n", "a");
    let mut is_idle = false;
    loop {
        let mut is_first = true;
        let mut condition = |state: String| {
            let verdict = verdict(&state);
            log.borrow_mut().push(state);
            if std::mem::take(&mut is_first) {
                Ok(false)
            } else {
                verdict
            }
        };
        let outcome = if is_idle {
            let is_other = |now: &Selection<_>| Ok(now.undecodable().all(|error| error.key != key));
            waiter.until(DAYS, is_other).await
        } else if subject == Subject::Selection {
            waiter
                .until(DAYS, |now| condition(text_of_selection(now)))
                .await
        } else {
            let wait_for = waiter.until_object(DAYS, &key, |now| condition(text_of_state(now)));
            wait_for.await.map(|state| {
                let wait_for = log.borrow().last().cloned();
                assert_eq!(wait_for, Some(text_of_state(&state)));
            })
        };
        is_idle &= outcome.is_err();
        let text = match outcome {
            Ok(()) | Err(UntilError::Condition(())) => continue,
            Err(UntilError::Decode(error)) => {
                is_idle = true;
                error.to_string()
            }
            Err(UntilError::Refused(error)) => format!("refused {}", error.status().unwrap().code),
            Err(error) => panic!("{error}"),
        };
        log.borrow_mut().push(text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_asked_about_each_state_in_order_and_the_next_wait_continues() {
    for seed in 0..SEEDS {
        for subject in [Subject::Object, Subject::Selection] {
            let (mut world, client) = World::new(seed, subject);
            let waiter = Waiter::with_options(Maps::new(client, Scope::All), steady(seed));
            let log = Log::default();
            tokio::select! {
                biased;
                () = world.run(&log) => {}
                () = wait(waiter, subject, &log) => {}
            }
            world.is_over().await;
        }
    }
}
