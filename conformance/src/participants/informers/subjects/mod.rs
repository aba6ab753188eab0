//! The subjects under test, behind one trait.

pub mod external;
mod waiters;
mod version_waits;
mod handler_syncs;
mod handler_fold;
mod recording_handler;
mod paced_handler;
mod adapters;
mod indices;
mod readers;
mod plain_reads;
mod handlers;
pub(crate) mod expected_copies;
mod copy_controller;
mod contents;
mod strict;
mod hurried;
mod reports;
mod status_reader;
mod own_checks;
mod facade;
mod interleaved;
mod assembly;
mod informer;
mod queue_mirror;

pub(crate) mod kube_runtime;

use std::{collections::BTreeMap, future::Future, pin::Pin};

use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::{
    api::{ApiResource, DynamicObject},
    core::PartialObjectMeta,
};

use self::{external::Program, queue_mirror::QueueMirror};
use crate::{
    bugs::Bug,
    interleave::Yields,
    participants::{ControllerPlan, HandlerPlan, InformerPlan},
    plan::{Resource, Selection},
    trace::{CacheView, Key, Recorder, State},
};

pub use self::copy_controller::OnFailure;
pub(crate) use self::indices::FAILING;

/// A mirror of a selection, with its handlers.
///
/// A subject records by itself: its [notifications](crate::trace::Observation::Notified), and on request the content of
/// its cache.
pub trait Subject {
    /// Returns the selection: that of the plan, or the [plain](Selection::plain) one if the subject knows no other.
    fn selection(&self) -> &Selection;

    /// Makes it ready to start, before the time of a run begins.
    fn prepare(&mut self) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(std::future::ready(()))
    }

    /// Begins to list and watch.
    fn start(&mut self);

    /// Adds the handler at this place in the plan.
    fn join(&mut self, handler: usize, plan: &HandlerPlan);

    /// Removes a handler; harmless if it never joined.
    fn leave(&mut self, handler: usize);

    /// Starts the controller at this place in the plan, which stops as its plan says, or before the subject stops. Subjects
    /// without work queues ignore it.
    fn start_controller(&mut self, _controller: usize, _plan: &ControllerPlan) {}

    /// Pauses it until it is [resumed](Self::resume). Returns false if it knows no pauses, and ignores that.
    fn pause(&mut self) -> bool {
        false
    }

    /// Ends a pause.
    fn resume(&mut self) {}

    /// Begins to wait, in a task, until the cache shows this version of a write. Subjects that cannot wait ignore it.
    fn await_version(&mut self, _revision: u64) {}

    /// Returns true if the cache is complete.
    fn has_synced(&self) -> bool;

    /// Returns the content of the cache.
    fn holds(&self) -> BTreeMap<Key, State>;

    /// Returns a view of its cache, whose readings have no effect; `None` if there is none.
    fn view(&self) -> Option<CacheView> {
        None
    }

    /// Returns true if its handlers were notified of everything that the cache shows, its waits have ended, and its controllers
    /// have nothing to reconcile. Subjects that cannot tell return true.
    fn has_settled(&self) -> bool {
        true
    }

    /// Records the content of the cache, and differences of indexes from a recount.
    fn observe(&self);

    /// Asks it about itself once nothing is under way, and records untrue answers: above all has it compare its cache by its own
    /// means, which equals the server's state, or does not at the server's last version.
    fn examine(&self, _is_equal: bool) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        Box::pin(std::future::ready(()))
    }

    /// Stops it and waits until it has stopped; records the number of tasks that are left.
    fn stop(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()>>>;
}

/// The parts of which a subject is made.
#[non_exhaustive]
pub struct SubjectParts<'a> {
    /// Its place in the plan.
    pub informer: usize,
    /// Its plan.
    pub plan: &'a InformerPlan,
    /// The seed of its jitter.
    pub seed: u64,
    /// The client to the server.
    pub client: kube::Client,
    /// The URL of the server, for subjects that need TCP.
    pub url: Option<String>,
    /// True if it is to use short time limits, since the run is in real time and short.
    pub is_hurried: bool,
    /// The gate that it shares with others, if there is one.
    pub gate: Option<::informer::reflector::ListGate>,
    /// Yields before each write to the store.
    pub yields: Yields,
    /// The recorder.
    pub recorder: Recorder,
}

/// Options of a subject besides its plan.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Extras {
    /// A seeded bug of the informer.
    pub bug: Option<Bug>,
    /// True if it also follows config maps, as a controller does that owns some. They are not recorded.
    pub has_companion: bool,
    /// The number of tasks that wait for its cache to be complete.
    pub waiter_count: usize,
    /// The program of an external subject.
    pub program: Option<Program>,
    /// True if it is a controller that keeps a secret beside each of its config maps as a copy.
    pub is_copying: bool,
    /// The reaction of such a controller to a failure, if it is made of `informer`.
    pub on_failure: OnFailure,
}

/// The kinds of subjects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SubjectKind {
    /// [`informer::SharedInformer`](::informer::SharedInformer).
    Informer,
    /// `kube_runtime`'s watcher with its default backoff, and a reflector's store; with a companion, its `Controller`.
    ///
    /// Its handlers are notified of its stream's objects: of those of a list when the list is complete, since the store
    /// shows them then.
    KubeRuntime,
    /// The same with a shared store, whose subscribers are the handlers. By design, they see no deletions.
    KubeRuntimeShared,
    /// A process of its own; see [`external`].
    External,
}

/// Creates the informer that a plan asks for: pods typed, config maps dynamic, nodes as metadata only, and
/// any of them compact.
pub fn informer(parts: SubjectParts<'_>) -> Box<dyn Subject> {
    informer_with(parts, None)
}

/// Creates the same informer with a seeded bug.
pub fn informer_with(parts: SubjectParts<'_>, bug: Option<Bug>) -> Box<dyn Subject> {
    SubjectKind::Informer.build(parts, Extras::default().with_bug(bug))
}

/// Creates a mirror of the parts of `informer`, without handlers and controllers: a reflector, a delta FIFO, and a map.
pub fn queue_mirror(parts: SubjectParts<'_>) -> Box<dyn Subject> {
    let config_maps = ApiResource::erase::<ConfigMap>(&());
    match parts.plan.selection.resource {
        Resource::Pods => QueueMirror::<Pod>::boxed(parts, &()),
        Resource::ConfigMaps => QueueMirror::<DynamicObject>::boxed(parts, &config_maps),
        Resource::Nodes => QueueMirror::<PartialObjectMeta<Node>>::boxed(parts, &()),
    }
}

fn informer_of(parts: SubjectParts<'_>, extras: Extras) -> Box<dyn Subject> {
    match parts.plan.selection.resource {
        Resource::Pods => informer::pods(parts, extras),
        Resource::ConfigMaps => informer::config_maps(parts, extras),
        Resource::Nodes => informer::nodes(parts, extras),
    }
}

// === impl Extras ===

impl Extras {
    setters! {
        /// Adds a companion.
        with_companion() |this| this.has_companion = true;
        /// Adds tasks that wait for the cache.
        with_waiters(count: usize) |this| this.waiter_count = count;
        /// Makes it a controller that copies its config maps.
        with_copies() |this| this.is_copying = true;
        /// Injects a seeded bug.
        with_bug(bug: Option<Bug>) |this| this.bug = bug;
        /// Sets the reaction to failures.
        with_on_failure(on_failure: OnFailure) |this| this.on_failure = on_failure;
        /// Sets the program of an external subject.
        with_program(program: Option<Program>) |this| this.program = program;
    }
}

// === impl SubjectKind ===

impl SubjectKind {
    /// Creates a subject that mirrors the selection of its plan: pods typed, config maps dynamic if possible, nodes as
    /// metadata only.
    ///
    /// # Panics
    ///
    /// If it is a process, and there is no program or no URL.
    pub fn build(self, parts: SubjectParts<'_>, extras: Extras) -> Box<dyn Subject> {
        match self {
            Self::Informer => informer_of(parts, extras),
            Self::KubeRuntime if extras.has_companion => {
                kube_runtime::controller(&parts, extras.waiter_count)
            }
            Self::KubeRuntime if extras.is_copying => {
                kube_runtime::copy_controller(&parts, extras.waiter_count)
            }
            Self::KubeRuntime => kube_runtime::reflector(&parts, extras.waiter_count),
            Self::KubeRuntimeShared if extras.is_copying => {
                kube_runtime::shared_copy_controller(&parts, extras.waiter_count)
            }
            Self::KubeRuntimeShared => kube_runtime::shared(&parts, extras.waiter_count),
            Self::External => {
                let program = extras.program.expect("a process is of a program");
                external::subject(parts, program)
            }
        }
    }
}
