//! One run: a real server, a workload on it, a proxy with faults, and the informers behind that.

use std::{collections::BTreeMap, time::Duration};

use axum::Router;
use fakeserver::faults::RuleGuard;
use kube::Config;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{LiveError, chronicle::Chronicle, ground};
use crate::{
    faults::Faults,
    interleave::Yields,
    plan::{Action, NAMESPACES, Operation, Plan, Resource, Selection, Tier},
    proxy::Proxy,
    sim::{
        Setting,
        schedule::{Act, schedule},
    },
    subjects::{Subject, SubjectParts},
    trace::{Observation, Phase, Recorder, Trace},
    transport::{RequestNumbers, Route, Tap, Transport},
    workload::Workload,
};

/// How often it is looked whether caches have become equal to the server.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long handlers have to hear of what their cache knows, and processes to say what they hold.
const SETTLE: Duration = Duration::from_millis(300);
/// How long a shutdown may take.
const SHUTDOWN_LIMIT: Duration = Duration::from_mins(1);
/// The first of the objects that are written when faults have ended; plans have none so high.
const LAST_SLOT: u8 = 250;

/// The way to the server that no fault is on.
pub(super) fn undisturbed(config: &Config) -> Result<Router, LiveError> {
    Ok(Proxy::new(config.clone())?.router())
}

/// Runs `plan` on the current runtime and gives what was observed.
pub(super) async fn run(
    config: &Config,
    plan: &Plan,
    setting: &Setting<'_>,
) -> Result<Trace, LiveError> {
    let router = undisturbed(config)?;
    ground::prepare(&router).await?;
    let recorder = Recorder::new();
    recorder.record(Observation::Phase(Phase::Setup));
    let chronicle = Chronicle::open(&router).await?;
    let proxy = Proxy::new(config.clone())?;
    let mut world = World::new(plan, setting, &proxy, &router, recorder.clone(), chronicle);
    tokio::select! {
        biased;
        () = recorder.tripped() => {}
        () = world.live(plan) => {}
    }
    world.shut_down().await?;
    Ok(recorder.take())
}

struct World {
    recorder: Recorder,
    chronicle: Chronicle,
    workload: Workload,
    faults: Faults,
    quirks: Vec<RuleGuard>,
    subjects: Vec<Box<dyn Subject>>,
    started: BTreeMap<usize, Selection>,
    began: Instant,
    convergence_limit: Duration,
    _taps: Vec<Tap>,
}

// === impl World ===

impl World {
    fn new(
        plan: &Plan,
        setting: &Setting<'_>,
        proxy: &Proxy,
        router: &Router,
        recorder: Recorder,
        chronicle: Chronicle,
    ) -> Self {
        let numbers = RequestNumbers::default();
        let mut names = Vec::new();
        let mut subjects = Vec::new();
        let mut taps = Vec::new();
        for (informer, informer_plan) in plan.informers.iter().enumerate() {
            let name = format!("informer-{informer}");
            let route = Route::through(proxy.router());
            let (numbers, recorder) = (numbers.clone(), recorder.clone());
            let transport = Transport::by(route, informer, &name, numbers, recorder.clone());
            let tap = Tap::open(transport, proxy.faults().door())
                .expect("the system has a free port on this machine");
            subjects.push((setting.make)(SubjectParts {
                informer,
                plan: informer_plan,
                seed: plan.seed.get().wrapping_add(informer as u64),
                client: tap.client(),
                url: Some(tap.url()),
                yields: Yields::default(),
                recorder,
            }));
            names.push(name);
            taps.push(tap);
        }
        Self {
            chronicle,
            workload: Workload::by(router.clone(), recorder.clone()),
            faults: Faults::of_proxy(proxy, plan.seed, names, recorder.clone()),
            quirks: (setting.quirks)(proxy.faults()),
            subjects,
            started: BTreeMap::new(),
            began: Instant::now(),
            convergence_limit: setting.convergence_limit,
            recorder,
            _taps: taps,
        }
    }

    async fn live(&mut self, plan: &Plan) {
        self.recorder.record(Observation::Phase(Phase::Safety));
        self.began = Instant::now();
        for (at, act) in schedule(plan) {
            sleep_until(self.began + at).await;
            self.act(plan, act).await;
        }
        sleep_until(self.began + Duration::from_millis(plan.safety_ms)).await;
        self.faults.end_all();
        self.recorder.record(Observation::Phase(Phase::Recovery));
        let last = self.write_last().await;
        self.converge(&last).await;
    }

    async fn act(&mut self, plan: &Plan, act: Act) {
        match act {
            Act::Operate(place) => self.workload.perform(&plan.workload[place]).await,
            Act::BeginFault(place) => self.faults.begin(place, &plan.faults[place]),
            Act::EndFault(place) => self.faults.end(place),
            Act::Start(informer) => {
                let subject = &mut self.subjects[informer];
                let selection = subject.selection().clone();
                self.started.insert(informer, selection.clone());
                self.recorder.record(Observation::InformerStarts {
                    informer,
                    selection,
                });
                subject.start();
            }
            Act::Join(informer, handler) => {
                let handler_plan = &plan.informers[informer].handlers[handler];
                self.recorder.record(Observation::HandlerJoins {
                    informer,
                    handler,
                    panics: handler_plan.panic_every.is_some(),
                });
                if let Some(resync_ms) = handler_plan.resync_ms {
                    self.recorder.record(Observation::ResyncWanted {
                        informer,
                        handler,
                        period: Duration::from_millis(resync_ms),
                    });
                }
                self.subjects[informer].join(handler, handler_plan);
            }
            Act::Leave(informer, handler) => {
                self.subjects[informer].leave(handler);
                self.recorder
                    .record(Observation::HandlerLeaves { informer, handler });
            }
            Act::Observe => self.observe(),
            Act::CatchUp(_) | Act::BeginIncident(_) | Act::EndIncident(_) => {
                debug_assert!(false, "a plan with incidents is not run here");
            }
        }
    }

    fn observe(&self) {
        for informer in self.started.keys() {
            self.subjects[*informer].observe();
        }
    }

    /// One more write to each namespace of each resource, and the revision of each: a stream that fell silent unnoticed
    /// would miss it.
    async fn write_last(&mut self) -> BTreeMap<Resource, u64> {
        let mut last = BTreeMap::new();
        for resource in Resource::ALL {
            let places = if resource.is_namespaced() {
                NAMESPACES.len()
            } else {
                1
            };
            for slot in (LAST_SLOT..).take(places) {
                let action = Action::Create(Tier::Web);
                self.workload
                    .perform(&Operation::new(0, resource, slot, action))
                    .await;
            }
            last.extend(self.workload.last_revision().map(|at| (resource, at)));
        }
        last
    }

    async fn converge(&self, last: &BTreeMap<Resource, u64>) {
        let from = Instant::now();
        let phase = loop {
            if self.has_converged(last) {
                break Phase::Converged;
            }
            if from.elapsed() >= self.convergence_limit {
                break Phase::GivenUp;
            }
            sleep(LOOK_EVERY).await;
        };
        self.recorder.record(Observation::Phase(phase));
        sleep(SETTLE).await;
        self.observe();
        sleep(SETTLE).await;
    }

    fn has_converged(&self, last: &BTreeMap<Resource, u64>) -> bool {
        let mut chronicled = last.iter();
        chronicled.all(|(resource, at)| self.chronicle.has_come_to(*resource, *at))
            && self.started.iter().all(|(informer, selection)| {
                let subject = &self.subjects[*informer];
                subject.has_synced() && subject.holds() == self.chronicle.selected(selection)
            })
    }

    async fn shut_down(mut self) -> Result<(), LiveError> {
        self.recorder.record(Observation::Phase(Phase::Shutdown));
        self.faults.end_all();
        self.quirks.clear();
        self.faults.record_fired();
        for subject in self.subjects.drain(..) {
            // What is left shows in nothing that is asked here.
            let _ = timeout(SHUTDOWN_LIMIT, subject.stop()).await;
        }
        for resource in Resource::ALL {
            for change in self.chronicle.changes(resource)? {
                self.recorder.record(Observation::Changed(change));
            }
        }
        for resource in Resource::ALL {
            self.recorder.record(Observation::Held {
                resource,
                members: self.chronicle.members(resource),
            });
        }
        Ok(())
    }
}
