//! The informers of a run, as subjects under test. Their acts are recorded.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures::future::join_all;
use tokio::time::timeout;

use super::{Act, plan::InformerPlan, subjects::Subject};
use crate::{
    participants::participant::Run,
    plan::Resource,
    trace::{Observation, Recorder},
};

/// The time for each subject to stop.
const STOP_LIMIT: Duration = Duration::from_mins(5);

/// The informers of a run by their places in the plan.
pub(crate) struct Informers {
    plan: Vec<InformerPlan>,
    features: Features,
    subjects: BTreeMap<usize, Box<dyn Subject>>,
    started: BTreeSet<usize>,
    paused: BTreeSet<usize>,
    recorder: Recorder,
}

/// The features of a kind of run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    /// True if handlers may block their threads: there are several.
    pub(crate) blocks: bool,
    /// True if controllers start: their timing is promised in process only.
    pub(crate) controls: bool,
}

// === impl Informers ===

impl Informers {
    pub(crate) fn new(
        plan: &[InformerPlan],
        subjects: Vec<Box<dyn Subject>>,
        features: Features,
        recorder: Recorder,
    ) -> Self {
        for (informer, subject) in subjects.iter().enumerate() {
            recorder.follow_cache(informer, || subject.view());
        }
        Self {
            plan: plan.to_vec(),
            features,
            subjects: subjects.into_iter().enumerate().collect(),
            started: BTreeSet::new(),
            paused: BTreeSet::new(),
            recorder,
        }
    }

    /// Makes all ready to start.
    pub(crate) async fn prepare(&mut self) {
        let subjects = self.subjects.values_mut();
        let preparing: Vec<_> = subjects.map(|subject| subject.prepare()).collect();
        join_all(preparing).await;
    }

    /// Lets the running subjects of a resource wait for the version of a write.
    pub(crate) fn await_version(&mut self, resource: Resource, revision: u64) {
        for informer in &self.started {
            let subject = self.subjects.get_mut(informer);
            let subject = subject.filter(|subject| subject.selection().resource == resource);
            if let Some(subject) = subject {
                subject.await_version(revision);
            }
        }
    }

    /// Returns the subjects that have started.
    pub(crate) fn running(&self) -> impl Iterator<Item = &dyn Subject> {
        self.started
            .iter()
            .map(|informer| self.subjects[informer].as_ref())
    }

    fn start(&mut self, informer: usize) {
        self.started.insert(informer);
        let subject = self.subject(informer);
        let selection = subject.selection().clone();
        // Recorded before the start: its first request is at the same moment.
        self.recorder.record(Observation::InformerStarts {
            informer,
            selection,
        });
        self.subject(informer).start();
    }

    fn join(&mut self, informer: usize, handler: usize) {
        let plan = &self.plan[informer].handlers[handler];
        let plan = if self.features.blocks {
            plan.clone()
        } else {
            plan.unblocked()
        };
        self.recorder.record(Observation::HandlerJoins {
            informer,
            handler,
            panics: plan.panic_every.is_some(),
            is_slow: plan.delay_ms.or(plan.block_ms).is_some(),
            merges: plan.buffer_max.is_some(),
        });
        if let Some(resync_ms) = plan.resync_ms {
            self.recorder.record(Observation::ResyncWanted {
                informer,
                handler,
                period: Duration::from_millis(resync_ms),
            });
        }
        self.subject(informer).join(handler, &plan);
    }

    fn leave(&mut self, informer: usize, handler: usize) {
        // Recorded after it has left: a notification after that is a violation.
        self.subject(informer).leave(handler);
        self.recorder
            .record(Observation::HandlerLeaves { informer, handler });
    }

    fn pause(&mut self, informer: usize) {
        if self.subject(informer).pause() {
            self.paused.insert(informer);
            self.recorder
                .record(Observation::InformerPauses { informer });
        }
    }

    fn resume(&mut self, informer: usize) {
        if self.paused.remove(&informer) {
            self.recorder
                .record(Observation::InformerResumes { informer });
            self.subject(informer).resume();
        }
    }

    fn subject(&mut self, informer: usize) -> &mut dyn Subject {
        let subject = self.subjects.get_mut(&informer);
        subject.expect("a plan names its own informers").as_mut()
    }
}

impl Run<Vec<InformerPlan>> for Informers {
    async fn act(&mut self, act: Act) {
        match act {
            Act::Join(informer, handler) => self.join(informer, handler),
            Act::Start(informer) => self.start(informer),
            Act::StartController(informer, controller) if self.features.controls => {
                let plan = self.plan[informer].controllers[controller].clone();
                self.subject(informer).start_controller(controller, &plan);
            }
            Act::StartController(..) => {}
            Act::Leave(informer, handler) => self.leave(informer, handler),
            Act::Resume(informer) => self.resume(informer),
            Act::Pause(informer) => self.pause(informer),
        }
    }

    /// Lets those that run record their caches.
    fn observe(&self) {
        for subject in self.running() {
            subject.observe();
        }
    }

    /// Resumes those that are paused.
    async fn recover(&mut self) {
        for informer in self.paused.clone() {
            self.resume(informer);
        }
    }

    fn watch_count(&self) -> usize {
        self.running().count()
    }

    /// Stops all, one after the other; one that does not stop within its limit is dropped.
    ///
    /// # Cancel safety
    ///
    /// Those that were not stopped yet are dropped with the set.
    async fn shut_down(&mut self) {
        // One after the other: their last observations stay apart, and in the same order in each run.
        while let Some((_, subject)) = self.subjects.pop_first() {
            let _ = timeout(STOP_LIMIT, subject.stop()).await;
        }
        self.started.clear();
    }
}
