//! The state that the parts of a run share: its record, its director, and what each replica has read.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    client_view::Query,
    director::{Director, WriteOrders},
    kinds::ObjectKey,
    plan::Plan,
    trace::{Effect, Event, ObservedVersion, RunTrace, Write, WriteKey, WriteOutcome},
    trace_writer::TraceWriter,
};

/// The record of a run under way.
#[derive(Debug)]
pub(super) struct Recorder {
    started: Instant,
    /// True if any read makes a replica ready: a function needs no time to start.
    is_ready_by_reads: bool,
    /// Cancelled when no replica is left that would be started again.
    is_given_up: CancellationToken,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    trace: RunTrace,
    /// The trace file, if there is one.
    trace_writer: Option<TraceWriter>,
    director: Director,
    replicas: Vec<ReplicaState>,
    watched: BTreeSet<String>,
    listed_from_cache: BTreeSet<String>,
    unserved: BTreeSet<String>,
    /// The leases that the subject writes.
    leases: BTreeSet<ObjectKey>,
    in_flight: usize,
    active_at: Instant,
    /// The longest time that a process took from its start to its first watch or write.
    slowest_start: Duration,
    /// The writes whose last attempt did not succeed, and may be made again.
    unsettled: BTreeSet<WriteKey>,
    /// The resources that the subject was cut off, and has not read since.
    unread: BTreeSet<String>,
}

/// The quiet after a write that did not succeed, or a watch that was refused: the next attempt may come late.
const UNSETTLED_QUIET: Duration = Duration::from_secs(12);

/// The number of resources without a definition that are kept.
const UNSERVED_MAX: usize = 20;

/// The present process of a replica.
#[derive(Debug)]
struct ReplicaState {
    incarnation: usize,
    started_at: Instant,
    is_running: bool,
    is_ready: bool,
    is_given_up: bool,
    seen: BTreeMap<ObjectKey, ObservedVersion>,
    /// The identities that it wrote to leases.
    identities: BTreeSet<String>,
}

/// A write, as it came.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) key: WriteKey,
    pub(super) place: ObjectKey,
    pub(super) is_background: bool,
    pub(super) target_uid: Option<String>,
    /// The version of the object at the server.
    pub(super) target_version: Option<u64>,
    pub(super) lease_holders: Vec<String>,
    pub(super) server_revision: u64,
}

// === impl Recorder ===

impl Recorder {
    pub(super) fn new(plan: &Plan, replica_count: usize) -> Self {
        let started = Instant::now();
        Self {
            started,
            is_ready_by_reads: false,
            is_given_up: CancellationToken::new(),
            inner: Mutex::new(Inner {
                trace: RunTrace::default(),
                trace_writer: None,
                director: Director::new(plan),
                replicas: (0..replica_count)
                    .map(|_| ReplicaState::new(started))
                    .collect(),
                watched: BTreeSet::new(),
                listed_from_cache: BTreeSet::new(),
                unserved: BTreeSet::new(),
                leases: BTreeSet::new(),
                in_flight: 0,
                active_at: started,
                slowest_start: Duration::ZERO,
                unsettled: BTreeSet::new(),
                unread: BTreeSet::new(),
            }),
        }
    }

    /// Counts a replica as ready when it reads anything.
    pub(super) fn with_reads_as_ready(mut self, is_ready: bool) -> Self {
        self.is_ready_by_reads = is_ready;
        self
    }

    /// Writes a trace file beside the record.
    pub(super) fn with_trace_writer(self, trace_writer: Option<TraceWriter>) -> Self {
        self.lock().trace_writer = trace_writer;
        self
    }

    /// Ends the trace file.
    pub(super) fn end_trace(&self) -> io::Result<()> {
        let trace_writer = self.lock().trace_writer.take();
        trace_writer.map_or(Ok(()), |mut trace_writer| trace_writer.end())
    }

    /// Adds an event.
    pub(super) fn note(&self, event: Event) {
        let at = self.started.elapsed();
        self.lock().note(at, event);
    }

    /// Writes to the trace file, if there is one.
    pub(super) fn write_trace<T>(
        &self,
        write: impl FnOnce(&mut TraceWriter, Duration) -> T,
    ) -> Option<T> {
        let at = self.started.elapsed();
        self.lock()
            .trace_writer
            .as_mut()
            .map(|writer| write(writer, at))
    }

    /// Takes the start of a process, which has read nothing. Returns which one of its replica it is.
    pub(super) fn started(&self, replica: usize) -> usize {
        let at = self.started.elapsed();
        let mut inner = self.lock();
        let state = &mut inner.replicas[replica];
        let incarnation = state.incarnation;
        state.started_at = Instant::now();
        state.is_running = true;
        state.is_ready = false;
        // A process begins without what the one before it has read.
        state.seen.clear();
        inner.active_at = Instant::now();
        let event = Event::Started {
            replica,
            incarnation,
        };
        inner.note(at, event);
        incarnation
    }

    /// Takes the end of a process.
    pub(super) fn ended(&self, replica: usize, how: String, is_planned: bool) {
        let at = self.started.elapsed();
        let mut inner = self.lock();
        let state = &mut inner.replicas[replica];
        let incarnation = state.incarnation;
        state.incarnation += 1;
        state.is_running = false;
        let event = Event::Ended {
            replica,
            incarnation,
            how,
            is_planned,
        };
        inner.note(at, event);
    }

    /// Notes that a replica is not started again: it ended by itself too often.
    pub(super) fn give_up(&self, replica: usize) {
        let mut inner = self.lock();
        inner.replicas[replica].is_given_up = true;
        if inner.replicas.iter().all(|state| state.is_given_up) {
            self.is_given_up.cancel();
        }
    }

    /// Completes when no replica is left that would be started again: nothing comes any more. Cancel safe.
    pub(super) async fn given_up(&self) {
        self.is_given_up.cancelled().await;
    }

    /// Returns the place of the step that was begun last, from 0.
    pub(super) fn step(&self) -> usize {
        let inner = self.lock();
        let steps = inner.trace.events.iter().rev();
        let mut places = steps.filter_map(|(_, event)| match event {
            Event::Step { place, .. } => Some(*place),
            _ => None,
        });
        places.next().unwrap_or(0)
    }

    /// Takes a read, and returns the number of its request in the trace file, if there is one.
    pub(super) fn read(&self, replica: usize, query: Query) -> Option<usize> {
        let at = self.started.elapsed();
        let mut inner = self.lock();
        let (is_watch, from_cache) = (query.verb == "watch", query.resource_version == "0");
        let resource = query.resource.clone();
        // The subject learns only now what it was cut off: it may have something to write.
        if inner.unread.remove(&resource) {
            inner.active_at = Instant::now();
        }
        if is_watch || self.is_ready_by_reads {
            inner.set_ready(replica);
        }
        if is_watch {
            inner.watched.insert(resource);
        } else if from_cache {
            inner.listed_from_cache.insert(resource);
        }
        let trace_writer = inner.trace_writer.as_mut()?;
        Some(trace_writer.request(at, replica, query))
    }

    /// Takes a request for a resource that the server does not have.
    pub(super) fn not_served(&self, resource: String) {
        let unserved = &mut self.lock().unserved;
        if unserved.len() < UNSERVED_MAX {
            unserved.insert(resource);
        }
    }

    /// Takes a write, and returns its number and what is done about it.
    pub(super) fn begin_write(&self, replica: usize, arrival: Arrival) -> (usize, WriteOrders) {
        let at = self.started.elapsed();
        let mut inner = self.lock();
        let inner = &mut *inner;
        let (point, orders) = if arrival.is_background {
            let point = super::trace::WritePoint {
                key: arrival.key,
                occurrence: 0,
            };
            (point, WriteOrders::default())
        } else {
            inner.director.on_write(&arrival.key, at)
        };
        // Events and leases are written all the time: they neither delay quiet nor are points of a plan.
        if !arrival.is_background {
            inner.in_flight += 1;
            inner.active_at = Instant::now();
        }
        inner.set_ready(replica);
        // The state of the cache is taken now: the answer to this write will change it.
        let state = &inner.replicas[replica];
        let number = inner.trace.writes.len();
        inner.trace.writes.push(Write {
            at,
            replica,
            incarnation: state.incarnation,
            point,
            code: None,
            message: String::new(),
            effect: Effect::Unanswered,
            revision: None,
            seen: state.seen.get(&arrival.place).cloned(),
            target_uid: arrival.target_uid,
            lease_holders: arrival.lease_holders,
            server_revision: arrival.server_revision,
            is_background: arrival.is_background,
            is_perturbed: orders.is_something(),
        });
        inner.trace.events.push((at, Event::Wrote(number)));
        if let Some(trace_writer) = &mut inner.trace_writer {
            let write = &inner.trace.writes[number];
            trace_writer.write(at, number, write, &arrival.place);
        }
        (number, orders)
    }

    /// Takes the end of a write.
    pub(super) fn end_write(&self, number: usize, result: WriteOutcome) {
        let at = self.started.elapsed();
        let mut inner = self.lock();
        if let Some(trace_writer) = &mut inner.trace_writer {
            trace_writer.end_write(at, number, &result);
        }
        let write = &mut inner.trace.writes[number];
        write.code = result.code;
        write.message = result.message;
        write.effect = result.effect;
        write.revision = result.revision;
        if write.is_background {
            return;
        }
        // A write that changes nothing again and again is no work: a subject may do so for ever.
        let is_activity = write.effect != Effect::Nothing;
        let key = write.point.key.clone();
        let is_settled = match write.effect {
            Effect::Changed | Effect::Nothing => true,
            // A deletion of a missing object or a creation of an existing one has its effect already.
            Effect::Refused => !write.is_perturbed && matches!(write.code, Some(404 | 409)),
            Effect::Unanswered => false,
        };
        if is_settled {
            inner.unsettled.remove(&key);
        } else {
            inner.unsettled.insert(key);
        }
        inner.in_flight -= 1;
        if is_activity {
            inner.active_at = Instant::now();
        }
    }

    /// Takes an object that a replica was shown.
    pub(super) fn show(&self, replica: usize, resource: &str, object: &Value) {
        let metadata = &object["metadata"];
        let (Some(name), Some(uid)) = (metadata["name"].as_str(), metadata["uid"].as_str()) else {
            return;
        };
        let namespace = metadata["namespace"].as_str().unwrap_or_default();
        let revision = metadata["resourceVersion"].as_str();
        let seen = ObservedVersion {
            uid: uid.to_owned(),
            revision: revision
                .and_then(|text| text.parse().ok())
                .unwrap_or_default(),
            generation: metadata["generation"].as_u64().unwrap_or_default(),
        };
        let place = (resource.to_owned(), namespace.to_owned(), name.to_owned());
        self.lock().replicas[replica].seen.insert(place, seen);
    }

    /// Takes a lease as a replica wrote it.
    pub(super) fn lease(&self, replica: usize, place: ObjectKey, lease: &Value) {
        let mut inner = self.lock();
        inner.leases.insert(place);
        if let Some(holder) = lease["spec"]["holderIdentity"].as_str()
            && !holder.is_empty()
        {
            inner.replicas[replica].identities.insert(holder.to_owned());
        }
    }

    /// Returns the leases that the subject writes.
    pub(super) fn leases(&self) -> BTreeSet<ObjectKey> {
        self.lock().leases.clone()
    }

    /// Returns the identities that each replica wrote to leases.
    pub(super) fn identities(&self) -> Vec<BTreeSet<String>> {
        let inner = self.lock();
        let replicas = inner.replicas.iter();
        replicas.map(|state| state.identities.clone()).collect()
    }

    /// Returns whether the subject has been quiet for so long: all its replicas are ready, and none has written. Where a write did
    /// not succeed, it takes longer.
    pub(super) fn is_quiet(&self, time: Duration) -> bool {
        // It is asked often: a good time to look at what the server did by itself.
        self.write_trace(TraceWriter::look);
        let inner = self.lock();
        let are_ready = inner
            .replicas
            .iter()
            .all(|state| state.is_running && state.is_ready);
        if !are_ready || inner.in_flight > 0 {
            return false;
        }
        // What a process does first takes as long as its start where the machine is busy.
        let time = time.max(inner.slowest_start * 2);
        let needed = if inner.unsettled.is_empty() && inner.unread.is_empty() {
            time
        } else {
            time.max(UNSETTLED_QUIET)
        };
        inner.active_at.elapsed() >= needed
    }

    /// Returns whether all replicas run and have read or written.
    pub(super) fn is_ready(&self) -> bool {
        let inner = self.lock();
        let mut replicas = inner.replicas.iter();
        replicas.all(|state| state.is_running && state.is_ready)
    }

    /// Returns whether the process of a replica was ready.
    pub(super) fn is_replica_ready(&self, replica: usize) -> bool {
        let inner = self.lock();
        inner.replicas[replica].is_ready
    }

    /// Tells what a replica that is not ready has not done.
    pub(super) fn readiness(&self) -> &'static str {
        if self.is_ready_by_reads {
            return "made no request";
        }
        "made no watch or write (if it is ready without, --ready-output or --ready-url tells when)"
    }

    /// Counts a replica as ready.
    pub(super) fn set_ready(&self, replica: usize) {
        self.lock().set_ready(replica);
    }

    /// Restarts the time without writes.
    pub(super) fn restart_quiet(&self) {
        self.lock().active_at = Instant::now();
    }

    /// Restarts the time without writes, and once more when the subject reads these resources again.
    pub(super) fn restart_quiet_until_read(&self, resources: impl IntoIterator<Item = String>) {
        let mut inner = self.lock();
        inner.unread.extend(resources);
        inner.active_at = Instant::now();
    }

    /// Notes that the restart at the end begins.
    pub(super) fn restart_begins(&self) {
        let at = self.started.elapsed();
        self.lock().trace.restarted_at = Some(at);
    }

    /// Returns the perturbations at writes that did not come.
    pub(super) fn not_done(&self) -> Vec<String> {
        let inner = self.lock();
        inner.director.not_done().map(ToString::to_string).collect()
    }

    /// Returns the record.
    pub(super) fn trace(&self) -> RunTrace {
        let inner = self.lock();
        let mut trace = inner.trace.clone();
        trace.watched = inner.watched.iter().cloned().collect();
        trace.listed_from_cache = inner.listed_from_cache.iter().cloned().collect();
        trace.unserved = inner.unserved.iter().cloned().collect();
        trace
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Inner ===

impl Inner {
    fn note(&mut self, at: Duration, event: Event) {
        if let Some(trace_writer) = &mut self.trace_writer {
            trace_writer.event(at, &event);
        }
        self.trace.events.push((at, event));
    }

    fn set_ready(&mut self, replica: usize) {
        let state = &mut self.replicas[replica];
        if state.is_ready {
            return;
        }
        state.is_ready = true;
        self.slowest_start = self.slowest_start.max(state.started_at.elapsed());
        self.active_at = Instant::now();
    }
}

// === impl ReplicaState ===

impl ReplicaState {
    fn new(started_at: Instant) -> Self {
        Self {
            incarnation: 0,
            started_at,
            is_running: false,
            is_ready: false,
            is_given_up: false,
            seen: BTreeMap::new(),
            identities: BTreeSet::new(),
        }
    }
}
