//! A model of a client of a server: its requests, their times, and the events that it receives.

use std::{collections::BTreeMap, time::Duration};

use fastrand::Rng;
use futures::{FutureExt, StreamExt};
use kube::Client;
use tokio::time::{Instant, sleep, timeout};

use super::{HeldObject, LIMIT, Log, MOMENT, SECOND, STEPS};
use crate::by_hand::{Call, Calls, server};

/// The next request, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Next {
    Watch,
    List,
    Check,
    Over,
}

/// The subject of the events: all changes, or the states that a wait for an object or for a selection receives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Subject {
    Changes,
    Object,
    Selection,
}

/// A server, and a model of who asks it.
pub(super) struct World {
    seed: u64,
    pub(super) random: Rng,
    calls: Calls,
    pub(super) subject: Subject,
    pub(super) last: u32,
    /// The earliest time of the next request, and the time of the last watch.
    pub(super) next_at: Instant,
    pub(super) watch_at: Option<Instant>,
    pub(super) attempt: u32,
    pub(super) short_watches: u32,
    pub(super) heard_at: Instant,
    pub(super) checked_at: Option<Instant>,
    pub(super) objects: BTreeMap<&'static str, HeldObject>,
    pub(super) has_listed: bool,
    /// The object of the wait cannot be decoded, and nothing is asked until that changes.
    pub(super) is_idle: bool,
    pub(super) expected: Vec<String>,
}

// === impl World ===

impl World {
    pub(super) fn new(seed: u64, subject: Subject) -> (Self, Client) {
        let (calls, client) = server();
        let mut random = Rng::with_seed(seed);
        let world = Self {
            seed,
            calls,
            subject,
            last: random.u32(5..50),
            random,
            next_at: Instant::now(),
            watch_at: None,
            attempt: 0,
            short_watches: 0,
            heard_at: Instant::now(),
            checked_at: None,
            objects: BTreeMap::new(),
            has_listed: false,
            is_idle: false,
            expected: Vec::new(),
        };
        (world, client)
    }

    /// Answers requests, and compares the received events.
    pub(super) async fn run(&mut self, log: &Log) {
        let waits = self.subject != Subject::Changes;
        let mut next = if waits { Next::List } else { Next::Watch };
        for step in 0..STEPS {
            next = match next {
                Next::Watch => self.watch().await,
                Next::List => self.list().await,
                Next::Check => self.check().await,
                Next::Over => break,
            };
            sleep(MOMENT).await;
            let context = format!("seed {}, step {step}, {:?}", self.seed, self.subject);
            assert_eq!(*log.borrow(), self.expected, "{context}");
        }
        if next == Next::Over {
            self.is_over().await;
        }
    }

    /// Checks that no more requests are made than by now.
    pub(super) async fn is_over(&mut self) {
        let over = Instant::now();
        sleep(LIMIT).await;
        while let Some(call) = self.calls.next().now_or_never().flatten() {
            assert!(call.at <= over, "seed {}: {}", self.seed, call.summary);
        }
    }

    /// Waits for the next request, which has to be this one, in time.
    pub(super) async fn next(&mut self, request: &str) -> Call {
        let call = timeout(LIMIT, self.calls.next()).await;
        let call = call.expect("a request in time").expect("a client");
        let mut due = self.next_at;
        if request.starts_with("watch") {
            due = due.max(self.watch_at.map_or(due, |at| at + SECOND));
            self.watch_at = Some(call.at);
        }
        let (seed, at) = (self.seed, call.at);
        assert_eq!(call.summary, request, "seed {seed}");
        let is_then = due <= at + 2 * MOMENT && at <= due + 2 * MOMENT;
        assert!(
            is_then,
            "seed {seed}: {request} at {at:?} instead of {due:?}"
        );
        call
    }

    /// Backs off.
    pub(super) fn delay(&mut self, request: Duration) {
        let own = Duration::from_millis(800) * 2u32.pow(self.attempt.min(10));
        let own = own.min(Duration::from_secs(30));
        self.attempt += 1;
        self.next_at = Instant::now() + own.max(request.min(Duration::from_mins(5)));
    }

    /// Draws a failure: its code, its reason, and the time for which it asks.
    pub(super) fn draw_failure(&mut self) -> (u16, &'static str, Duration) {
        let passing = [429, 500, 502, 503, 504];
        let rejections = [400, 401, 403, 404, 405, 406, 409, 415, 422];
        let request = if self.random.bool() {
            Duration::from_secs(self.random.u64(1..400))
        } else {
            Duration::ZERO
        };
        match self.random.u8(0..20) {
            0 => (410, "Expired", request),
            1 => (500, "StoreReadError", request),
            2 => (self.random.choice(rejections).unwrap(), "", request),
            _ => (self.random.choice(passing).unwrap(), "", request),
        }
    }

    /// Notes a failure.
    pub(super) fn fail(
        &mut self,
        (code, reason, request): (u16, &str, Duration),
        then: Next,
    ) -> Next {
        let is_rejected = !matches!(code, 410 | 429 | 500..);
        let ended = match (code, reason) {
            (410, _) => Some("expired"),
            (_, "StoreReadError") => Some("untold"),
            _ => None,
        };
        if is_rejected {
            self.expected.push(format!("refused {code}"));
        }
        if self.subject == Subject::Changes {
            let last = self.last;
            self.expected
                .extend(ended.map(|how| format!("{how} after {last}")));
            if is_rejected || ended.is_some() {
                return Next::Over;
            }
        }
        self.delay(request);
        if is_rejected && !self.is_idle {
            self.begin();
        }
        if ended.is_some() { Next::List } else { then }
    }
}
