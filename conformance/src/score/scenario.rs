//! One thing that happens in production, as a few plans that show it.

use std::time::Duration;

use fakeserver::faults::{Faults, RuleGuard};

use super::{Arena, Contestant};
use crate::{
    live::{LiveError, RealServer},
    plan::{
        Action, Fault, FaultKind, HandlerPlan, IncidentKind, InformerPlan, Operation, Plan,
        Resource, Tier,
    },
    seed::Seed,
    sim::{self, Outcome, Setting},
    subjects::{Extras, SubjectKind, SubjectParts, copies},
};

/// One thing that happens in production: a row of the scoreboard.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// Where it comes from: the number of a fault, or the letter of a known failure.
    pub origin: &'static str,
    /// What happens, in a line.
    pub about: &'static str,
    /// The plans that show it; the worst outcome counts.
    pub plans: Vec<Plan>,
    /// What is asked of a contestant.
    pub asks: Asks,
    /// What is not asked of anybody here, and why; empty if nothing is left out.
    pub excused: &'static str,
    /// See [`Setting::quirks`].
    pub quirks: fn(&Faults) -> Vec<RuleGuard>,
    /// What subjects have besides what their plans ask for.
    pub extras: Extras,
}

/// What is asked of a contestant besides what it promises everywhere.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Asks {
    /// What makes its cell good.
    pub demand: Demand,
    /// Whether something has to go wrong for the cell to mean anything.
    pub needs_fault: bool,
    /// Whether the server is like this for the whole run, so that nothing can be said of the time after it.
    pub is_always_like_this: bool,
    /// How soon the first informer's handler has to hear of each change of a pod.
    pub told_within: Option<Duration>,
    /// An object that nobody can decode. A cache may lack it, but not show an older state of it.
    pub undecodable: Option<&'static str>,
}

/// What makes a cell good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Demand {
    /// Every promise is kept.
    Hold,
    /// Only the cache counts, not what handlers hear.
    HoldCache,
    /// No client can keep its promises: a checker has to say so.
    BeCaught,
}

/// How long faults and operations go on in most scenarios.
const SAFETY_MS: u64 = 10_000;
/// How often somebody wants to hear of everything again.
const RESYNC_MS: u64 = 4_000;
/// How long a scenario may go on to be run in the time that it takes, where nobody asks for it by name.
const SHORT_MS: u64 = 15_000;

// === impl Scenario ===

impl Scenario {
    /// A scenario of these plans, in which every promise has to be kept.
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
            asks: Asks {
                demand: Demand::Hold,
                needs_fault: true,
                is_always_like_this: false,
                told_within: None,
                undecodable: None,
            },
            excused: "",
            quirks: |_| Vec::new(),
            extras: Extras::default(),
        }
    }

    #[must_use]
    pub(super) fn demanding(mut self, demand: Demand) -> Self {
        self.asks.demand = demand;
        self
    }

    /// Says what is not asked, and why.
    #[must_use]
    pub(super) fn excusing(mut self, what: &'static str) -> Self {
        self.excused = what;
        self
    }

    #[must_use]
    pub(super) fn told_within(mut self, limit: Duration) -> Self {
        self.asks.told_within = Some(limit);
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
    pub(super) fn with_quirks(mut self, quirks: fn(&Faults) -> Vec<RuleGuard>) -> Self {
        self.quirks = quirks;
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

    /// Subjects are controllers that keep copies of their config maps.
    #[must_use]
    pub(super) fn with_copies(mut self) -> Self {
        self.extras = self.extras.with_copies();
        self
    }

    /// Runs one of its plans with this contestant.
    ///
    /// # Errors
    ///
    /// See [`LiveError`]: only a real server makes a run impossible.
    pub(super) fn run(
        &self,
        plan: &Plan,
        contestant: Contestant,
        arena: &Arena,
    ) -> Result<Outcome, LiveError> {
        let extras = contestant.extras(self.extras.clone());
        let extras = extras.with_program(arena.program.clone());
        let make = |parts: SubjectParts<'_>| contestant.subject.build(parts, extras.clone());
        let mut setting = Setting::new(&make)
            .with_quirks(self.quirks)
            .with_against(arena.against);
        if let Some(limit) = arena.convergence_limit {
            setting = setting.with_convergence_limit(limit);
        }
        // A process is asked to mirror, and has no words for more.
        if extras.is_copying && contestant.subject != SubjectKind::External {
            setting = setting.with_goal(copies::difference);
        }
        let plan = plan.clone().hastened(arena.speed);
        match &arena.server {
            Some(server) => server.run(&plan, &setting),
            None => Ok(sim::run_in(&plan, &setting)),
        }
    }

    /// Whether it can be run against a real server, with what goes wrong made by a proxy in front of it.
    pub fn can_be_live(&self) -> bool {
        !self.extras.is_copying && self.plans.iter().all(RealServer::can_run)
    }

    /// Whether its plans end soon enough to be run in the time that they take.
    pub fn is_short(&self) -> bool {
        self.plans.iter().all(|plan| plan.safety_ms <= SHORT_MS)
    }

    /// Whether it makes the clock leap, which only a paused one does.
    pub fn makes_clock_leap(&self) -> bool {
        let mut incidents = self.plans.iter().flat_map(|plan| &plan.incidents);
        incidents.any(|incident| incident.kind == IncidentKind::Suspend)
    }
}

/// A cluster in which a little of everything happens to pods: what is there at first, changes, a recreation, deletions.
/// Those take their time, since whoever is gone at once is a scenario of its own (`gone-before-read`).
/// One informer follows them all, another one the config maps with a label, which come and go; one of its two handlers wants
/// to hear of everything again every few seconds.
pub(super) fn cluster(faults: &[Fault]) -> Plan {
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
        // Of another resource, so that the server goes on while the watches stand still.
        Operation::new(2_500, Resource::Nodes, 0, Action::Create(Tier::Web)),
        Operation::new(6_100, Resource::Nodes, 1, Action::Create(Tier::Web)),
    ]);
    plan.workload.sort_by_key(|operation| operation.at_ms);
    plan.faults = faults.to_vec();
    plan
}

/// A cluster with five pods, of which one informer follows all. These things happen to them: when, to which, what.
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

/// All watches end, once.
pub(super) fn disconnect(at_ms: u64) -> Fault {
    Fault::new(at_ms, 0, FaultKind::Disconnect)
}
