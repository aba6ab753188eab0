//! A model of a queue and its workers, which takes their events one by one.

use std::time::Duration;

use super::{
    super::{
        event::{QueueEvent, QueueState, ReconcileOutcome},
        plan::{ControllerPlan, QueueAction, QueueStop},
    },
    Deviation,
    queue::{Queue, State},
};
use crate::trace::{Key, seconds};

/// The priority of what can wait, and that of everything else.
const LOW: i32 = -100;
const DEFAULT: i32 = 0;

/// A queue, with its workers.
#[derive(Debug)]
pub(super) struct QueueModel {
    queue: Queue,
    retries_max: Option<u32>,
    stop: Option<QueueStop>,
    /// The time since when it has nothing left to do before it stops.
    over_since: Option<Duration>,
    /// The time of a shutdown that ended the wait of its drain.
    released_at: Option<Duration>,
    has_stopped: bool,
}

// === impl QueueModel ===

impl QueueModel {
    pub(super) fn new(plan: &ControllerPlan) -> Self {
        Self {
            queue: Queue::new(plan),
            retries_max: plan.retries_max,
            stop: None,
            over_since: None,
            released_at: None,
            has_stopped: false,
        }
    }

    pub(super) fn has_stopped(&self) -> bool {
        self.has_stopped
    }

    /// Takes an event. The machine of the run was last asleep until `woke_at`: what was due before could not happen.
    pub(super) fn follow(
        &mut self,
        at: Duration,
        woke_at: Duration,
        event: &QueueEvent,
    ) -> Result<(), Deviation> {
        self.pass_time(at, woke_at)?;
        self.take(at, event)?;
        self.queue.hand_out(at);
        if self.stop.is_some() && !self.has_stopped {
            let is_over = self.stop == Some(QueueStop::Abort) || self.queue.is_empty();
            self.over_since = self.over_since.or(is_over.then_some(at));
        }
        Ok(())
    }

    /// Does all that is due until `at`, and finds what should have happened before.
    fn pass_time(&mut self, at: Duration, woke_at: Duration) -> Result<(), Deviation> {
        while let Some(due) = self.queue.next_due().filter(|due| *due <= at) {
            let moment = due.max(woke_at.min(at));
            self.queue.end_delays(moment);
            self.queue.hand_out(moment);
        }
        let in_flight = self.queue.in_flight.iter();
        let mut late = in_flight
            .filter(|(_, item)| !item.has_begun && item.since.max(woke_at) < at)
            .map(|(key, item)| (key, item.since));
        if let Some((key, since)) = late.next() {
            return Err(Deviation::of_items(format!(
                "{key} was not handed out at {} s, although a worker waited",
                seconds(since)
            )));
        }
        if let Some(since) = self.over_since.filter(|_| !self.has_stopped)
            && since.max(woke_at) < at
        {
            return Err(Deviation::of_stop(format!(
                "its stop goes on, although nothing was left at {} s",
                seconds(since)
            )));
        }
        Ok(())
    }

    fn take(&mut self, at: Duration, event: &QueueEvent) -> Result<(), Deviation> {
        match event {
            QueueEvent::Starts(_) => {}
            QueueEvent::Heard { key, can_wait, .. } => {
                let priority = if *can_wait { LOW } else { DEFAULT };
                self.queue.add(key, priority);
            }
            QueueEvent::Operated {
                key,
                action,
                has_cancelled,
            } => return self.operate(at, key, *action, *has_cancelled),
            QueueEvent::Begins { key, .. } => return self.begin(at, key),
            QueueEvent::Ends { key, outcome } => return self.end(at, key, *outcome),
            QueueEvent::Stands(standing) => return self.compare(at, standing),
            QueueEvent::Stops(stop) => {
                self.stop = Some(*stop);
                match stop {
                    QueueStop::Drain | QueueStop::ShutDown => self.queue.shut_down(false),
                    QueueStop::Now => self.queue.shut_down(true),
                    QueueStop::Abort => self.queue.desert(),
                }
            }
            QueueEvent::Releases => self.released_at = Some(at),
            QueueEvent::Drained { is_all } => return self.end_drain(at, *is_all),
            QueueEvent::Stopped => return self.end_stop(),
        }
        Ok(())
    }

    fn operate(
        &mut self,
        at: Duration,
        key: &Key,
        action: QueueAction,
        has_cancelled: bool,
    ) -> Result<(), Deviation> {
        match action {
            QueueAction::Add(priority) => self.queue.add(key, priority),
            QueueAction::AddAfter(after_ms) => {
                let after = Duration::from_millis(after_ms);
                self.queue.add_after(at, key, after, DEFAULT);
            }
            QueueAction::AddRateLimited => self.queue.retry(at, key, DEFAULT),
            QueueAction::Forget => self.queue.forget(key),
            QueueAction::CancelDelayed => {
                let was_delayed = self.queue.delayed.remove(key).is_some();
                if was_delayed != has_cancelled {
                    let is = if was_delayed { "is" } else { "is not" };
                    return Err(Deviation::of_items(format!("{key} {is} delayed")));
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, at: Duration, key: &Key) -> Result<(), Deviation> {
        match self.queue.in_flight.get_mut(key) {
            Some(in_flight) if !in_flight.has_begun => {
                in_flight.has_begun = true;
                Ok(())
            }
            Some(_) => Err(Deviation::elsewhere()),
            None => Err(self.out_of_turn(at, key)),
        }
    }

    /// Describes the deviation of a queue that hands out an item although it is not its turn.
    fn out_of_turn(&self, at: Duration, key: &Key) -> Deviation {
        let queue = &self.queue;
        if queue.state == State::Deserted {
            return Deviation::of_stop("it is handed out after the abort of the workers");
        }
        if queue.queued.contains_key(key) {
            let reserved = queue.reserved();
            let Some(first) = reserved.first() else {
                // More items are in flight than there are workers.
                return Deviation::elsewhere();
            };
            return Deviation::of_items(format!("it is handed out before {first}"));
        }
        if let Some(delay) = queue.delayed.get(key) {
            let early = seconds(delay.due.saturating_sub(at));
            return Deviation::of_items(format!("it is handed out {early} s before it is due"));
        }
        let text = "it is handed out although nothing has added it";
        match queue.state {
            State::Open => Deviation::of_items(text),
            State::ShutDown | State::Deserted => {
                Deviation::of_stop(format!("{text} before the shutdown"))
            }
        }
    }

    fn end(&mut self, at: Duration, key: &Key, outcome: ReconcileOutcome) -> Result<(), Deviation> {
        let queue = &mut self.queue;
        if !queue.in_flight.contains_key(key) {
            return Err(Deviation::elsewhere());
        }
        let priority = queue.priority_of(key);
        match outcome {
            ReconcileOutcome::Done => queue.forget(key),
            ReconcileOutcome::RequeueAfter(after) => {
                queue.forget(key);
                queue.add_after(at, key, after, priority);
            }
            ReconcileOutcome::Failed | ReconcileOutcome::Panicked => {
                let attempt = queue.failure_count_of(at, key) + 1;
                if self.retries_max.is_some_and(|max| attempt > max) {
                    queue.forget(key);
                } else {
                    queue.retry(at, key, priority);
                }
            }
            ReconcileOutcome::Dropped => {
                queue.put_back(key);
                return Ok(());
            }
        }
        queue.finish(key);
        Ok(())
    }

    fn compare(&self, at: Duration, standing: &QueueState) -> Result<(), Deviation> {
        let queue = &self.queue;
        let delayed = queue.delayed.iter();
        let delayed = delayed.map(|(key, delay)| (key.clone(), delay.due));
        let expected = QueueState {
            queued_count: queue.queued.len(),
            processing_count: queue.in_flight.len(),
            delayed: delayed.collect(),
            failure_count: queue.failure_count(at),
        };
        if expected == *standing {
            return Ok(());
        }
        let text = format!("expected: {expected}");
        Err(if self.stop.is_some() {
            Deviation::of_stop(text)
        } else {
            Deviation::of_items(text)
        })
    }

    fn end_drain(&self, at: Duration, is_all: bool) -> Result<(), Deviation> {
        if is_all {
            self.expect_nothing_left()?;
        }
        let was_empty_at = |moment| self.over_since.is_some_and(|since| since <= moment);
        let is_expected = match self.released_at {
            None => is_all,
            // Both ended it at once.
            Some(released_at) if self.over_since == Some(released_at) => true,
            Some(released_at) if was_empty_at(released_at) => is_all,
            // Workers that are shut down end with their last item, the queue's own drain at once.
            Some(released_at) => {
                !is_all && (self.stop != Some(QueueStop::Drain) || released_at == at)
            }
        };
        if is_expected {
            Ok(())
        } else {
            let text = "its drain did not end so";
            Err(Deviation::of_stop(text))
        }
    }

    fn end_stop(&mut self) -> Result<(), Deviation> {
        self.has_stopped = true;
        if self.stop == Some(QueueStop::Abort) {
            Ok(())
        } else {
            self.expect_nothing_left()
        }
    }

    fn expect_nothing_left(&self) -> Result<(), Deviation> {
        let queue = &self.queue;
        let mut left = queue.in_flight.keys().chain(queue.queued.keys());
        match left.next() {
            None => Ok(()),
            Some(key) => {
                let text = format!("{key} is not done");
                Err(Deviation::of_stop(text))
            }
        }
    }
}
