//! Watches without a list: each change is received once, in order, and the end has a reason.

use std::{io, time::Duration};

use futures::StreamExt;
use informer::{
    ResourceVersion, Scope,
    watch::{RetryWatcher, RetryWatcherError},
};
use k8s_openapi::api::core::v1::ConfigMap;
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    HeldObject, Log, Maps, NAMES, SECOND, SEEDS, SILENCE, held, missed,
    model::{Next, Subject, World},
    status, steady, text_of_change,
};
use crate::by_hand::{Call, ChunkSender, server};

/// An open watch: when it began, when something came last, and whether that was anything, and anything new.
struct Open {
    began: Instant,
    heard_at: Instant,
    has_items: bool,
    has_changes: bool,
}

// === impl World ===

impl World {
    pub(super) async fn watch(&mut self) -> Next {
        let call = self.next(&format!("watch at {}", self.last)).await;
        let seconds = call.ends_after.unwrap().as_secs();
        assert!((300..600).contains(&seconds), "{seconds}");
        match self.random.u8(0..8) {
            0 => {
                let failure = self.draw_failure();
                call.refuse_as(failure.0, failure.1, failure.2);
                self.fail(failure, Next::Watch)
            }
            1 => {
                // No answer comes, or no connection.
                if self.random.bool() {
                    sleep(Duration::from_secs(30)).await;
                } else {
                    let kinds = [
                        io::ErrorKind::ConnectionRefused,
                        io::ErrorKind::ConnectionReset,
                    ];
                    let kind = self.random.choice(kinds).unwrap();
                    call.break_off(kind.into());
                }
                self.delay(Duration::ZERO);
                Next::Watch
            }
            _ => {
                let late = self.random.choice([0, 0, 20]).unwrap();
                sleep(Duration::from_secs(late)).await;
                self.stream(call).await
            }
        }
    }

    /// Answers a watch with random events.
    async fn stream(&mut self, call: Call) -> Next {
        let began = Instant::now();
        let end = began + call.ends_after.unwrap() + Duration::from_secs(30);
        let sending = call.open();
        let mut open = Open {
            began,
            heard_at: began,
            has_items: false,
            has_changes: false,
        };
        for _ in 0..self.random.u8(0..8) {
            match self.random.u8(0..24) {
                0..10 => self.event(&sending, &mut open),
                10..13 => {
                    if self.bookmark(&sending, &mut open) {
                        return Next::Check;
                    }
                }
                13..23 => {
                    let pauses = [0..900, 0..900, 1000..40_000, 100_000..200_000];
                    let pause = self.random.choice(pauses).unwrap();
                    let pause = Duration::from_millis(self.random.u64(pause));
                    let deadline = end.min(open.heard_at + SILENCE);
                    sleep_until(deadline.min(Instant::now() + pause)).await;
                    if Instant::now() >= deadline {
                        return self.ended(&open);
                    }
                }
                _ => return self.break_off(&sending, &open),
            }
        }
        match self.random.u8(0..4) {
            0 => {
                let error = io::Error::from(io::ErrorKind::ConnectionReset);
                sending.break_off(error);
            }
            1 => sending.send(r#"{"type":"ADDED","object":{"kind""#),
            2 => sleep_until(end.min(open.heard_at + SILENCE)).await,
            _ => {}
        }
        drop(sending);
        self.ended(&open)
    }

    /// Draws a version, the last one more often than not older, and takes it if it is new.
    fn advance(&mut self, open: &mut Open) -> (u32, bool) {
        let last = self.last;
        let version = match self.random.u8(0..6) {
            0 => last,
            1 => last - self.random.u32(0..last.min(5)),
            _ => last + self.random.u32(1..4),
        };
        self.last = last.max(version);
        self.heard_at = Instant::now();
        open.heard_at = self.heard_at;
        open.has_items = true;
        open.has_changes |= version > last;
        (version, version > last)
    }

    /// Sends a change, which is received if it is new.
    fn event(&mut self, sending: &ChunkSender, open: &mut Open) {
        let name = self.random.choice(NAMES).unwrap();
        let (version, is_new) = self.advance(open);
        let held = HeldObject {
            version,
            uid: self.random.u32(0..2),
            is_readable: self.random.u8(0..6) > 0,
        };
        let kinds = [("ADDED", "+"), ("MODIFIED", "~"), ("DELETED", "-")];
        let (kind, sign) = self.random.choice(kinds).unwrap();
        sending.event(kind, &held.item(name));
        if !is_new {
            return;
        }
        if self.subject == Subject::Changes {
            let sign = if held.is_readable {
                sign.to_owned()
            } else {
                format!("{sign}?")
            };
            return self.expected.push(format!("{sign}{name}@{version}"));
        }
        let before = self.objects.remove(name);
        let known = before.filter(|before| before.is_readable);
        let state = match (sign, held.is_readable) {
            ("-", true) => format!("-a@{version}"),
            ("-", false) => missed(known, "Undecodable"),
            _ => {
                self.objects.insert(name, held);
                self.present_object()
            }
        };
        self.answer(if name == "a" { vec![state] } else { Vec::new() });
    }

    /// Sends a bookmark; returns whether the version has to be checked.
    fn bookmark(&mut self, sending: &ChunkSender, open: &mut Open) -> bool {
        let last = self.last;
        let (version, _) = self.advance(open);
        sending.bookmark(version);
        let checked_ago = self.checked_at.map(|at| at.elapsed());
        let checks = self.subject != Subject::Changes
            && version < last
            && checked_ago.is_none_or(|ago| ago >= SILENCE);
        if checks {
            self.next_at = Instant::now();
            self.checked_at = Some(self.next_at);
        }
        checks
    }

    /// Sends something after which nothing more is read.
    fn break_off(&mut self, sending: &ChunkSender, open: &Open) -> Next {
        self.note_health(open);
        match self.random.u8(0..5) {
            0 => {
                // From this version on no watch can be resumed.
                sending.event("MODIFIED", &held(0).item("a"));
                self.fail((500, "StoreReadError", Duration::ZERO), Next::Watch)
            }
            1 => {
                let bookmark = r#"{"type":"BOOKMARK","object":{"metadata":{}}}"#;
                let garbage = [
                    "{}\n",
                    "garbage\n",
                    "{\"type\":\"NEWS\",\"object\":{}}\n",
                    bookmark,
                ];
                sending.send(self.random.choice(garbage).unwrap());
                sending.send("\n");
                self.delay(Duration::ZERO);
                Next::Watch
            }
            _ => {
                let failure = self.draw_failure();
                sending.event("ERROR", &status(failure.0, failure.1, failure.2));
                self.fail(failure, Next::Watch)
            }
        }
    }

    fn note_health(&mut self, open: &Open) {
        if open.has_changes || open.began.elapsed() >= Duration::from_secs(30) {
            self.attempt = 0;
        }
    }

    /// Notes the end of a watch, for which the server or the silence is the reason.
    fn ended(&mut self, open: &Open) -> Next {
        self.note_health(open);
        if open.began.elapsed() >= SECOND {
            self.short_watches = 0;
        } else if open.has_changes && self.short_watches < 3 {
            self.short_watches += 1;
        } else {
            self.delay(Duration::ZERO);
            return Next::Watch;
        }
        self.next_at = Instant::now();
        let is_silent = !open.has_items && self.heard_at.elapsed() >= 2 * SILENCE;
        if self.subject == Subject::Changes || !is_silent {
            return Next::Watch;
        }
        self.checked_at = Some(self.next_at);
        Next::Check
    }
}

/// Reads a watch to its end.
async fn follow(mut watcher: RetryWatcher<ConfigMap, Maps>, log: &Log) {
    while let Some(change) = watcher.next().await {
        let last = watcher.resource_version().clone();
        let text = match change {
            Ok(change) => {
                let (text, version) = text_of_change(&change);
                assert_eq!(version, last);
                text
            }
            Err(error) => {
                let is_refused = matches!(error, RetryWatcherError::Refused(_));
                assert_eq!(error.needs_relist(), !is_refused);
                assert_eq!(
                    error.is_expired(),
                    matches!(error, RetryWatcherError::Expired { .. })
                );
                match error {
                    RetryWatcherError::Expired { version, .. } => {
                        format!("expired after {version}")
                    }
                    RetryWatcherError::ChangeUnavailable { version, .. } => {
                        format!("untold after {version}")
                    }
                    error => format!(
                        "refused {}",
                        error.into_answer().unwrap().status().unwrap().code
                    ),
                }
            }
        };
        log.borrow_mut().push(text);
    }
    assert!(watcher.next().await.is_none());
    std::future::pending::<()>().await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_reports_each_change_once_resumes_where_it_was_and_ends_when_it_cannot() {
    for seed in 0..SEEDS {
        let (mut world, client) = World::new(seed, Subject::Changes);
        let from = ResourceVersion::new(world.last.to_string());
        let maps = Maps::new(client, Scope::All);
        let watcher = RetryWatcher::with_options(maps, from, steady(seed)).unwrap();
        let log = Log::default();
        tokio::select! {
            biased;
            () = world.run(&log) => {}
            () = follow(watcher, &log) => {}
        }
        // Once it is dropped, it asks for nothing.
        world.is_over().await;
    }
    for version in ["", "0"] {
        let (mut calls, client) = server();
        let watcher = RetryWatcher::new(Maps::new(client, Scope::All), version.into());
        let error = watcher.unwrap_err();
        assert!(matches!(error, RetryWatcherError::StartVersion(_)) && error.needs_relist());
        assert!(calls.next().await.is_none());
    }
}
