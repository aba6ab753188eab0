//! Controllers: their reconciles, their queues, and their stops.

use std::{num::NonZero, time::Duration};

use super::{
    ControllerEvent, ControllerPlan, QueueAction, QueueEvent, QueueState, QueueStop,
    ReconcileOutcome,
};
use crate::{
    participants::informers::checkers::{A, B, TraceBuilder, check_by, member, state},
    trace::{Key, Observation},
};

const C: &str = "one/pod-2";

impl TraceBuilder {
    fn control(&mut self, event: QueueEvent) {
        self.push(ControllerEvent {
            informer: 0,
            controller: 0,
            event,
        });
    }

    fn hears(&mut self, key: &str, revision: u64) {
        self.control(QueueEvent::Heard {
            key: Key::from(key),
            state: Some(state("a", revision)),
            can_wait: false,
        });
    }

    /// Hears of an object of the initial state, which can wait.
    fn hears_initially(&mut self, key: &str) {
        self.control(QueueEvent::Heard {
            key: Key::from(key),
            state: Some(state("a", 2)),
            can_wait: true,
        });
    }

    fn operates(&mut self, key: &str, action: QueueAction) {
        self.control(QueueEvent::Operated {
            key: Key::from(key),
            action,
            has_cancelled: false,
        });
    }

    fn adds_after(&mut self, key: &str, after_ms: u64) {
        self.operates(key, QueueAction::AddAfter(after_ms));
    }

    fn begins(&mut self, key: &str, revision: u64) {
        self.control(QueueEvent::Begins {
            key: Key::from(key),
            cached: Some(state("a", revision)),
        });
    }

    fn ends(&mut self, key: &str, outcome: ReconcileOutcome) {
        self.control(QueueEvent::Ends {
            key: Key::from(key),
            outcome,
        });
    }

    fn is_done(&mut self, key: &str) {
        self.ends(key, ReconcileOutcome::Done);
    }

    fn reconciles(&mut self, key: &str) {
        self.begins(key, 2);
        self.is_done(key);
    }

    fn stands(&mut self, queued_count: usize, processing_count: usize) {
        self.control(QueueEvent::Stands(QueueState {
            queued_count,
            processing_count,
            ..QueueState::default()
        }));
    }

    fn stands_delayed(&mut self, key: &str, due_ms: u64) {
        self.control(QueueEvent::Stands(QueueState {
            delayed: vec![(Key::from(key), Duration::from_millis(due_ms))],
            ..QueueState::default()
        }));
    }

    fn stops(&mut self, stop: QueueStop) {
        self.control(QueueEvent::Stops(stop));
    }

    fn drained(&mut self, is_all: bool) {
        self.control(QueueEvent::Drained { is_all });
    }

    fn has_stopped(&mut self) {
        self.control(QueueEvent::Stopped);
    }

    fn falls_asleep(&mut self) {
        self.push(Observation::FaultBegins {
            fault: 0,
            name: crate::checkers::clock_leaps::SUSPEND.to_owned(),
            informer: None,
            text: String::new(),
        });
    }

    fn drains(&mut self) {
        self.stops(QueueStop::Drain);
        self.drained(true);
        self.has_stopped();
    }
}

fn plan() -> ControllerPlan {
    ControllerPlan {
        retry_base_ms: 10,
        retry_max_ms: 35,
        ..ControllerPlan::default()
    }
}

fn is_of_controllers(checker: &str) -> bool {
    ["reconciles", "work_queues", "queue_stops"].contains(&checker)
}

/// Compares the findings about a controller with this plan.
fn check_with(plan: ControllerPlan, build: impl FnOnce(&mut TraceBuilder), want: &[(&str, &str)]) {
    let build = |story: &mut TraceBuilder| {
        story.control(QueueEvent::Starts(Box::new(plan)));
        build(story);
    };
    check_by(is_of_controllers, build, &[], want);
}

/// Compares the findings about a controller with one worker.
fn check(build: impl FnOnce(&mut TraceBuilder), want: &[(&str, &str)]) {
    check_with(plan(), build, want);
}

#[test]
fn a_controller_without_a_flaw_is_not_found() {
    let two_workers = ControllerPlan {
        worker_count: NonZero::new(2).unwrap(),
        ..plan()
    };
    check_with(
        two_workers,
        |story| {
            story.hears_initially(A);
            story.hears(B, 3);
            story.begins(A, 2);
            story.begins(B, 4);
            story.stands(0, 2);
            story.wait(5);
            // It is added once more while it is reconciled, twice.
            story.hears(A, 5);
            story.hears(A, 6);
            story.is_done(A);
            story.begins(A, 6);
            story.is_done(A);
            story.is_done(B);
            story.cached(6, &[member(A, "a", 6), member(B, "a", 4)]);
            story.stands(0, 0);
            story.drains();
        },
        &[],
    );
}

#[test]
fn reconciles_that_run_together_are_found() {
    check(
        |story| {
            story.hears(A, 2);
            story.begins(A, 2);
            story.hears(A, 3);
            story.begins(A, 3);
            story.drains();
        },
        &[("reconciles", "it is being reconciled already")],
    );
    check(
        |story| {
            story.hears(A, 2);
            story.hears(B, 2);
            story.begins(A, 2);
            story.begins(B, 2);
        },
        &[("reconciles", "there are only 1 workers")],
    );
}

#[test]
fn a_reconcile_that_sees_an_older_state_is_found() {
    let sees = |revision| {
        move |story: &mut TraceBuilder| {
            story.hears(A, 5);
            story.begins(A, revision);
            story.is_done(A);
            story.drains();
        }
    };
    check(sees(6), &[]);
    check(sees(4), &[("reconciles", "it was notified of a@5 before")]);
}

#[test]
fn a_change_without_a_reconcile_is_found() {
    let without_notice = |times: usize| {
        move |story: &mut TraceBuilder| {
            for _ in 0..times {
                story.cached(5, &[member(A, "a", 5)]);
                story.wait(1);
            }
            story.drains();
        }
    };
    check(without_notice(1), &[]);
    check(
        without_notice(2),
        &[("reconciles", "has not reconciled one/pod-0")],
    );
    check(
        |story| {
            story.hears(A, 5);
            story.wait(1);
            story.cached(5, &[member(A, "a", 5)]);
            story.begins(A, 5);
        },
        &[
            ("reconciles", "has not reconciled one/pod-0"),
            ("work_queues", "one/pod-0 was not handed out at 0.000 s"),
        ],
    );
    // It sees a state, but not the last one.
    check(
        |story| {
            story.hears(A, 5);
            story.begins(A, 6);
            story.is_done(A);
            for _ in 0..2 {
                story.wait(1);
                story.cached(5, &[member(A, "a", 5)]);
            }
            story.drains();
        },
        &[("reconciles", "has not reconciled one/pod-0")],
    );
}

#[test]
fn a_reconcile_without_a_reason_is_found() {
    let want = &[("work_queues", "although nothing has added it")];
    check(|story| story.reconciles(A), want);
    // Two adds of an item that waits are one.
    let heard_while_busy = |times: usize| {
        move |story: &mut TraceBuilder| {
            story.hears(B, 2);
            story.begins(B, 2);
            story.hears(A, 2);
            story.hears(A, 2);
            story.is_done(B);
            for _ in 0..times {
                story.reconciles(A);
            }
            story.drains();
        }
    };
    check(heard_while_busy(1), &[]);
    check(heard_while_busy(2), want);
}

#[test]
fn an_item_that_is_added_while_it_is_reconciled_is_reconciled_again() {
    let again = |ends_well: bool| {
        move |story: &mut TraceBuilder| {
            story.hears(A, 2);
            story.begins(A, 2);
            story.hears(A, 2);
            story.ends(A, ReconcileOutcome::Panicked);
            if ends_well {
                story.reconciles(A);
            }
            story.wait(10);
            story.reconciles(A);
            story.drains();
        }
    };
    check(again(true), &[]);
    check(
        again(false),
        &[("work_queues", "one/pod-0 was not handed out at 0.000 s")],
    );
}

#[test]
fn a_delay_is_kept_and_the_shorter_one_holds() {
    let after = |ms: u64| {
        move |story: &mut TraceBuilder| {
            story.adds_after(A, 90);
            story.adds_after(A, 50);
            story.adds_after(A, 70);
            story.wait(ms);
            story.reconciles(A);
            story.drains();
        }
    };
    check(after(50), &[]);
    check(
        after(49),
        &[("work_queues", "handed out 0.001 s before it is due")],
    );
    check(
        after(51),
        &[("work_queues", "one/pod-0 was not handed out at 0.050 s")],
    );
}

#[test]
fn a_cancelled_delay_is_over() {
    let cancelled = |was_delayed: bool| {
        move |story: &mut TraceBuilder| {
            story.adds_after(A, 50);
            story.stands_delayed(A, 50);
            story.control(QueueEvent::Operated {
                key: Key::from(A),
                action: QueueAction::CancelDelayed,
                has_cancelled: was_delayed,
            });
            story.wait(100);
            story.stands(0, 0);
        }
    };
    let stopped = |build: fn(&mut TraceBuilder)| {
        move |story: &mut TraceBuilder| {
            cancelled(true)(story);
            build(story);
            story.drains();
        }
    };
    check(stopped(|_| {}), &[]);
    check(
        stopped(|story| story.reconciles(A)),
        &[("work_queues", "although nothing has added it")],
    );
    check(cancelled(false), &[("work_queues", "one/pod-0 is delayed")]);
    check(
        |story| {
            story.adds_after(A, 50);
            story.stands_delayed(A, 51);
        },
        &[("work_queues", "expected: 0 queued, 0 in flight")],
    );
}

#[test]
fn a_delayed_item_and_the_same_item_in_the_queue_are_one_if_they_merge() {
    let added_before_its_time = |story: &mut TraceBuilder| {
        story.adds_after(A, 50);
        story.hears(A, 2);
        story.reconciles(A);
        story.wait(50);
    };
    let merging = || ControllerPlan {
        merges_delayed: true,
        ..plan()
    };
    let once = |story: &mut TraceBuilder| {
        added_before_its_time(story);
        story.wait(1);
        story.drains();
    };
    let twice = |story: &mut TraceBuilder| {
        added_before_its_time(story);
        story.reconciles(A);
        story.drains();
    };
    check(twice, &[]);
    check(once, &[("work_queues", "was not handed out at 0.050 s")]);
    check_with(merging(), once, &[]);
    check_with(
        merging(),
        twice,
        &[("work_queues", "although nothing has added it")],
    );
}

#[test]
fn retries_wait_longer_from_failure_to_failure() {
    let fails = |waits_ms: &'static [u64]| {
        move |story: &mut TraceBuilder| {
            story.hears(A, 2);
            for wait_ms in waits_ms {
                story.begins(A, 2);
                story.ends(A, ReconcileOutcome::Failed);
                story.wait(*wait_ms);
            }
            story.reconciles(A);
            // A success is a new beginning.
            story.hears(A, 2);
            story.begins(A, 2);
            story.ends(A, ReconcileOutcome::Failed);
            story.wait(10);
            story.reconciles(A);
            story.drains();
        }
    };
    check(fails(&[10, 20, 35, 35]), &[]);
    check(
        fails(&[10, 10]),
        &[("work_queues", "handed out 0.010 s before it is due")],
    );
    check(
        fails(&[10, 20, 40]),
        &[("work_queues", "was not handed out at 0.065 s")],
    );
    let once = ControllerPlan {
        retries_max: Some(1),
        ..plan()
    };
    check_with(
        once,
        fails(&[10, 20]),
        &[("work_queues", "although nothing has added it")],
    );
}

#[test]
fn failures_are_counted_and_forgotten() {
    let forgotten = |failure_count| {
        move |story: &mut TraceBuilder| {
            story.operates(A, QueueAction::AddRateLimited);
            story.operates(A, QueueAction::Forget);
            story.operates(A, QueueAction::AddRateLimited);
            story.control(QueueEvent::Stands(QueueState {
                delayed: vec![(Key::from(A), Duration::from_millis(10))],
                failure_count,
                ..QueueState::default()
            }));
        }
    };
    let drained = |failure_count| {
        move |story: &mut TraceBuilder| {
            forgotten(failure_count)(story);
            story.drains();
        }
    };
    check(drained(1), &[]);
    check(
        drained(2),
        &[("work_queues", "0 in flight, 1 failures, 1 delayed")],
    );
}

/// Adds one item that can wait and two that cannot, while the worker is busy.
fn adds_three(story: &mut TraceBuilder) {
    story.hears("busy", 2);
    story.begins("busy", 2);
    story.hears_initially(A);
    story.hears(B, 2);
    story.hears(C, 2);
    story.is_done("busy");
}

#[test]
fn an_item_that_overtakes_one_of_a_higher_priority_is_found() {
    let order = |keys: [&'static str; 3]| {
        move |story: &mut TraceBuilder| {
            adds_three(story);
            for key in keys {
                story.reconciles(key);
            }
            story.drains();
        }
    };
    check(order([B, C, A]), &[]);
    check(
        order([A, B, C]),
        &[("work_queues", "handed out before one/pod-1")],
    );
    check(
        order([C, B, A]),
        &[("work_queues", "handed out before one/pod-1")],
    );
    let fair = || ControllerPlan {
        fair_share: NonZero::new(2),
        ..plan()
    };
    check_with(fair(), order([B, A, C]), &[]);
    check_with(
        fair(),
        order([B, C, A]),
        &[("work_queues", "handed out before one/pod-0")],
    );
}

#[test]
fn an_add_raises_the_priority_of_an_item_that_waits() {
    let raised = |keys: [&'static str; 3]| {
        move |story: &mut TraceBuilder| {
            story.hears("busy", 2);
            story.begins("busy", 2);
            story.hears_initially(A);
            story.hears(B, 2);
            story.hears(C, 2);
            story.operates(A, QueueAction::Add(50));
            story.is_done("busy");
            for key in keys {
                story.reconciles(key);
            }
            story.drains();
        }
    };
    check(raised([A, B, C]), &[]);
    check(
        raised([B, C, A]),
        &[("work_queues", "handed out before one/pod-0")],
    );
}

#[test]
fn a_drain_waits_for_all_and_no_longer() {
    let drains = |reconciled: bool, waits: u64, is_all: bool| {
        move |story: &mut TraceBuilder| {
            adds_three(story);
            story.begins(B, 2);
            story.stops(QueueStop::Drain);
            story.adds_after("late", 1);
            story.hears("late", 2);
            story.wait(5);
            story.is_done(B);
            story.reconciles(C);
            if reconciled {
                story.reconciles(A);
            }
            story.wait(waits);
            story.drained(is_all);
            story.has_stopped();
        }
    };
    check(drains(true, 0, true), &[]);
    let goes_on = ("queue_stops", "although nothing was left at 0.005 s");
    check(drains(true, 1, true), &[goes_on]);
    let reports = ("queue_stops", "its drain did not end so");
    check(drains(true, 0, false), &[reports]);
    let not_done = ("queue_stops", "has drained: one/pod-0 is not done");
    check(drains(false, 0, true), &[not_done]);
}

#[test]
fn an_item_that_is_added_after_the_shutdown_is_dropped() {
    check(
        |story| {
            story.stops(QueueStop::ShutDown);
            story.hears(A, 2);
            story.reconciles(A);
            story.drained(true);
            story.has_stopped();
        },
        &[("queue_stops", "nothing has added it before the shutdown")],
    );
    check(
        |story| {
            story.drains();
            story.reconciles(A);
        },
        &[
            ("reconciles", "it has stopped"),
            ("queue_stops", "nothing has added it before the shutdown"),
        ],
    );
}

#[test]
fn a_drain_is_released_by_a_plain_shutdown() {
    let released = |after_ms: u64, is_all: bool| {
        move |story: &mut TraceBuilder| {
            story.hears(A, 2);
            story.begins(A, 2);
            story.stops(QueueStop::Drain);
            story.wait(5);
            story.control(QueueEvent::Releases);
            story.wait(after_ms);
            story.drained(is_all);
            story.wait(5);
            story.is_done(A);
            story.has_stopped();
        }
    };
    let want = [("queue_stops", "its drain did not end so")];
    check(released(0, false), &[]);
    check(released(1, false), &want);
    let want = [("queue_stops", "has drained: one/pod-0 is not done")];
    check(released(0, true), &want);
    check(
        |story| {
            story.hears(A, 2);
            story.begins(A, 2);
            story.stops(QueueStop::ShutDown);
            story.control(QueueEvent::Releases);
            story.wait(5);
            story.is_done(A);
            story.drained(true);
            story.has_stopped();
        },
        &[("queue_stops", "its drain did not end so")],
    );
}

#[test]
fn a_shutdown_at_once_drops_what_waits_and_an_abort_puts_back() {
    let now = |build: fn(&mut TraceBuilder)| {
        move |story: &mut TraceBuilder| {
            adds_three(story);
            story.begins(B, 2);
            story.stops(QueueStop::Now);
            story.wait(5);
            story.is_done(B);
            build(story);
            story.drained(true);
            story.has_stopped();
        }
    };
    check(now(|_| {}), &[]);
    check(
        now(|story| story.reconciles(C)),
        &[("queue_stops", "nothing has added it before the shutdown")],
    );
    let aborts = |queued_count| {
        move |story: &mut TraceBuilder| {
            adds_three(story);
            story.begins(B, 2);
            story.stops(QueueStop::Abort);
            story.ends(B, ReconcileOutcome::Dropped);
            story.stands(queued_count, 0);
            story.has_stopped();
        }
    };
    check(aborts(3), &[]);
    check(
        aborts(2),
        &[("queue_stops", "expected: 3 queued, 0 in flight")],
    );
    check(
        |story| {
            story.hears(A, 2);
            story.stops(QueueStop::Abort);
            story.begins(A, 2);
        },
        &[("queue_stops", "after the abort of the workers")],
    );
}

#[test]
fn a_controller_that_does_not_stop_is_found() {
    check(
        |story| {
            story.hears(A, 2);
            story.reconciles(A);
        },
        &[("queue_stops", "controller 0.0 never stopped")],
    );
    check(
        |story| {
            story.hears(A, 2);
            story.begins(A, 2);
            story.stops(QueueStop::Abort);
            story.has_stopped();
        },
        &[("reconciles", "one/pod-0 is still reconciled")],
    );
}

#[test]
fn nothing_is_late_that_was_due_while_the_machine_was_asleep() {
    let after_sleep = |ms: u64| {
        move |story: &mut TraceBuilder| {
            story.adds_after(A, 50);
            story.falls_asleep();
            story.wait(500);
            story.push(Observation::FaultEnds { fault: 0 });
            story.wait(ms);
            story.reconciles(A);
            story.drains();
        }
    };
    check(after_sleep(0), &[]);
    check(
        |story| {
            story.cached(5, &[member(A, "a", 5)]);
            story.falls_asleep();
            story.wait(500);
            story.cached(5, &[member(A, "a", 5)]);
            story.drains();
        },
        &[],
    );
    check(
        after_sleep(1),
        &[("work_queues", "one/pod-0 was not handed out at 0.500 s")],
    );
}
