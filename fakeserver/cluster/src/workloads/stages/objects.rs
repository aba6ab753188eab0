//! Stages of objects other than pods: changes of their status, and deletions, after a delay.

use std::{collections::BTreeMap, time::Duration};

use fakeserver_server::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::deletion::{DeletionParameters, is_deleted},
};
use fakeserver_value::{patch::merge_document, read::text};
use serde_json::{Value, json};

use super::{Selected, Stage};

const ACTOR: Actor = Actor::new("stages");

/// The controller of stages of objects.
///
/// # Memory
///
/// An entry for each object of the kinds that stages are about.
#[derive(Debug)]
pub(in crate::workloads) struct ObjectStages {
    stages: Vec<Selected>,
    /// The progress of each object, by the number of the stage.
    progress: BTreeMap<ObjectKey, BTreeMap<usize, StageProgress>>,
}

/// The progress of a stage for an object that it selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StageProgress {
    /// The stage is due at this time.
    At(tokio::time::Instant),
    Done,
}

// === impl ObjectStages ===

impl ObjectStages {
    /// Creates the controller for the stages that are not of pods.
    pub(in crate::workloads) fn new(stages: &[Stage]) -> Self {
        let stages = stages.iter().filter(|stage| !stage.is_of_pods()).cloned();
        Self {
            stages: stages.map(Selected::new).collect(),
            progress: BTreeMap::new(),
        }
    }

    /// Notes the stages that select an object from now on, and forgets those that do not any more. Returns those whose time
    /// has come.
    fn note(
        &mut self,
        key: &ObjectKey,
        object: &Value,
        mut draw: impl FnMut() -> f64,
    ) -> (Vec<usize>, Option<Duration>) {
        let now = tokio::time::Instant::now();
        let [api_version, kind] = ["apiVersion", "kind"].map(|field| text(&object[field]));
        let progress = self.progress.entry(key.clone()).or_default();
        let mut due = Vec::new();
        for (number, selected) in self.stages.iter().enumerate() {
            let stage = &selected.stage;
            if !stage.selector.is_of(api_version, kind) || !selected.selects(object) {
                progress.remove(&number);
                continue;
            }
            let stage_progress = progress.entry(number).or_insert_with(|| {
                StageProgress::At(now + stage.delay.unwrap_or_default() + stage.jitter(&mut draw))
            });
            if matches!(stage_progress, StageProgress::At(at) if *at <= now) {
                // Done before it happens: its own change of the object is observed next.
                *stage_progress = StageProgress::Done;
                due.push(number);
            }
        }
        let waits = progress
            .values()
            .filter_map(|stage_progress| match stage_progress {
                StageProgress::At(at) => Some(*at - now),
                StageProgress::Done => None,
            });
        (due, waits.min())
    }
}

impl Controller for ObjectStages {
    fn name(&self) -> &'static str {
        "stages"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if self.stages.is_empty() {
            return;
        }
        if change.after.is_some() {
            due.add(change.key().clone(), Duration::ZERO);
        } else {
            self.progress.remove(change.key());
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let kind = cluster.resource_type(key.resource());
        let Some((stored, kind)) = cluster.get(key).zip(kind) else {
            return;
        };
        let mut object = stored.to_value();
        // Stored objects have neither field, and stages select by them.
        object["apiVersion"] = json!(kind.api_version());
        object["kind"] = json!(&*kind.kind);
        if is_deleted(&object) {
            return;
        }
        let entropy = &cluster.backend.entropy;
        let (happen, wait) = self.note(key, &object, || entropy.fraction());
        if let Some(wait) = wait {
            due.add(key.clone(), wait);
        }
        for number in happen {
            let next = &self.stages[number].stage.next;
            if let Some(status) = &next.status {
                cluster.update(key, ACTOR.of_status(), |object| {
                    merge_document(&mut object["status"], status);
                });
            }
            if next.is_deleted {
                cluster.delete(key, DeletionParameters::default());
            }
        }
    }
}
