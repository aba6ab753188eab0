//! Churn of a simulated cluster: a queue of due events, a budget of writes, and new activities whenever budget is left.
//!
//! Churn is a function of the world and the tick. It uses no clock, and no random generator other than the world's.

mod queue;
mod apps;
mod pods;
mod jobs;
mod nodes;

use self::queue::{Action, Queue};
use super::{options::Churn, print::Printer, world::World};

/// The length of a tick. Events that are due within it happen together.
pub(super) const TICK_MILLISECONDS: u32 = 100;
/// The maximum number of activities begun in one tick that have no effect.
const VAIN_BEGINNINGS: u32 = 8;
/// The maximum backlog, in seconds of writes.
const BACKLOG_SECONDS: usize = 2;

/// Decides what happens next.
#[derive(Debug)]
pub(super) struct Machine {
    churn: Churn,
    queue: Queue,
    /// In thousandths of a write. Below zero, more was written than should have been.
    budget: i64,
    /// The length of the queue that is always there: leases and reports.
    background: usize,
}

/// The execution of one tick.
struct Tick<'a, 'p, 't> {
    world: &'a mut World,
    printer: &'a mut Printer<'p, 't>,
    queue: &'a mut Queue,
    /// In milliseconds since 1970.
    now: i64,
}

// === impl Machine ===

impl Machine {
    /// A machine that begins at `now`, in milliseconds.
    pub(super) fn new(churn: Churn, world: &mut World, now: i64) -> Self {
        let mut queue = Queue::default();
        nodes::schedule(&churn, world, &mut queue, now);
        Self {
            background: queue.len(),
            churn,
            queue,
            budget: 0,
        }
    }

    /// Lets everything happen up to `now`, as far as the budget goes.
    pub(super) fn tick(&mut self, world: &mut World, printer: &mut Printer<'_, '_>, now: i64) {
        let rate = i64::from(self.churn.writes_per_second);
        let earned = rate * i64::from(TICK_MILLISECONDS);
        // What was not used for a second is lost.
        self.budget = (self.budget + earned).min(rate * 1_000);
        // What is due comes before new activities: otherwise those that have begun would never end at a low rate.
        while self.budget > 0 {
            let Some(action) = self.queue.pop(now) else {
                break;
            };
            self.spend(world, printer, now, |step, churn| {
                step.perform(action, churn);
            });
        }
        let backlog = (BACKLOG_SECONDS * self.churn.writes_per_second as usize).max(8);
        let mut vain = 0;
        while self.budget > 0
            && self.queue.len() < self.background + backlog
            && vain < VAIN_BEGINNINGS
        {
            let written = self.spend(world, printer, now, |step, churn| {
                step.begin(churn);
            });
            vain = if written == 0 { vain + 1 } else { 0 };
        }
    }

    /// Does something, and takes its writes from the budget.
    fn spend(
        &mut self,
        world: &mut World,
        printer: &mut Printer<'_, '_>,
        now: i64,
        work: impl FnOnce(&mut Tick<'_, '_, '_>, &Churn),
    ) -> u32 {
        let before = printer.written;
        let mut step = Tick {
            world,
            printer,
            queue: &mut self.queue,
            now,
        };
        work(&mut step, &self.churn);
        let written = printer.written - before;
        self.budget -= 1_000 * i64::from(written);
        written
    }
}

// === impl Tick ===

impl Tick<'_, '_, '_> {
    /// Begins something new.
    fn begin(&mut self, churn: &Churn) {
        let Churn {
            rollouts,
            scalings,
            crashes,
            jobs,
            ..
        } = *churn;
        let all = rollouts + scalings + crashes + jobs;
        if all == 0 {
            return;
        }
        let drawn = self.world.below(all as usize);
        let drawn = u32::try_from(drawn).unwrap_or(u32::MAX);
        if drawn < rollouts {
            self.roll_out();
        } else if drawn < rollouts + scalings {
            self.scale();
        } else if drawn < rollouts + scalings + crashes {
            self.crash();
        } else {
            self.begin_job();
        }
    }

    fn perform(&mut self, action: Action, churn: &Churn) {
        match action {
            Action::Renew(node) => self.renew(node, churn),
            Action::Report(node) => self.report(node, churn),
            Action::Fail => self.fail(churn),
            Action::Lose(node) => self.lose(node),
            Action::Evict(node) => self.evict(node),
            Action::Recover(node) => self.recover(node),
            Action::Bind(pod) => self.bind(pod),
            Action::Start(pod) => self.start(pod),
            Action::Restart(pod) => self.restart(pod),
            Action::Stop(pod) => self.stop(pod),
            Action::Finish(pod) => self.finish(pod),
            Action::Sync(app) => self.sync(app),
        }
    }

    /// Returns the time as objects write it.
    fn second(&self) -> i64 {
        self.now.div_euclid(1_000)
    }

    /// Schedules `action` after a random delay within `range`, in milliseconds.
    fn later(&mut self, range: std::ops::Range<usize>, action: Action) {
        let drawn = self.world.below(range.len().max(1)) + range.start;
        let wait = i64::try_from(drawn).unwrap_or(i64::MAX);
        self.queue.add(self.now.saturating_add(wait), action);
    }
}
