//! A scenario: a few plans that show one failure of production.

use std::time::Duration;

use fakeserver::faults::{Fault, Faults, RuleGuard};

use super::{Arena, Contestant};
use crate::{
    live::{LiveError, RealServer},
    participants::{
        HandlerPlan, InformerPlan,
        subjects::{Extras, SubjectKind, SubjectParts, expected_copies},
    },
    plan::{Action, IncidentKind, Operation, PlannedFault, Resource, Tier},
    seed::Seed,
    sim::{self, Outcome, Plan, RunOptions},
    trace::SharedSink,
};

/// A scenario of production: a row of the scoreboard.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its origin: the number of a fault, or the letter of a known failure.
    pub origin: &'static str,
    /// The events, in a line.
    pub about: &'static str,
    /// The plans that show it; the worst outcome counts.
    pub plans: Vec<Plan>,
    /// The demands on a contestant.
    pub asks: Demands,
    /// The demands that are excused here, with a reason; empty if there are none.
    pub excused: &'static str,
    /// See [`RunOptions::server_variant`].
    pub server_variant: fn(&Faults) -> Vec<RuleGuard>,
    /// Options of subjects besides their plans.
    pub extras: Extras,
}

/// The demands on a contestant besides its general promises.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Demands {
    /// The condition for a good cell.
    pub demand: Demand,
    /// True if the cell needs an effect of a fault to mean anything.
    pub needs_fault: bool,
    /// True if the server is like this for the whole run, so that there is no time after the fault.
    pub is_always_like_this: bool,
    /// The maximal delay of notifications of the first informer's handler about pods.
    pub notified_within: Option<Duration>,
    /// An object that no client can decode. A cache may lack it, but not show an older state of it.
    pub undecodable: Option<&'static str>,
}

/// The condition for a good cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Demand {
    /// Every promise is kept.
    Hold,
    /// The cache is correct; handlers do not count.
    HoldCache,
    /// No client can keep its promises: a checker has to notice.
    BeCaught,
}

/// The duration of safety in most scenarios.
const SAFETY_MS: u64 = 10_000;
/// The period of resyncs.
const RESYNC_MS: u64 = 4_000;
/// The maximal duration of a scenario that runs in real time without being named.
const SHORT_MS: u64 = 15_000;

// === impl Scenario ===

impl Scenario {
    /// Creates a scenario of these plans, in which every promise has to be kept.
    pub(super) fn new(
        origin: &'static str,
        name: &'static str,
        about: &'static str,
        plans: Vec<Plan>,
    ) -> Self {
        Self {
            name,
            origin,
            about,
            plans,
            asks: Demands {
                demand: Demand::Hold,
                needs_fault: true,
                is_always_like_this: false,
                notified_within: None,
                undecodable: None,
            },
            excused: "",
            server_variant: |_| Vec::new(),
            extras: Extras::default(),
        }
    }

    #[must_use]
    pub(super) fn demanding(mut self, demand: Demand) -> Self {
        self.asks.demand = demand;
        self
    }

    /// Excuses a demand, with a reason.
    #[must_use]
    pub(super) fn excusing(mut self, what: &'static str) -> Self {
        self.excused = what;
        self
    }

    #[must_use]
    pub(super) fn notified_within(mut self, limit: Duration) -> Self {
        self.asks.notified_within = Some(limit);
        self
    }

    #[must_use]
    pub(super) fn without_fault(mut self) -> Self {
        self.asks.needs_fault = false;
        self
    }

    #[must_use]
    pub(super) fn with_undecodable(mut self, key: &'static str) -> Self {
        self.asks.undecodable = Some(key);
        self
    }

    #[must_use]
    pub(super) fn with_server_variant(
        mut self,
        server_variant: fn(&Faults) -> Vec<RuleGuard>,
    ) -> Self {
        self.server_variant = server_variant;
        self.asks.is_always_like_this = true;
        self
    }

    #[must_use]
    pub(super) fn with_companion(mut self) -> Self {
        self.extras = self.extras.with_companion();
        self
    }

    #[must_use]
    pub(super) fn with_waiters(mut self, count: usize) -> Self {
        self.extras = self.extras.with_waiters(count);
        self
    }

    /// Makes subjects controllers that keep copies of their config maps.
    #[must_use]
    pub(super) fn with_copies(mut self) -> Self {
        self.extras = self.extras.with_copies();
        self
    }

    /// Runs one of its plans with this contestant, and gives the observations to a sink, if there is one.
    ///
    /// # Errors
    ///
    /// See [`LiveError`]: only a real server makes a run impossible.
    pub(super) fn run(
        &self,
        plan: &Plan,
        contestant: Contestant,
        arena: &Arena,
        sink: Option<&SharedSink>,
    ) -> Result<Outcome, LiveError> {
        let extras = contestant.extras(self.extras.clone());
        let extras = extras.with_program(arena.program.clone());
        let subject = |parts: SubjectParts<'_>| contestant.subject.build(parts, extras.clone());
        let mut options = RunOptions::default()
            .with_subject(&subject)
            .with_server_variant(self.server_variant)
            .with_against(arena.against)
            .with_watch_speed(arena.speed)
            .with_sink(sink);
        if let Some(limit) = arena.convergence_limit {
            options = options.with_convergence_limit(limit);
        }
        // The protocol of processes has no controllers.
        if extras.is_copying && contestant.subject != SubjectKind::External {
            options = options.with_goal(expected_copies::difference);
        }
        let plan = plan.clone().sped_up(arena.speed);
        match &arena.server {
            Some(server) => server.run(&plan, &options),
            None => Ok(sim::run(&plan, &options)),
        }
    }

    /// Returns true if it can run against a real server, with a proxy that makes the faults.
    pub fn can_be_live(&self) -> bool {
        !self.extras.is_copying && self.plans.iter().all(RealServer::can_run)
    }

    /// Returns true if it can say anything about processes: they have no controllers, and negative controls need observations
    /// that they do not report.
    pub fn concerns_processes(&self) -> bool {
        !self.extras.is_copying && self.asks.demand != Demand::BeCaught
    }

    /// Returns true if its plans are short enough for real time.
    pub fn is_short(&self) -> bool {
        self.plans.iter().all(|plan| plan.safety_ms <= SHORT_MS)
    }

    /// Returns true if it makes the clock leap, which needs a paused one.
    pub fn makes_clock_leap(&self) -> bool {
        let mut incidents = self.plans.iter().flat_map(|plan| &plan.incidents);
        incidents.any(|incident| incident.kind == IncidentKind::Suspend)
    }
}

/// Returns a plan with some of everything for pods: initial ones, changes, a recreation, deletions. Deletions take
/// their time, since objects that are gone at once are a scenario of their own (`gone-before-read`). One informer
/// follows all pods, another one the config maps with a label, which come and go; one of its two handlers wants
/// resyncs.
pub(super) fn cluster(faults: &[PlannedFault]) -> Plan {
    let mut plan = pods(
        SAFETY_MS,
        &[
            (2_000, 6, Action::Create(Tier::Web)),
            (4_000, 0, Action::Update),
            (5_000, 1, Action::Recreate(Tier::Db)),
            (5_900, 0, Action::Hold),
            (6_000, 0, Action::Delete),
            (6_100, 0, Action::Release),
            (6_200, 2, Action::Hold),
            (6_400, 2, Action::Delete),
            (6_900, 6, Action::Hold),
            (7_000, 3, Action::Update),
            (7_000, 6, Action::Delete),
            (7_100, 6, Action::Release),
            (8_500, 2, Action::Release),
        ],
    );
    let mut config_maps = InformerPlan::of(Resource::ConfigMaps);
    config_maps.selection.label = Some("web".to_owned());
    config_maps.handlers.push(HandlerPlan {
        resync_ms: Some(RESYNC_MS),
        ..HandlerPlan::default()
    });
    plan.informers.push(config_maps);
    let maps = |at_ms, slot, action| Operation::new(at_ms, Resource::ConfigMaps, slot, action);
    plan.workload.extend([
        maps(0, 0, Action::Create(Tier::Web)),
        maps(0, 1, Action::Create(Tier::Db)),
        maps(3_000, 0, Action::Relabel(Tier::Db)),
        maps(5_500, 1, Action::Relabel(Tier::Web)),
        maps(7_500, 1, Action::Update),
        maps(8_000, 1, Action::Delete),
        // Of another resource, so that the server moves on while the watches are idle.
        Operation::new(2_500, Resource::Nodes, 0, Action::Create(Tier::Web)),
        Operation::new(6_100, Resource::Nodes, 1, Action::Create(Tier::Web)),
    ]);
    plan.workload.sort_by_key(|operation| operation.at_ms);
    plan.faults = faults.to_vec();
    plan
}

/// Returns a plan with five pods and one informer of all of them, and these operations: time, number, action.
pub(super) fn pods(safety_ms: u64, operations: &[(u64, u8, Action)]) -> Plan {
    let mut plan = Plan::empty(Seed::new(1));
    plan.safety_ms = safety_ms;
    plan.informers = vec![InformerPlan::of(Resource::Pods)];
    let pods = |at_ms, slot, action| Operation::new(at_ms, Resource::Pods, slot, action);
    let there = (0..5).map(|slot| pods(0, slot, Action::Create(Tier::Web)));
    let happening = operations
        .iter()
        .map(|(at_ms, slot, action)| pods(*at_ms, *slot, *action));
    plan.workload = there.chain(happening).collect();
    plan
}

/// Cuts all watches, once.
pub(super) fn disconnect(at_ms: u64) -> PlannedFault {
    PlannedFault::new(at_ms, 0, Fault::Disconnect)
}
