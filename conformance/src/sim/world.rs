//! One run: servers, a workload and faults on them, and the informers that mirror them.

use std::{collections::BTreeMap, time::Duration};

use fakeserver::faults::RuleGuard;
use informer::reflector::ListGate;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{
    Against, Plan, RunOptions,
    pace::Pace,
    schedule::{Act, schedule},
    servers::Servers,
};
use crate::{
    faults::FaultInjector,
    interleave::{Seam, Yields},
    participants::{
        End, Host, PlannedEncoding, Run as _, Running,
        informers::{Features, Informers},
        subjects::{Subject, SubjectParts},
    },
    plan::{Resource, Selection},
    trace::{Key, Observation, Phase, Recorder, State},
    transport::{RequestNumbers, Tap, Transport},
    workload::Workload,
};

/// Tasks wait for the revisions that are multiples of this.
const WAITED_FOR: u64 = 4;
/// The time limit of a shutdown.
const SHUTDOWN_LIMIT: Duration = Duration::from_mins(1);

/// Runs `plan` on `servers` and the current runtime, until the recorder trips at the latest.
pub(crate) async fn run<S: Servers>(
    plan: &Plan,
    servers: S,
    options: &RunOptions<'_>,
    recorder: &Recorder,
) -> Result<(), S::Error> {
    let mut world = World::new(plan, servers, options, recorder.clone());
    recorder.record(Observation::Phase(Phase::Setup));
    tokio::select! {
        biased;
        // A hot loop would never let the others end.
        () = recorder.tripped() => {}
        lived = world.live(plan) => lived?,
    }
    world.shut_down().await
}

struct World<S> {
    servers: S,
    recorder: Recorder,
    workload: Workload,
    faults: FaultInjector,
    participants: Running,
    informers: Informers,
    yields: Yields,
    began: Instant,
    /// Rules in force until the end.
    variant: Vec<RuleGuard>,
    convergence_limit: Duration,
    against: Against,
    pace: Pace,
    /// The listeners of informers over TCP.
    _taps: Vec<Tap>,
}

// === impl World ===

impl<S: Servers> World<S> {
    fn new(plan: &Plan, mut servers: S, options: &RunOptions<'_>, recorder: Recorder) -> Self {
        let rules = servers.rules();
        let numbers = RequestNumbers::default();
        let pace = Pace::new(options.against, recorder.clone());
        let gate = plan.list_gate.map(|width| {
            recorder.record(Observation::ListGate { width });
            ListGate::new(width)
        });
        let mut names = Vec::new();
        let mut subjects = Vec::new();
        let mut taps = Vec::new();
        for (informer, informer_plan) in plan.informers.iter().enumerate() {
            let name = format!("informer-{informer}");
            let yields = yields(plan, &name);
            let (numbers, route) = (numbers.clone(), servers.open_route());
            let transport = Transport::new(route, informer, &name, numbers, recorder.clone())
                .with_yields(yields.clone())
                .with_chunk_max(informer_plan.chunk_max_bytes)
                .with_protobuf(informer_plan.encoding == PlannedEncoding::Protobuf);
            let transport = transport.with_watch_speed(options.watch_speed);
            let (client, tap) = options.against.client(transport, rules.listen_gate());
            subjects.push((options.subject)(SubjectParts {
                informer,
                plan: informer_plan,
                seed: plan.seed.get().wrapping_add(informer as u64),
                client,
                url: tap.as_ref().map(Tap::url),
                is_hurried: pace.is_hurried(),
                gate: gate.clone(),
                yields,
                recorder: recorder.clone(),
            }));
            names.push(name);
            taps.extend(tap);
        }
        let participants = participants(plan, &mut servers, options, &recorder);
        // After the informers: a fault names an informer by its place in this list.
        names.extend(participants.clients());
        Self {
            workload: Workload::new(servers.router(), recorder.clone())
                .with_contents(plan.contents.clone()),
            faults: servers.faults(plan, names, recorder.clone()),
            servers,
            participants,
            variant: (options.server_variant)(&rules),
            convergence_limit: convergence_limit(plan, options),
            against: options.against,
            pace,
            _taps: taps,
            informers: Informers::new(
                &plan.informers,
                subjects,
                features(options.against),
                recorder.clone(),
            ),
            recorder,
            yields: yields(plan, "workload"),
            began: Instant::now(),
        }
    }

    async fn live(&mut self, plan: &Plan) -> Result<(), S::Error> {
        self.informers.prepare().await;
        self.servers.set_up(&mut self.workload).await;
        // Set-up writes are no part of the plan: no moment of it is before this one.
        self.recorder.record(Observation::Phase(Phase::Safety));
        self.began = Instant::now();
        self.participants.begin();
        for (at, act) in schedule(plan) {
            sleep_until(self.began + at).await;
            self.act(plan, act).await?;
        }
        sleep_until(self.began + Duration::from_millis(plan.safety_ms)).await;
        self.faults.end_all();
        self.participants.end_faults();
        self.servers.end_incidents();
        self.informers.recover().await;
        self.participants.recover().await;
        // Recorded when all that recovers is running: checkers count the time for convergence from here.
        self.recorder.record(Observation::Phase(Phase::Recovery));
        // A write that no fault can hide: a cache that has not shown it is not current.
        let last = self.workload.write_last().await;
        self.converge(&last).await;
        let end = End {
            limit: self.convergence_limit,
            members: &|selection| self.servers.members(selection),
        };
        self.participants.settle(&end).await;
        // After the participants have settled: their watches may be reopened until then.
        let running_count = self.informers.watch_count() + self.participants.watch_count();
        let has_noticed = || self.servers.open_watch_count() <= Some(running_count);
        self.pace.notice(has_noticed).await;
        self.record_open_watches(running_count);
        Ok(())
    }

    async fn act(&mut self, plan: &Plan, act: Act) -> Result<(), S::Error> {
        self.participants.note();
        match act {
            Act::Operate(place) => {
                self.yields.pass(Seam::Operation).await;
                let operation = &plan.workload[place];
                // An operation that is refused or changes nothing writes no version that could be waited for.
                let before = self.workload.last_revision();
                self.workload.perform(operation).await;
                self.servers.note_write();
                let written = self
                    .workload
                    .last_revision()
                    .filter(|at| Some(*at) > before);
                if let Some(revision) = written.filter(|at| at.is_multiple_of(WAITED_FOR)) {
                    self.informers.await_version(operation.resource, revision);
                }
            }
            Act::CatchUp(place) => self.servers.catch_up(place),
            Act::BeginIncident(place) => {
                let (workload, faults) = (&mut self.workload, &mut self.faults);
                let begun = self.servers.begin_incident(plan, place, workload, faults);
                return begun.await;
            }
            Act::EndIncident(place) => self.servers.end_incident(place),
            Act::BeginFault(place) => self.faults.begin(place, &plan.faults[place]),
            Act::EndFault(place) => self.faults.end(place),
            Act::OfInformers(act) => self.informers.act(act).await,
            Act::OfParticipant(act) => self.participants.act(act).await,
            Act::Observe => {
                self.participants.observe();
                self.informers.observe();
            }
        }
        Ok(())
    }

    async fn converge(&self, last: &BTreeMap<Resource, u64>) {
        let from = Instant::now();
        let phase = loop {
            if self.has_converged(last) {
                break Phase::Converged;
            }
            // Compared before the limit is checked, so that a cache that converges at the limit counts.
            let waited = from.elapsed();
            if waited >= self.convergence_limit + self.recorder.lateness() {
                break Phase::GivenUp;
            }
            sleep(self.pace.comparison_interval(waited)).await;
        };
        self.recorder.record(Observation::Phase(phase));
        let has_settled = || self.informers.running().all(Subject::has_settled);
        let observe = || self.informers.observe();
        self.pace.settle(observe, has_settled).await;
        self.informers.observe();
        if self.against == Against::InProcess {
            self.examine(last).await;
        }
        if let Some(text) = self.servers.unmet_goal() {
            self.recorder.record(Observation::Undone { text });
        }
        self.pace.answer().await;
    }

    /// Examines the subjects whose caches are of the server's last version.
    async fn examine(&self, last: &BTreeMap<Resource, u64>) {
        for subject in self.informers.running() {
            let resource = subject.selection().resource;
            let version = subject.view().and_then(|view| view().0);
            if subject.has_synced() && version >= last.get(&resource).copied() {
                let is_equal = subject.holds() == self.selected(subject.selection());
                subject.examine(is_equal).await;
            }
        }
    }

    fn has_converged(&self, last: &BTreeMap<Resource, u64>) -> bool {
        let is_equal = |subject: &dyn Subject| {
            subject.has_synced() && subject.holds() == self.selected(subject.selection())
        };
        self.servers.has_come_to(last)
            && self.informers.running().all(is_equal)
            && self.servers.unmet_goal().is_none()
    }

    fn selected(&self, selection: &Selection) -> BTreeMap<Key, State> {
        let members = self.servers.members(selection).into_iter();
        members.map(|member| (member.key, member.state)).collect()
    }

    async fn shut_down(mut self) -> Result<(), S::Error> {
        self.recorder.record(Observation::Phase(Phase::Shutdown));
        self.faults.end_all();
        self.variant.clear();
        // After all rules have ended: from here on none fires.
        self.faults.record_fired();
        self.servers.record_counts();
        self.participants.end_faults();
        self.participants.shut_down().await;
        // Tasks that do not end are reported as such.
        self.informers.shut_down().await;
        let has_ended = || self.servers.open_watch_count() <= Some(0);
        self.pace.wind_down(has_ended).await;
        self.record_open_watches(0);
        // The log is recorded after all clients have stopped: no read of it can change a run.
        self.record_log()?;
        // A watch that a client leaks may hold a server for ever; it is on record above.
        let _ = timeout(SHUTDOWN_LIMIT, self.servers.shutdown()).await;
        Ok(())
    }

    fn record_open_watches(&self, informer_count: usize) {
        if let Some(count) = self.servers.open_watch_count() {
            self.recorder.record(Observation::OpenWatches {
                count,
                informer_count,
            });
        }
    }

    /// Records the log and the state of the servers, for the oracle.
    fn record_log(&self) -> Result<(), S::Error> {
        for resource in Resource::ALL {
            for change in self.servers.changes(resource)? {
                self.recorder.record(Observation::Changed(change));
            }
            for content in self.servers.contents(resource) {
                self.recorder.record(content);
            }
        }
        for resource in Resource::ALL {
            self.recorder.record(Observation::Held {
                resource,
                members: self.servers.members(&Selection::all(resource)),
            });
        }
        Ok(())
    }
}

/// Returns the time for convergence: at a gate an informer may wait for the lists of all others.
fn convergence_limit(plan: &Plan, options: &RunOptions<'_>) -> Duration {
    let turns = plan.list_gate.map_or(1, |_| plan.informers.len());
    options.convergence_limit * u32::try_from(turns).unwrap_or(u32::MAX)
}

/// Returns what informers can do in a kind of run.
fn features(against: Against) -> Features {
    Features {
        blocks: matches!(against, Against::InThreads(_)),
        controls: against != Against::Tcp,
    }
}

/// Creates the participants of a plan, if the run can have them: time has to be simulated, and so have the servers.
fn participants<S: Servers>(
    plan: &Plan,
    servers: &mut S,
    options: &RunOptions<'_>,
    recorder: &Recorder,
) -> Running {
    let leader = servers.leader();
    let Some(leader) = leader.filter(|_| options.against == Against::InProcess) else {
        return Running::default();
    };
    let mut host = Host {
        seed: plan.seed,
        interleaving: plan.interleaving,
        recorder: recorder.clone(),
        leader,
        bug: options.bug,
        open_route: &mut || servers.open_writer_route(),
    };
    Running::new(&plan.participants, &mut host)
}

/// Draws the yields of an actor from the plan's seed.
fn yields(plan: &Plan, actor: &str) -> Yields {
    Yields::of(plan.interleaving, plan.seed, actor)
}
