//! The servers of a run, as a run needs them.

use std::collections::BTreeMap;

use axum::Router;
use fakeserver::faults::Faults as Rules;

use super::Plan;
use crate::{
    faults::FaultInjector,
    plan::{Resource, Selection},
    trace::{Change, Member, Observation, Recorder},
    transport::{Leader, Route},
    workload::Workload,
};

/// The servers of a run: simulated ones, or a real one behind a proxy.
///
/// A run writes to them, compares caches with them, and records their history at its end.
pub(crate) trait Servers {
    /// A failure of the servers: the run says nothing about the subjects.
    type Error;

    /// The API without faults, for the workload.
    fn router(&self) -> Router;

    /// The rules for what subjects request.
    fn rules(&self) -> Rules;

    /// Opens the route of the next informer.
    fn open_route(&mut self) -> Route;

    /// Opens the route of a client that writes, which leads to the leader whenever it leads anywhere.
    fn open_writer_route(&mut self) -> Route {
        self.open_route()
    }

    /// Returns the leader of simulated servers.
    fn leader(&self) -> Option<Leader> {
        None
    }

    /// Creates the faults of a run, of which none has begun.
    fn faults(&self, plan: &Plan, clients: Vec<String>, recorder: Recorder) -> FaultInjector;

    /// Prepares the servers for the operations of plans.
    async fn set_up(&mut self, _workload: &mut Workload) {}

    /// Notes that there may be a new revision.
    fn note_write(&mut self) {}

    /// Begins the incident at `place` of the plan.
    async fn begin_incident(
        &mut self,
        plan: &Plan,
        place: usize,
        workload: &mut Workload,
        faults: &mut FaultInjector,
    ) -> Result<(), Self::Error>;

    /// Lets the replica of an incident catch up as far as its lag allows.
    fn catch_up(&mut self, _place: usize) {}

    /// Ends an incident; harmless if it has ended.
    fn end_incident(&mut self, _place: usize) {}

    /// Ends all incidents.
    fn end_incidents(&mut self) {}

    /// Returns true if [`members`](Self::members) include these last revisions.
    fn has_come_to(&self, _last: &BTreeMap<Resource, u64>) -> bool {
        true
    }

    /// Returns the present objects of a selection.
    fn members(&self, selection: &Selection) -> Vec<Member>;

    /// Returns all changes of a resource, in order.
    fn changes(&self, resource: Resource) -> Result<Vec<Change>, Self::Error>;

    /// Returns the content of each version in the log of a resource, if the servers keep it.
    fn contents(&self, _resource: Resource) -> Vec<Observation> {
        Vec::new()
    }

    /// Describes what subjects still have to bring about, if anything.
    fn unmet_goal(&self) -> Option<String> {
        None
    }

    /// Returns the number of open watches, if the servers count them.
    fn open_watch_count(&self) -> Option<usize> {
        None
    }

    /// Records how often each kind of incident happened.
    fn record_counts(&self) {}

    /// Stops the servers and waits until they have stopped.
    async fn shutdown(&self) {}
}
