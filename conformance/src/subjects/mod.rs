//! What is under test, behind one face.

pub mod external;
mod waiters;
pub(crate) mod copies;
mod copier;
mod informer;
mod interleaved;
mod set;
pub(crate) mod kube_runtime;

use std::{collections::BTreeMap, future::Future, pin::Pin};

use self::{external::Program, informer::Held};
use crate::{
    bugs::Bug,
    interleave::Yields,
    plan::{HandlerPlan, InformerPlan, Resource, Selection},
    trace::{Key, Recorder, State},
};

pub use self::copier::OnFailure;
pub(crate) use self::set::SubjectSet;

/// What a subject warns of when one of its tasks has panicked.
pub(crate) const PANICKED: &str = "a task of the subject panicked";

/// One mirror of a selection, with its handlers.
///
/// A subject records by itself: what its handlers hear ([`Notified`](crate::trace::Observation::Notified)), and when asked
/// what its cache holds.
pub trait Subject {
    /// What it mirrors.
    fn selection(&self) -> &Selection;

    /// Begins to list and watch.
    fn start(&mut self);

    /// Adds a handler, which has this place in the plan.
    fn join(&mut self, handler: usize, plan: &HandlerPlan);

    /// Removes a handler; harmless if it never joined.
    fn leave(&mut self, handler: usize);

    /// Whether the cache says that it is complete.
    fn has_synced(&self) -> bool;

    /// What the cache holds.
    fn holds(&self) -> BTreeMap<Key, State>;

    /// Records what the cache holds, and where an index differs from a recount.
    fn observe(&self);

    /// Stops it and waits until it has; records how many tasks are left.
    fn stop(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()>>>;
}

/// What a subject is made of.
#[non_exhaustive]
pub struct SubjectParts<'a> {
    /// Its place in the plan.
    pub informer: usize,
    /// Its plan.
    pub plan: &'a InformerPlan,
    /// The seed of its jitter.
    pub seed: u64,
    /// Its way to the server.
    pub client: kube::Client,
    /// Where it reaches the server over TCP, if it has to.
    pub url: Option<String>,
    /// How often it lets others go first before it stores what it got.
    pub yields: Yields,
    /// Where it records.
    pub recorder: Recorder,
}

/// What a subject has besides what its plan asks for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Extras {
    /// A mistake that the informer makes on purpose.
    pub bug: Option<Bug>,
    /// Whether it also follows config maps, as a controller does that owns some. What they are is not recorded.
    pub has_companion: bool,
    /// How many tasks wait for its cache to be complete.
    pub waiter_count: usize,
    /// What is run as an external subject.
    pub program: Option<Program>,
    /// Whether it is a controller, which keeps a secret beside each of its config maps as a copy.
    pub is_copying: bool,
    /// How such a controller takes a failure, if it is made of `informer`.
    pub on_failure: OnFailure,
}

/// What can be put under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SubjectKind {
    /// [`informer::SharedInformer`](::informer::SharedInformer).
    Informer,
    /// The same with objects held as compressed bytes.
    InformerCompact,
    /// `kube_runtime`'s watcher with its default backoff, and a reflector's store; with a companion, its `Controller`.
    ///
    /// What its stream brings is told to handlers: what a list brings once the list is complete, since the store shows it
    /// then.
    KubeRuntime,
    /// The same with a shared store, whose subscribers are the handlers. They hear of no deletions, on purpose.
    KubeRuntimeShared,
    /// A process of its own; see [`external`].
    External,
}

/// The informer that a plan asks for: pods typed, config maps dynamic, nodes as metadata only.
pub fn informer(parts: SubjectParts<'_>) -> Box<dyn Subject> {
    informer_with(parts, None)
}

/// The same with a mistake that is made on purpose.
pub fn informer_with(parts: SubjectParts<'_>, bug: Option<Bug>) -> Box<dyn Subject> {
    SubjectKind::Informer.build(parts, Extras::default().with_bug(bug))
}

fn informer_of(parts: SubjectParts<'_>, extras: Extras, held: Held) -> Box<dyn Subject> {
    match parts.plan.selection.resource {
        Resource::Pods => informer::pods(parts, extras, held),
        Resource::ConfigMaps => informer::config_maps(parts, extras, held),
        Resource::Nodes => informer::nodes(parts, extras, held),
    }
}

// === impl Extras ===

impl Extras {
    /// A companion.
    #[must_use]
    pub fn with_companion(mut self) -> Self {
        self.has_companion = true;
        self
    }

    /// So many tasks that wait.
    #[must_use]
    pub fn with_waiters(mut self, count: usize) -> Self {
        self.waiter_count = count;
        self
    }

    /// Copies of its config maps.
    #[must_use]
    pub fn with_copies(mut self) -> Self {
        self.is_copying = true;
        self
    }

    /// A mistake on purpose.
    #[must_use]
    pub fn with_bug(mut self, bug: Option<Bug>) -> Self {
        self.bug = bug;
        self
    }

    /// This way to take a failure.
    #[must_use]
    pub fn with_on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// With what is run as an external subject.
    #[must_use]
    pub fn with_program(mut self, program: Option<Program>) -> Self {
        self.program = program;
        self
    }
}

// === impl SubjectKind ===

impl SubjectKind {
    /// A subject that mirrors what its plan says: pods typed, config maps dynamic where that can be, nodes as metadata only.
    ///
    /// # Panics
    ///
    /// If it is a process, and there is no program or no URL.
    pub fn build(self, parts: SubjectParts<'_>, extras: Extras) -> Box<dyn Subject> {
        match self {
            Self::Informer => informer_of(parts, extras, Held::Typed),
            Self::InformerCompact => informer_of(parts, extras, Held::Compact),
            Self::KubeRuntime if extras.has_companion => {
                kube_runtime::controller(&parts, extras.waiter_count)
            }
            Self::KubeRuntime if extras.is_copying => {
                kube_runtime::copier(&parts, extras.waiter_count)
            }
            Self::KubeRuntime => kube_runtime::reflector(&parts, extras.waiter_count),
            Self::KubeRuntimeShared if extras.is_copying => {
                kube_runtime::shared_copier(&parts, extras.waiter_count)
            }
            Self::KubeRuntimeShared => kube_runtime::shared(&parts, extras.waiter_count),
            Self::External => {
                let program = extras.program.expect("a process is of a program");
                external::subject(parts, program)
            }
        }
    }
}
