//! The servers of a simulated run: the leader, replicas that lag behind it, and the routes of informers.

use std::{collections::BTreeMap, time::Duration};

use fakeserver::{Controllers, FakeServer, FakeServerBuilder, Feature, Restart, Snapshot};
use tokio::time::Instant;

use super::Plan;
use crate::{
    participants::Participants,
    plan::{Incident, IncidentKind, in_words},
    trace::{Observation, Recorder},
    transport::{Leader, Route},
};

/// The servers and the routes to them.
pub(super) struct Cluster {
    seed: u64,
    /// The participants of the plan, by which servers are configured.
    participants: Participants,
    recorder: Recorder,
    leader: Leader,
    /// The snapshot from which a restarted leader began, and the mode of the restart.
    snapshot: Option<(Snapshot, Restart)>,
    /// The routes of the informers, in the order of the plan.
    routes: Vec<Route>,
    /// The routes of clients that write.
    writer_routes: Vec<Route>,
    /// The replicas, by the incident that they belong to.
    replicas: BTreeMap<usize, Replica>,
    /// The incidents in progress.
    present: BTreeMap<usize, Incident>,
    /// The revisions of the leader, with the moment of each.
    written: Vec<(Instant, u64)>,
    /// The number of incidents by name.
    counts: BTreeMap<&'static str, u64>,
    /// The number of the first incident in the trace, after all faults.
    first_number: usize,
}

struct Replica {
    server: FakeServer,
    lag: Duration,
}

/// Returns a server without objects of its own: every object of a run is one of its plan.
fn empty(seed: u64, participants: &Participants) -> FakeServerBuilder {
    let builder = FakeServer::builder().with_seed(seed);
    // A list that the cache serves too late is an answer of its own only with this gate.
    let late_lists = Feature::ConsistentListFromCacheSkipTimeoutFallback;
    let builder = builder.with_feature(late_lists, true);
    participants.configure(builder.with_bootstrap(false).with_cbor(true))
}

// === impl Cluster ===

impl Cluster {
    /// Starts one server.
    pub(super) fn new(plan: &Plan, recorder: Recorder) -> Self {
        let (seed, fault_count) = (plan.seed.get(), plan.faults.len());
        let participants = plan.participants.clone();
        let mut leader = empty(seed, &participants).build();
        // The server becomes one at the plan's revision by a snapshot, with which replicas begin as well.
        let snapshot = plan.revision.map(|revision| {
            let snapshot = leader.snapshot().at_revision(revision);
            let builder = empty(seed, &participants);
            leader = builder.with_snapshot(snapshot.clone()).build();
            (snapshot, Restart::Keep)
        });
        Self {
            seed,
            participants,
            recorder,
            written: vec![(Instant::now(), leader.revision())],
            leader: Leader::new(leader),
            snapshot,
            routes: Vec::new(),
            writer_routes: Vec::new(),
            replicas: BTreeMap::new(),
            present: BTreeMap::new(),
            counts: BTreeMap::new(),
            first_number: fault_count,
        }
    }

    /// Returns the server that is written to.
    pub(super) fn leader(&self) -> FakeServer {
        self.leader.get()
    }

    /// Adds the route of the next informer.
    pub(super) fn add_route(&mut self, route: Route) {
        self.routes.push(route);
    }

    /// Returns a handle of the server that is written to, which follows when another one replaces it.
    pub(super) fn leader_handle(&self) -> Leader {
        self.leader.clone()
    }

    /// Adds the route of a client that writes: it reaches the same state through any replica.
    pub(super) fn add_writer_route(&mut self, route: Route) {
        self.writer_routes.push(route);
    }

    /// Notes that there may be a new revision.
    pub(super) fn note(&mut self) {
        let revision = self.leader().revision();
        if self
            .written
            .last()
            .is_none_or(|(_, last)| *last != revision)
        {
            self.written.push((Instant::now(), revision));
        }
    }

    /// Begins the incident at `place` of its plan. Returns true if the leader is another server now.
    pub(super) async fn begin(&mut self, place: usize, incident: &Incident) -> bool {
        let informer = incident.informer();
        *self.counts.entry(incident.kind.name()).or_default() += 1;
        self.recorder.record(Observation::FaultBegins {
            fault: self.first_number + place,
            name: incident.kind.name().to_owned(),
            informer,
            text: format!("{} for {} ms", in_words(&incident.kind), incident.for_ms),
        });
        self.present.insert(place, incident.clone());
        match incident.kind {
            IncidentKind::Replica { lag_ms, .. } => {
                let lag = Duration::from_millis(lag_ms);
                let server = self.replica(lag);
                for route in self.routes_of(informer) {
                    route.lead_to_replica(&server, &self.leader);
                }
                for route in self.writer_routes_of(informer) {
                    route.lead_to(&self.leader());
                }
                // Kept until the end of the run: an ended incident leaves watches at the replica.
                self.replicas.insert(place, Replica { server, lag });
                false
            }
            IncidentKind::Restart => {
                self.restart(Restart::Keep).await;
                true
            }
            IncidentKind::DataLoss => {
                self.restart(Restart::Advance).await;
                true
            }
            IncidentKind::Upgrade { .. } => {
                self.serve_version(incident);
                false
            }
            IncidentKind::Suspend => {
                // The paused clock leaps, and no timer fires in between, as on a machine that sleeps.
                tokio::time::advance(Duration::from_millis(incident.for_ms)).await;
                false
            }
        }
    }

    /// Ends an incident; harmless if it has ended.
    pub(super) fn end(&mut self, place: usize) {
        let Some(incident) = self.present.remove(&place) else {
            return;
        };
        if let IncidentKind::Upgrade { .. } = incident.kind {
            self.serve_version(&incident);
        } else if incident.kind.breaks_connections() {
            self.lead_to_leader(incident.informer());
        }
        self.recorder.record(Observation::FaultEnds {
            fault: self.first_number + place,
        });
    }

    /// Lets the leader serve the version of the last upgrade in progress, or that of the beginning, after the beginning or
    /// the end of `incident`.
    fn serve_version(&self, incident: &Incident) {
        let mut upgrades = self.present.values().rev();
        let version = upgrades.find_map(|present| match present.kind {
            IncidentKind::Upgrade { version, .. } => Some(version),
            _ => None,
        });
        self.leader().upgrade(version.unwrap_or_default());
        if incident.kind.breaks_connections() {
            self.lead_to_leader(None);
        }
    }

    /// Breaks the connections of an informer, or of all clients, and leads new ones to the leader.
    fn lead_to_leader(&self, informer: Option<usize>) {
        let routes = self.routes_of(informer);
        for route in routes.chain(self.writer_routes_of(informer)) {
            route.lead_to(&self.leader());
        }
    }

    /// Ends all incidents.
    pub(super) fn end_all(&mut self) {
        for place in self.present.keys().copied().collect::<Vec<_>>() {
            self.end(place);
        }
    }

    /// Lets the replica of an incident come as near to the leader as its lag allows.
    pub(super) fn catch_up(&self, place: usize) {
        if let Some(Replica { server, lag }) = self.replicas.get(&place) {
            server.follow(&self.leader(), self.revision_before(*lag));
        }
    }

    /// Returns the number of open watches of all servers.
    pub(super) fn watch_count(&self) -> usize {
        let replicas = self.replicas.values();
        let of_replicas: usize = replicas
            .map(|replica| replica.server.stats().watchers)
            .sum();
        self.leader().stats().watchers + of_replicas
    }

    /// Records how many incidents there were.
    pub(super) fn record_counts(&self) {
        for (name, count) in &self.counts {
            self.recorder.record(Observation::Fired {
                rule: (*name).to_owned(),
                count: *count,
            });
        }
    }

    /// Stops all servers and waits until they have.
    pub(super) async fn shutdown(&self) {
        for replica in self.replicas.values() {
            replica.server.shutdown().await;
        }
        self.leader().shutdown().await;
    }

    /// Replaces the leader by one that begins with its objects, at the revision that `restart` determines.
    async fn restart(&mut self, restart: Restart) {
        let old = self.leader();
        // Before the shutdown: a client that reconnects meanwhile must not reach the old server.
        for route in self.routes.iter().chain(&self.writer_routes) {
            route.refuse();
        }
        old.shutdown().await;
        // Changes that it never sent to them are lost otherwise.
        for replica in self.replicas.values() {
            replica.server.follow(&old, u64::MAX);
        }
        if restart == Restart::Advance {
            // They could not follow, and no route leads to them any more.
            for replica in std::mem::take(&mut self.replicas).into_values() {
                replica.server.shutdown().await;
            }
        }
        // Taken after the shutdown: a write during it would be lost otherwise.
        self.snapshot = Some((old.snapshot(), restart));
        let builder = self
            .builder()
            .with_kubernetes_version(old.kubernetes_version());
        self.leader.set(builder.with_faults(old.faults()).build());
        self.note();
    }

    /// Starts a server at the revision that the leader had before the lag.
    fn replica(&self, lag: Duration) -> FakeServer {
        let leader = self.leader();
        // It has no controllers: those of the leader have written what it follows.
        let server = self
            .builder()
            .with_controllers(Controllers::none())
            .with_faults(leader.faults())
            .build();
        server.follow(&leader, self.revision_before(lag));
        server
    }

    fn builder(&self) -> FakeServerBuilder {
        let builder = empty(self.seed, &self.participants);
        match &self.snapshot {
            Some((snapshot, restart)) => builder
                .with_snapshot(snapshot.clone())
                .with_restart(*restart),
            None => builder,
        }
    }

    /// Returns the revision that the leader had before the lag.
    fn revision_before(&self, lag: Duration) -> u64 {
        let when = Instant::now() - lag;
        let before = self.written.iter().rev().find(|(at, _)| *at <= when);
        before.map_or(0, |(_, revision)| *revision)
    }

    fn routes_of(&self, informer: Option<usize>) -> impl Iterator<Item = &Route> {
        let routes = self.routes.iter().enumerate();
        routes
            .filter(move |(place, _)| informer.is_none_or(|informer| informer == *place))
            .map(|(_, route)| route)
    }

    /// Returns the routes of clients that write, if an incident concerns all clients.
    fn writer_routes_of(&self, informer: Option<usize>) -> impl Iterator<Item = &Route> {
        let routes = self.writer_routes.iter();
        routes.filter(move |_| informer.is_none())
    }
}
