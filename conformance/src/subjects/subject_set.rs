//! The subjects of a run; each act on them is recorded.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures::future::join_all;
use tokio::time::timeout;

use super::Subject;
use crate::{
    plan::{ControllerPlan, HandlerPlan, Resource},
    trace::{Observation, Recorder},
};

/// The time for each subject to stop.
const STOP_LIMIT: Duration = Duration::from_mins(5);

/// The subjects of a run by their places in the plan.
pub(crate) struct SubjectSet {
    subjects: BTreeMap<usize, Box<dyn Subject>>,
    started: BTreeSet<usize>,
    paused: BTreeSet<usize>,
    recorder: Recorder,
}

// === impl SubjectSet ===

impl SubjectSet {
    pub(crate) fn new(subjects: Vec<Box<dyn Subject>>, recorder: Recorder) -> Self {
        for (informer, subject) in subjects.iter().enumerate() {
            recorder.follow_cache(informer, || subject.view());
        }
        Self {
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

    pub(crate) fn start(&mut self, informer: usize) {
        self.started.insert(informer);
        let subject = self.subject(informer);
        let selection = subject.selection().clone();
        self.recorder.record(Observation::InformerStarts {
            informer,
            selection,
        });
        self.subject(informer).start();
    }

    pub(crate) fn join(&mut self, informer: usize, handler: usize, plan: &HandlerPlan) {
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
        self.subject(informer).join(handler, plan);
    }

    pub(crate) fn leave(&mut self, informer: usize, handler: usize) {
        self.subject(informer).leave(handler);
        self.recorder
            .record(Observation::HandlerLeaves { informer, handler });
    }

    pub(crate) fn start_controller(
        &mut self,
        informer: usize,
        controller: usize,
        plan: &ControllerPlan,
    ) {
        self.subject(informer).start_controller(controller, plan);
    }

    pub(crate) fn pause(&mut self, informer: usize) {
        if self.subject(informer).pause() {
            self.paused.insert(informer);
            self.recorder
                .record(Observation::InformerPauses { informer });
        }
    }

    pub(crate) fn resume(&mut self, informer: usize) {
        if self.paused.remove(&informer) {
            self.recorder
                .record(Observation::InformerResumes { informer });
            self.subject(informer).resume();
        }
    }

    /// Resumes those that are paused.
    pub(crate) fn resume_all(&mut self) {
        for informer in self.paused.clone() {
            self.resume(informer);
        }
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

    /// Lets the running subjects record their caches.
    pub(crate) fn observe(&self) {
        for subject in self.running() {
            subject.observe();
        }
    }

    /// Returns the subjects that have started.
    pub(crate) fn running(&self) -> impl Iterator<Item = &dyn Subject> {
        self.started
            .iter()
            .map(|informer| self.subjects[informer].as_ref())
    }

    /// Stops all, one after the other; a subject that does not stop within its limit is dropped.
    ///
    /// # Cancel safety
    ///
    /// Those that were not stopped yet are dropped with the set.
    pub(crate) async fn stop(&mut self) {
        while let Some((_, subject)) = self.subjects.pop_first() {
            let _ = timeout(STOP_LIMIT, subject.stop()).await;
        }
        self.started.clear();
    }

    fn subject(&mut self, informer: usize) -> &mut dyn Subject {
        let subject = self.subjects.get_mut(&informer);
        subject.expect("a plan names its own informers").as_mut()
    }
}
