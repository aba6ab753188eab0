//! Simulated servers: a [`Cluster`] of fake ones.

use std::collections::BTreeSet;

use axum::Router;
use fakeserver::{FakeServer, StoredObject, faults::Faults as Rules};

use super::{Plan, cluster::Cluster, servers::Servers};
use crate::{
    digest,
    faults::FaultInjector,
    plan::{Action, IncidentKind, LABEL, Operation, Resource, SPOILED, Selection},
    trace::{Change, Key, Member, Observation, Recorder, Side, State},
    transport::{Leader, Route},
    workload::Workload,
};

/// A cluster of fake servers, and what subjects have to bring about on it.
pub(super) struct SimulatedServers {
    cluster: Cluster,
    recorder: Recorder,
    goal: fn(&FakeServer) -> Option<String>,
}

// === impl SimulatedServers ===

impl SimulatedServers {
    /// Starts the servers of a run of `plan`.
    pub(super) fn new(
        plan: &Plan,
        recorder: Recorder,
        goal: fn(&FakeServer) -> Option<String>,
    ) -> Self {
        let cluster = Cluster::new(plan, recorder.clone());
        recorder.follow_server(|| cluster.leader());
        Self {
            cluster,
            recorder,
            goal,
        }
    }

    /// Deletes all objects of the plan before any client can read them.
    async fn lose(&mut self, plan: &Plan, workload: &mut Workload) {
        let objects = plan.workload.iter();
        let objects: BTreeSet<(Resource, u8)> = objects
            .map(|operation| (operation.resource, operation.slot))
            .collect();
        for (resource, slot) in objects {
            // Objects that a finalizer holds are lost as well.
            for action in [Action::Release, Action::Delete] {
                let operation = Operation::new(0, resource, slot, action);
                workload.perform(&operation).await;
            }
        }
        self.cluster.note();
    }
}

impl Servers for SimulatedServers {
    type Error = std::convert::Infallible;

    fn router(&self) -> Router {
        self.cluster.leader().router()
    }

    fn rules(&self) -> Rules {
        self.cluster.leader().faults()
    }

    fn open_route(&mut self) -> Route {
        let route = Route::to(&self.cluster.leader());
        self.cluster.add_route(route.clone());
        route
    }

    fn open_writer_route(&mut self) -> Route {
        let route = Route::to(&self.cluster.leader());
        self.cluster.add_writer_route(route.clone());
        route
    }

    fn leader(&self) -> Option<Leader> {
        Some(self.cluster.leader_handle())
    }

    fn faults(&self, plan: &Plan, clients: Vec<String>, recorder: Recorder) -> FaultInjector {
        FaultInjector::new(&self.cluster.leader(), plan.seed, clients, recorder)
    }

    async fn set_up(&mut self, workload: &mut Workload) {
        workload.set_up().await;
        self.cluster.note();
    }

    fn note_write(&mut self) {
        self.cluster.note();
    }

    async fn begin_incident(
        &mut self,
        plan: &Plan,
        place: usize,
        workload: &mut Workload,
        faults: &mut FaultInjector,
    ) -> Result<(), Self::Error> {
        let incident = &plan.incidents[place];
        let old = self.cluster.leader();
        if self.cluster.begin(place, incident).await {
            // The new leader forgets the log of the old one, which checkers need to the end.
            for resource in Resource::ALL {
                for change in logged(&old, resource) {
                    self.recorder.record(Observation::Changed(change));
                }
                for content in contents(&old, resource) {
                    self.recorder.record(content);
                }
            }
            let server = self.cluster.leader();
            self.recorder.follow_server(|| server.clone());
            // Writers and faults follow before the next act, which must not reach the old server.
            workload.go_on_with(&server);
            faults.go_on_with(&server);
            if incident.kind == IncidentKind::DataLoss {
                self.lose(plan, workload).await;
            }
        }
        Ok(())
    }

    fn catch_up(&mut self, place: usize) {
        self.cluster.catch_up(place);
    }

    fn end_incident(&mut self, place: usize) {
        self.cluster.end(place);
    }

    fn end_incidents(&mut self) {
        self.cluster.end_all();
    }

    fn members(&self, selection: &Selection) -> Vec<Member> {
        let objects = self
            .cluster
            .leader()
            .objects("", "v1", selection.resource.plural());
        let selected = objects.iter().filter(|object| {
            let namespace = object.namespace().unwrap_or_default();
            selection.contains(namespace, label(object).as_deref(), is_spoiled(object))
        });
        selected.map(|object| member(object)).collect()
    }

    fn changes(&self, resource: Resource) -> Result<Vec<Change>, Self::Error> {
        Ok(logged(&self.cluster.leader(), resource).collect())
    }

    fn contents(&self, resource: Resource) -> Vec<Observation> {
        contents(&self.cluster.leader(), resource).collect()
    }

    fn unmet_goal(&self) -> Option<String> {
        (self.goal)(&self.cluster.leader())
    }

    fn open_watch_count(&self) -> Option<usize> {
        Some(self.cluster.watch_count())
    }

    fn record_counts(&self) {
        self.cluster.record_counts();
    }

    async fn shutdown(&self) {
        self.cluster.shutdown().await;
    }
}

/// Returns the log of a server, as far as it goes.
fn logged(server: &FakeServer, resource: Resource) -> impl Iterator<Item = Change> {
    let changes = server.history("", "v1", resource.plural(), 0);
    changes.into_iter().map(move |change| {
        let subject = change
            .after()
            .or(change.before())
            .expect("a change has a side");
        let side = |object: &StoredObject| Side {
            uid: object.uid().into(),
            label: label(object).map(Into::into),
            is_spoiled: is_spoiled(object),
        };
        Change {
            resource,
            revision: change.revision(),
            key: key(subject),
            namespace: subject.namespace().unwrap_or_default().into(),
            before: change.before().map(|object| side(object)),
            after: change.after().map(|object| side(object)),
        }
    })
}

/// Returns the content of each version in the log of a server.
fn contents(server: &FakeServer, resource: Resource) -> impl Iterator<Item = Observation> {
    let changes = server.history("", "v1", resource.plural(), 0);
    changes.into_iter().filter_map(move |change| {
        let object = change.after()?;
        Some(Observation::Stored {
            resource,
            member: member(object),
            digest: digest::of_stored(resource, &object.json()),
        })
    })
}

fn member(object: &StoredObject) -> Member {
    Member {
        key: key(object),
        state: State::new(object.uid(), object.revision()),
    }
}

fn key(object: &StoredObject) -> Key {
    match object.namespace() {
        Some(namespace) => format!("{namespace}/{}", object.name()).into(),
        None => object.name().into(),
    }
}

fn label(object: &StoredObject) -> Option<String> {
    object.labels().get(LABEL).map(str::to_owned)
}

fn is_spoiled(object: &StoredObject) -> bool {
    object.labels().get(SPOILED).is_some()
}
