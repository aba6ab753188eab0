//! One run: a real server, a workload on it, a proxy with faults, and the informers behind that.

use std::{collections::BTreeMap, time::Duration};

use axum::Router;
use fakeserver::faults::RuleGuard;
use kube::Config;
use tokio::time::{Instant, sleep, sleep_until};

use super::{LiveError, chronicle::Chronicle, ground};
use crate::{
    faults::Faults,
    interleave::Yields,
    plan::{Plan, Resource},
    proxy::Proxy,
    sim::{
        Setting,
        schedule::{Act, schedule},
    },
    subjects::{SubjectParts, SubjectSet},
    trace::{Observation, Phase, Recorder, Trace},
    transport::{RequestNumbers, Route, Tap, Transport},
    workload::Workload,
};

/// How often it is looked whether caches have become equal to the server.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long handlers have to hear of what their cache knows, and processes to say what they hold.
const SETTLE: Duration = Duration::from_millis(300);

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
    subjects: SubjectSet,
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
            subjects: SubjectSet::new(subjects, recorder.clone()),
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
        let last = self.workload.write_last().await;
        self.converge(&last).await;
    }

    async fn act(&mut self, plan: &Plan, act: Act) {
        match act {
            Act::Operate(place) => self.workload.perform(&plan.workload[place]).await,
            Act::BeginFault(place) => self.faults.begin(place, &plan.faults[place]),
            Act::EndFault(place) => self.faults.end(place),
            Act::Start(informer) => self.subjects.start(informer),
            Act::Join(informer, handler) => {
                let handler_plan = &plan.informers[informer].handlers[handler];
                self.subjects.join(informer, handler, handler_plan);
            }
            Act::Leave(informer, handler) => self.subjects.leave(informer, handler),
            Act::Observe => self.subjects.observe(),
            Act::CatchUp(_) | Act::BeginIncident(_) | Act::EndIncident(_) => {
                debug_assert!(false, "a plan with incidents is not run here");
            }
        }
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
        self.subjects.observe();
        sleep(SETTLE).await;
    }

    fn has_converged(&self, last: &BTreeMap<Resource, u64>) -> bool {
        let mut chronicled = last.iter();
        chronicled.all(|(resource, at)| self.chronicle.has_come_to(*resource, *at))
            && self.subjects.running().all(|subject| {
                let held = self.chronicle.selected(subject.selection());
                subject.has_synced() && subject.holds() == held
            })
    }

    async fn shut_down(mut self) -> Result<(), LiveError> {
        self.recorder.record(Observation::Phase(Phase::Shutdown));
        self.faults.end_all();
        self.quirks.clear();
        self.faults.record_fired();
        // What is left shows in nothing that is asked here.
        self.subjects.stop().await;
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
