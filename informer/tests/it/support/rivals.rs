//! Candidates for one lease, and what befalls them.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use fakeserver::{
    FakeServer,
    faults::{Fault, Filter, ServerError},
};
use http::StatusCode;
use informer::{leader_election::Leadership, stages::TaskSet};
use proptest::prelude::*;
use tokio::time::sleep;

/// The names of the rivals.
pub(crate) const RIVALS: [&str; 3] = ["a", "b", "c"];

/// The leadership that a rival shows.
pub(crate) type LeadershipSlot = Arc<Mutex<Option<Leadership>>>;

/// One step of a run: a rival, what befalls it, and the duration in seconds.
pub(crate) type RivalStep = (usize, RivalFault, u64);

#[derive(Clone, Copy, Debug)]
pub(crate) enum RivalFault {
    Hangs,
    Fails,
    Leaves,
    Nothing,
}

/// Rivals that compete in tasks of their own. The server knows their requests by their names.
pub(crate) struct Rivals {
    server: FakeServer,
    tasks: TaskSet,
    slots: Vec<LeadershipSlot>,
}

pub(crate) fn trouble() -> impl Strategy<Value = RivalStep> {
    let kind = prop_oneof![
        Just(RivalFault::Hangs),
        Just(RivalFault::Fails),
        Just(RivalFault::Leaves),
        Just(RivalFault::Nothing),
    ];
    (0..RIVALS.len(), kind, 1..30_u64)
}

/// Returns the number of cases of a property: `SEEDS=10000` draws as often.
pub(crate) fn cases() -> u32 {
    let count = std::env::var("SEEDS").map_or(Ok(12), |count| count.parse());
    count.expect("SEEDS is a number")
}

// === impl Rivals ===

impl Rivals {
    /// Lets each rival, by its place, `compete` and show what it holds.
    pub(crate) fn start<F>(server: FakeServer, compete: impl Fn(usize, LeadershipSlot) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let tasks = TaskSet::new();
        let slots: Vec<LeadershipSlot> = RIVALS.iter().map(|_| Arc::default()).collect();
        for (place, slots) in slots.iter().enumerate() {
            let stop = tasks.stop_token().clone();
            let competing = Box::pin(compete(place, Arc::clone(slots)));
            tasks.spawn(async move {
                stop.run_until_cancelled(competing).await;
            });
        }
        Self {
            server,
            tasks,
            slots,
        }
    }

    /// Returns the names of those that lead.
    pub(crate) fn leaders(&self) -> Vec<&'static str> {
        let held = |slot: &LeadershipSlot| {
            let slot = slot.lock().unwrap();
            slot.as_ref().is_some_and(Leadership::is_held)
        };
        let leaders = self.slots.iter().zip(RIVALS).filter(|(slot, _)| held(slot));
        leaders.map(|(_, name)| name).collect()
    }

    /// Lets troubles befall them one after the other.
    ///
    /// # Panics
    ///
    /// If two lead at once.
    pub(crate) async fn suffer(&self, troubles: Vec<RivalStep>) {
        for (who, trouble, seconds) in troubles {
            let filter = Filter::any().client(RIVALS[who]);
            let code = StatusCode::INTERNAL_SERVER_ERROR;
            let faults = self.server.faults();
            let _guard = match trouble {
                RivalFault::Hangs => Some(faults.install(Fault::Hang.rule().matching(filter))),
                RivalFault::Fails => {
                    let rule = ServerError::new(code).rule().matching(filter);
                    Some(faults.install(rule))
                }
                RivalFault::Leaves => {
                    let leadership = self.slots[who].lock().unwrap().take();
                    if let Some(leadership) = leadership {
                        leadership.release().await;
                    }
                    None
                }
                RivalFault::Nothing => None,
            };
            for _ in 0..seconds * 4 {
                sleep(Duration::from_millis(250)).await;
                let leaders = self.leaders();
                assert!(leaders.len() <= 1, "{leaders:?} lead at once");
            }
        }
    }

    pub(crate) async fn stop(self) {
        self.tasks.shutdown().await;
    }
}
