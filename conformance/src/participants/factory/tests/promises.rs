//! Factories: one view of all pods, with a handler, through two generations, and variants with one violation each.

use std::{sync::Arc, time::Duration};

use super::super::{FactoryEvent, FactoryRequest, factories};
use crate::{
    participants::informers::checkers::{A, B, member, state},
    trace::{Ending, Key, Member, NotifiedChange, Observation, Phase, Trace},
};

const PODS: &str = "/api/v1/pods";

/// A factory that is written step by step.
#[derive(Default)]
struct FactoryBuilder {
    trace: Trace,
    request_count: usize,
}

// === impl FactoryBuilder ===

impl FactoryBuilder {
    /// Requests the informer of view 0, adds handler 0, and starts.
    fn begin() -> Self {
        let mut play = Self::default();
        play.event(FactoryEvent::Made);
        play.requested(0, PODS, 1);
        play.event(FactoryEvent::Joins {
            view: 0,
            handler: 0,
        });
        play.event(FactoryEvent::Starts);
        play
    }

    fn event(&mut self, event: FactoryEvent) {
        self.trace.push(Duration::ZERO, event.into());
    }

    fn requested(&mut self, view: usize, list: &str, informer_count: usize) {
        self.event(FactoryEvent::Requested {
            view,
            list: Arc::from(list),
            transforms: false,
            informer_count,
        });
    }

    fn asks(&mut self, kind: FactoryRequest) -> usize {
        let request = self.request_count;
        self.request_count += 1;
        self.event(FactoryEvent::Asks {
            request,
            list: Arc::from(PODS),
            kind,
        });
        request
    }

    fn ends(&mut self, request: usize, ending: Ending) {
        self.event(FactoryEvent::Ends { request, ending });
    }

    /// Lists, and opens a watch.
    fn lists(&mut self) -> usize {
        let request = self.asks(FactoryRequest::List);
        let status = 200;
        self.event(FactoryEvent::Answers { request, status });
        self.ends(request, Ending::Clean);
        self.asks(FactoryRequest::Watch)
    }

    fn waited(&mut self, start: usize, has_synced: bool) {
        self.event(FactoryEvent::SyncWaitEnds { start, has_synced });
    }

    fn notified(&mut self, key: &str, change: NotifiedChange) {
        self.event(FactoryEvent::Told {
            handler: 0,
            key: Key::from(key),
            change,
        });
    }

    fn added(&mut self, key: &str, revision: u64) {
        let new = state(&key[4..], revision);
        let is_initial = true;
        self.notified(key, NotifiedChange::Added { new, is_initial });
    }

    fn deleted(&mut self, key: &str) {
        let (last, is_tombstone) = (None, true);
        self.notified(key, NotifiedChange::Deleted { last, is_tombstone });
    }

    fn stops(&mut self, watch: usize) {
        self.event(FactoryEvent::Stops);
        self.ends(watch, Ending::Dropped);
        self.event(FactoryEvent::Stopped { task_count: 0 });
    }

    fn cached(&mut self, has_synced: bool, members: &[Member]) {
        self.event(FactoryEvent::Cached {
            view: 0,
            has_synced,
            synced_handlers: if has_synced { vec![0] } else { vec![] },
            members: members.to_vec(),
        });
    }

    /// Compares the first finding of all.
    fn check(mut self, want: &str) {
        self.trace
            .push(Duration::ZERO, Observation::Phase(Phase::Shutdown));
        let found = factories::check(&self.trace).into_iter().next();
        let found = found.map(|finding| finding.text).unwrap_or_default();
        let is_as_wanted = found.contains(want) && want.is_empty() == found.is_empty();
        assert!(
            is_as_wanted,
            "\nfound {found}\nwant  {want}\n{}",
            self.trace
        );
    }
}

fn a(revision: u64) -> Member {
    member(A, &A[4..], revision)
}

fn b(revision: u64) -> Member {
    member(B, &B[4..], revision)
}

/// Runs the first generation, which has A.
fn first() -> (FactoryBuilder, usize) {
    let mut play = FactoryBuilder::begin();
    let watch = play.lists();
    play.added(A, 2);
    play.waited(1, true);
    (play, watch)
}

/// Stops it, and begins the second one.
fn second() -> FactoryBuilder {
    let (mut play, watch) = first();
    play.stops(watch);
    play.cached(true, &[a(2)]);
    play.event(FactoryEvent::Starts);
    play.lists();
    play.waited(2, true);
    play
}

#[test]
fn generations_that_report_changes_are_correct() {
    let mut play = second();
    play.deleted(A);
    play.added(B, 4);
    play.cached(true, &[b(4)]);
    play.event(FactoryEvent::Wanted {
        view: 0,
        members: vec![b(4)],
    });
    play.check("");
}

#[test]
fn informers_that_are_not_shared_are_found() {
    let check = |list, informer_count, want| {
        let mut play = FactoryBuilder::default();
        play.event(FactoryEvent::Made);
        play.requested(0, PODS, 1);
        play.requested(1, list, informer_count);
        play.check(want);
    };
    check(PODS, 1, "");
    check(PODS, 2, "the factory keeps 2 informers, 1 are requested");
    check("/api/v1/pods tier=web", 2, "");
    check("/api/v1/pods tier=web", 1, "2 are requested");

    let (mut play, _) = first();
    play.asks(FactoryRequest::Page);
    play.asks(FactoryRequest::List);
    play.check("2 open requests of /api/v1/pods, for 1 informers");
}

#[test]
fn a_start_that_ends_a_watch_is_found() {
    let check = |is_within: bool, want| {
        let (mut play, watch) = first();
        play.event(FactoryEvent::Starts);
        if !is_within {
            play.event(FactoryEvent::Started);
        }
        play.ends(watch, Ending::Dropped);
        play.waited(2, true);
        play.check(want);
    };
    check(true, "a start ends watch 1");
    check(false, "");
}

#[test]
fn a_shutdown_that_leaves_something_is_found() {
    let (mut play, _) = first();
    play.event(FactoryEvent::Stops);
    play.event(FactoryEvent::Stopped { task_count: 0 });
    play.check("request 1 of /api/v1/pods outlives its informer");

    let (mut play, watch) = first();
    play.event(FactoryEvent::Stops);
    play.ends(watch, Ending::Dropped);
    play.event(FactoryEvent::Stopped { task_count: 2 });
    play.check("2 tasks left");

    let (mut play, watch) = first();
    play.stops(watch);
    play.asks(FactoryRequest::List);
    play.check("request 2 of /api/v1/pods while nothing runs");

    let (mut play, watch) = first();
    play.stops(watch);
    play.added(B, 3);
    play.check("handler 0 is told of one/pod-1 while nothing runs");

    let (mut play, watch) = first();
    play.stops(watch);
    play.cached(true, &[a(2), b(3)]);
    play.check("handler 0 knows");
}

#[test]
fn a_generation_that_reports_something_twice_or_of_the_unknown_is_found() {
    let mut play = second();
    play.added(A, 2);
    play.check("is told of one/pod-0 as new");

    let mut play = second();
    play.deleted(B);
    play.check("the deletion of one/pod-1, which it does not know");

    let check = |old: u64, new: u64, want| {
        let mut play = second();
        let of = |revision| state(&A[4..], revision);
        let (old, new) = (of(old), of(new));
        play.notified(A, NotifiedChange::Updated { old, new });
        play.check(want);
    };
    check(2, 3, "");
    check(2, 2, "is told of one/pod-0: pod-0@2 -> pod-0@2");
    check(1, 3, "but knows");
}

#[test]
fn handlers_that_receive_something_after_their_end_are_found() {
    let (mut play, _) = first();
    play.event(FactoryEvent::Leaves { handler: 0 });
    play.added(B, 3);
    play.check("handler 0 is told of one/pod-1 after its end");

    let (mut play, watch) = first();
    play.stops(watch);
    play.event(FactoryEvent::Made);
    play.event(FactoryEvent::Starts);
    play.added(B, 3);
    play.check("after its end");

    let release = |count, informer_count, want| {
        let (mut play, watch) = first();
        play.event(FactoryEvent::Releases { view: 0 });
        play.ends(watch, Ending::Dropped);
        play.event(FactoryEvent::Released {
            count,
            informer_count,
        });
        play.added(B, 3);
        play.check(want);
    };
    release(1, 0, "after its end");
    release(0, 1, "0 informers are released, 1 are unused");
    release(1, 1, "the factory keeps 1 informers, 0 are requested");
}

#[test]
fn waits_that_end_early_or_never_are_found() {
    let mut play = FactoryBuilder::begin();
    play.waited(1, true);
    play.check("ends before /api/v1/pods is answered");

    // An answer of the former generation is none of this one.
    let (mut play, watch) = first();
    play.stops(watch);
    play.event(FactoryEvent::Starts);
    play.waited(2, true);
    play.check("the wait after start 2 ends before");

    let mut play = FactoryBuilder::begin();
    play.waited(1, false);
    play.check("fails, but nothing has ended");

    let mut play = FactoryBuilder::begin();
    play.lists();
    play.check("the wait after start 1 does not end");
}

#[test]
fn handlers_that_have_synced_before_their_cache_are_found() {
    let mut play = FactoryBuilder::begin();
    play.event(FactoryEvent::Cached {
        view: 0,
        has_synced: false,
        synced_handlers: vec![0],
        members: Vec::new(),
    });
    play.check("handler 0 of view 0 has synced early");
}

#[test]
fn a_cache_that_differs_from_the_server_at_the_end_is_found() {
    let check = |has_synced, wanted: &[Member], want| {
        let (mut play, _) = first();
        play.cached(has_synced, &[a(2)]);
        play.event(FactoryEvent::Wanted {
            view: 0,
            members: wanted.to_vec(),
        });
        play.check(want);
    };
    check(true, &[a(2)], "");
    check(false, &[a(2)], "view 0 never synced");
    check(true, &[a(3)], "view 0 holds");
    check(true, &[a(2), b(3)], "view 0 holds");

    let (mut play, _) = first();
    play.event(FactoryEvent::Differs {
        text: "view 0 has another transform".to_owned(),
    });
    play.check("another transform");
}
