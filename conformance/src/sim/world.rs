//! One run: a server, its workload and faults, and the informers that mirror it.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use fakeserver::{FakeServer, faults::RuleGuard};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{
    Against, Setting,
    cluster::Cluster,
    log::WarningRecorder,
    schedule::{Act, schedule},
};
use crate::{
    faults::Faults,
    interleave::{Seam, Yields},
    plan::{Action, IncidentKind, LABEL, Operation, Plan, Resource, Selection},
    subjects::{Subject, SubjectParts, SubjectSet},
    trace::{Change, Key, Member, Observation, Phase, Recorder, State, Trace},
    transport::{RequestNumbers, Tap, Transport},
    workload::Workload,
};

/// How often it is looked whether they have: finely at first, so that the figure means something.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const LOOK_LATER_EVERY: Duration = Duration::from_secs(1);
/// How long tasks have to end.
const SETTLE: Duration = Duration::from_millis(20);
/// How long a shutdown may take.
const SHUTDOWN_LIMIT: Duration = Duration::from_mins(1);

/// Runs `plan` on the current runtime, whose clock is paused, and gives what was observed.
pub(super) async fn run(plan: &Plan, setting: &Setting<'_>) -> Trace {
    let recorder = Recorder::with_steps_at_once(steps_at_once(plan));
    // Of this thread only, on which everything in the run happens.
    let _log = tracing::subscriber::set_default(WarningRecorder::new(recorder.clone()));
    let mut world = World::new(plan, recorder.clone(), setting);
    recorder.record(Observation::Phase(Phase::Setup));
    tokio::select! {
        biased;
        // Whatever goes round and round would never let the others end.
        () = recorder.tripped() => {}
        () = world.live(plan) => {}
    }
    world.shut_down().await;
    recorder.take()
}

/// How much may be observed at one moment if all operations happen in it: each is seen by every informer, as an event of its
/// watch or in its list, and heard of by every handler, perhaps twice.
fn steps_at_once(plan: &Plan) -> usize {
    let seen: usize = plan
        .informers
        .iter()
        .map(|informer| 2 + 2 * informer.handlers.len())
        .sum();
    2 * plan.workload.len() * (1 + seen)
}

struct World {
    cluster: Cluster,
    recorder: Recorder,
    workload: Workload,
    faults: Faults,
    subjects: SubjectSet,
    yields: Yields,
    began: Instant,
    /// Rules that are in force until the end.
    quirks: Vec<RuleGuard>,
    goal: fn(&FakeServer) -> Option<String>,
    convergence_limit: Duration,
    against: Against,
    /// Where informers are listened to, if that is over TCP.
    _taps: Vec<Tap>,
}

// === impl World ===

impl World {
    fn new(plan: &Plan, recorder: Recorder, setting: &Setting<'_>) -> Self {
        let mut cluster = Cluster::new(plan.seed.get(), plan.faults.len(), recorder.clone());
        let server = cluster.leader();
        let numbers = RequestNumbers::default();
        let mut names = Vec::new();
        let mut subjects = Vec::new();
        let mut taps = Vec::new();
        for (informer, informer_plan) in plan.informers.iter().enumerate() {
            let name = format!("informer-{informer}");
            let yields = yields(plan, &name);
            let (numbers, recorder) = (numbers.clone(), recorder.clone());
            let transport = Transport::new(&server, informer, &name, numbers, recorder.clone())
                .with_yields(yields.clone());
            cluster.add_route(transport.route());
            let (client, tap) = setting.against.client(transport, &server);
            subjects.push((setting.make)(SubjectParts {
                informer,
                plan: informer_plan,
                seed: plan.seed.get().wrapping_add(informer as u64),
                client,
                url: tap.as_ref().map(Tap::url),
                yields,
                recorder,
            }));
            names.push(name);
            taps.extend(tap);
        }
        Self {
            workload: Workload::new(&server, recorder.clone()),
            faults: Faults::new(&server, plan.seed, names, recorder.clone()),
            cluster,
            quirks: (setting.quirks)(&server.faults()),
            goal: setting.goal,
            convergence_limit: setting.convergence_limit,
            against: setting.against,
            _taps: taps,
            subjects: SubjectSet::new(subjects, recorder.clone()),
            recorder,
            yields: yields(plan, "workload"),
            began: Instant::now(),
        }
    }

    async fn live(&mut self, plan: &Plan) {
        self.workload.set_up().await;
        self.cluster.note();
        self.recorder.record(Observation::Phase(Phase::Safety));
        self.began = Instant::now();
        for (at, act) in schedule(plan) {
            sleep_until(self.began + at).await;
            self.act(plan, act).await;
        }
        sleep_until(self.began + Duration::from_millis(plan.safety_ms)).await;
        self.faults.end_all();
        self.cluster.end_all();
        self.recorder.record(Observation::Phase(Phase::Recovery));
        self.workload.write_last().await;
        self.converge().await;
        self.recorder.record(Observation::OpenWatches {
            count: self.cluster.watch_count(),
            informer_count: self.subjects.running().count(),
        });
    }

    async fn act(&mut self, plan: &Plan, act: Act) {
        match act {
            Act::Operate(place) => {
                self.yields.pass(Seam::Operation).await;
                self.workload.perform(&plan.workload[place]).await;
                self.cluster.note();
            }
            Act::CatchUp(place) => self.cluster.catch_up(place),
            Act::BeginIncident(place) => {
                let old = self.cluster.leader();
                if self.cluster.begin(place, &plan.incidents[place]).await {
                    self.record_changes(&old);
                    let server = self.cluster.leader();
                    self.workload.go_on_with(&server);
                    self.faults.go_on_with(&server);
                    if plan.incidents[place].kind == IncidentKind::DataLoss {
                        self.lose(plan).await;
                    }
                }
            }
            Act::EndIncident(place) => self.cluster.end(place),
            Act::BeginFault(place) => self.faults.begin(place, &plan.faults[place]),
            Act::EndFault(place) => self.faults.end(place),
            Act::Start(informer) => self.subjects.start(informer),
            Act::Join(informer, handler) => {
                let handler_plan = &plan.informers[informer].handlers[handler];
                self.subjects.join(informer, handler, handler_plan);
            }
            Act::Leave(informer, handler) => self.subjects.leave(informer, handler),
            Act::Observe => self.subjects.observe(),
        }
    }

    /// Takes all objects of the plan away, before anybody can look.
    async fn lose(&mut self, plan: &Plan) {
        let objects = plan.workload.iter();
        let objects: BTreeSet<(Resource, u8)> = objects
            .map(|operation| (operation.resource, operation.slot))
            .collect();
        for (resource, slot) in objects {
            // What a finalizer holds is lost as well.
            for action in [Action::Release, Action::Delete] {
                let operation = Operation::new(0, resource, slot, action);
                self.workload.perform(&operation).await;
            }
        }
        self.cluster.note();
    }

    async fn converge(&self) {
        let from = Instant::now();
        let phase = loop {
            if self.has_converged() {
                break Phase::Converged;
            }
            let waited = from.elapsed();
            if waited >= self.convergence_limit {
                break Phase::GivenUp;
            }
            sleep(if waited < LOOK_LATER_EVERY {
                LOOK_EVERY
            } else {
                LOOK_LATER_EVERY
            })
            .await;
        };
        self.recorder.record(Observation::Phase(phase));
        sleep(self.against.settling()).await;
        self.subjects.observe();
        if let Some(text) = (self.goal)(&self.cluster.leader()) {
            self.recorder.record(Observation::Undone { text });
        }
        if let Some(answering) = self.against.answering() {
            sleep(answering).await;
        }
    }

    fn has_converged(&self) -> bool {
        let server = self.cluster.leader();
        let is_equal = |subject: &dyn Subject| {
            subject.has_synced() && subject.holds() == selected(&server, subject.selection())
        };
        self.subjects.running().all(is_equal) && (self.goal)(&server).is_none()
    }

    async fn shut_down(mut self) {
        self.recorder.record(Observation::Phase(Phase::Shutdown));
        self.faults.end_all();
        self.quirks.clear();
        self.faults.record_fired();
        self.cluster.record_counts();
        // What is left is reported as tasks that are left.
        self.subjects.stop().await;
        sleep(SETTLE).await;
        self.recorder.record(Observation::OpenWatches {
            count: self.cluster.watch_count(),
            informer_count: 0,
        });
        self.record_log();
        let _ = timeout(SHUTDOWN_LIMIT, self.cluster.shutdown()).await;
        let recorder = self.recorder.clone();
        drop(self);
        sleep(SETTLE).await;
        recorder.record(Observation::TasksLeft {
            count: tokio::runtime::Handle::current()
                .metrics()
                .num_alive_tasks(),
        });
    }

    /// The log and the state of the server, for the oracle.
    fn record_log(&self) {
        let server = self.cluster.leader();
        self.record_changes(&server);
        for resource in Resource::ALL {
            self.recorder.record(Observation::Held {
                resource,
                members: held(&server, &Selection::all(resource)),
            });
        }
    }

    /// The log of a server, as far as it goes.
    fn record_changes(&self, server: &FakeServer) {
        for resource in Resource::ALL {
            for change in server.history("", "v1", resource.plural(), 0) {
                self.recorder
                    .record(Observation::Changed(logged(resource, &change)));
            }
        }
    }
}

/// What lets others go first on behalf of `whom`.
fn yields(plan: &Plan, whom: &str) -> Yields {
    let generator = plan.seed.stream(&format!("yields of {whom}"));
    Yields::new(plan.interleaving, generator)
}

/// What the server holds now of a selection.
fn selected(server: &FakeServer, selection: &Selection) -> BTreeMap<Key, State> {
    held(server, selection)
        .into_iter()
        .map(|member| (member.key, member.state))
        .collect()
}

fn held(server: &FakeServer, selection: &Selection) -> Vec<Member> {
    server
        .objects("", "v1", selection.resource.plural())
        .iter()
        .filter(|object| {
            let namespace = object.namespace().unwrap_or_default();
            selection.contains(namespace, label(object).as_deref())
        })
        .map(|object| Member {
            key: key(object),
            state: State::new(object.uid(), object.revision()),
        })
        .collect()
}

fn logged(resource: Resource, change: &fakeserver::Change) -> Change {
    let subject = change
        .after()
        .or(change.before())
        .expect("a change has a side");
    let side = |object: &fakeserver::StoredObject| {
        let label = label(object).map(Into::into);
        (object.uid().into(), label)
    };
    Change {
        resource,
        revision: change.revision(),
        key: key(subject),
        namespace: subject.namespace().unwrap_or_default().into(),
        before: change.before().map(|object| side(object)),
        after: change.after().map(|object| side(object)),
    }
}

fn key(object: &fakeserver::StoredObject) -> Key {
    match object.namespace() {
        Some(namespace) => format!("{namespace}/{}", object.name()).into(),
        None => object.name().into(),
    }
}

fn label(object: &fakeserver::StoredObject) -> Option<String> {
    object.labels().get(LABEL).map(str::to_owned)
}
