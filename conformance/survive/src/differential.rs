//! Changes of one field: whether the way to a state makes a difference, and whether the way back leads back (Acto's consistency
//! and recovery).

use std::{path::Path, time::Duration};

use serde_json::Value;
use support::seed::Seed;

use super::{
    campaign::{Campaign, Verdict},
    end_state::EndState,
    error::CampaignError,
    execute::{self, Conditions, Task},
    finding::{Finding, Promise},
    generate::{self, Change},
    kinds::{ObjectRef, ServedKinds},
    plan::{Family, Perturbation, Plan},
    reference::Reference,
    runs::Runs,
    trace::Event,
    workload::{Action, PatchType, Step, Workload},
    world::World,
};

/// The quiet between two changes, if the workload tells none.
const QUIET: Duration = Duration::from_secs(1);
/// The number of differences that are printed.
const REPORTED_MAX: usize = 3;

// === impl Campaign ===

impl Campaign {
    /// Returns up to `count` plans, each of which changes one field of a custom object that the workload applies to another value
    /// that the server takes.
    ///
    /// # Errors
    ///
    /// The definitions cannot be served, or the workload applies no custom object.
    pub async fn changes(&self, count: usize, seed: Seed) -> Result<Vec<Plan>, CampaignError> {
        self.setup.within(self.changes_of_world(count, seed)).await
    }

    async fn changes_of_world(&self, count: usize, seed: Seed) -> Result<Vec<Plan>, CampaignError> {
        let conditions = Conditions::Usual;
        let clock = conditions.clock(&self.setup.subject);
        let server = execute::server(&self.setup, conditions, clock)?;
        let kinds = ServedKinds::read(&server.router()).await;
        let world = World {
            server,
            kinds,
            clock,
        };
        let definitions =
            world
                .server
                .objects("apiextensions.k8s.io", "v1", "customresourcedefinitions");
        let mut found = Vec::new();
        for object in applied(self.workload()) {
            // The reference reports steps that cannot be applied.
            if world.apply(object).is_err() {
                continue;
            }
            let definitions = definitions.iter().map(|definition| definition.to_value());
            for definition in definitions {
                for change in generate::changes(object, &definition, seed) {
                    if found.len() < count && is_taken(&world, object, &change).await {
                        found.push(change_plan(object, change));
                    }
                }
            }
        }
        world.server.shutdown().await;
        if found.is_empty() {
            return Err(CampaignError::NoChange);
        }
        Ok(found)
    }

    /// Changes a field in one run, makes the object with the changed field from the start in another one, and compares; then changes
    /// it back, and compares with the object that was never changed.
    ///
    /// # Errors
    ///
    /// A run cannot begin.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the subject's processes are killed.
    pub(super) async fn changed(
        &self,
        reference: &Reference,
        plan: Plan,
        folder: &Path,
    ) -> Result<Verdict, CampaignError> {
        let Some(Perturbation::Change { object, change }) = plan.perturbations.first().cloned()
        else {
            return Err(CampaignError::NoChange);
        };
        let base = self.workload();
        let quiet = base.longest_quiet().unwrap_or(QUIET);
        let quiet = step(Action::Quiet(quiet));
        let patch = |is_back| step(patch_of(&object, &change, is_back));
        let fresh = vec![apply_all(base, Some((&object, &change))), quiet.clone()];
        let never = vec![apply_all(base, None), quiet.clone()];
        let there = [never.clone(), vec![patch(false), quiet.clone()]].concat();
        let back = [there.clone(), vec![patch(true), quiet]].concat();
        let mut ends = Vec::new();
        let mut verdict: Option<Verdict> = None;
        for (name, steps) in [
            ("fresh", fresh),
            ("there", there),
            ("never", never),
            ("back", back),
        ] {
            let workload = Workload {
                steps,
                rules: Vec::new(),
                ..base.clone()
            };
            let folder = folder.join(name);
            let outcome = self
                .run_task(Task::new(&workload, &Plan::default(), &folder))
                .await?;
            ends.push(EndState::of(&outcome.history, Some(&reference.end)));
            let findings = failed(&outcome.trace.events);
            let next = Verdict {
                plan: plan.clone(),
                findings,
                accepted: Vec::new(),
                runs: Runs::one(false),
                is_idle: false,
                trace: outcome.trace,
                took: outcome.took,
                folder,
            };
            verdict = Some(match verdict.take() {
                Some(known) if !known.findings.is_empty() => known,
                _ => next,
            });
        }
        let mut verdict = verdict.expect("there are runs");
        for (expected, found, way) in [
            (&ends[0], &ends[1], "changed, and not as if made so"),
            (
                &ends[2],
                &ends[3],
                "changed back, and not as if never changed",
            ),
        ] {
            verdict
                .findings
                .extend(findings_of(expected, found, reference, way));
        }
        verdict.accepted = reference.accepted.take(&plan, &mut verdict.findings);
        verdict.runs = Runs::one(!verdict.findings.is_empty());
        Ok(verdict)
    }
}

/// Returns how a state differs from another one that it should equal, in the resources that the subject writes: the server's own
/// controllers keep a history, of replica sets say.
fn findings_of<'a>(
    expected: &EndState,
    found: &EndState,
    reference: &'a Reference,
    way: &'a str,
) -> impl Iterator<Item = Finding> + use<'a> {
    reference
        .differences(expected, found)
        .into_iter()
        .filter(|difference| reference.writes_resource_of(&difference.object))
        .take(REPORTED_MAX)
        .map(move |it| Finding::new(Promise::EndState, format!("{way}: {it}")))
}

fn change_plan(object: &Value, change: Change) -> Plan {
    Plan {
        family: Family::Generated,
        perturbations: vec![Perturbation::Change {
            object: ObjectRef::to(object),
            change,
        }],
    }
}

/// Returns whether the server takes a change, by a dry run.
pub(super) async fn is_taken(world: &World, object: &Value, change: &Change) -> bool {
    let Ok(path) = world.path(&ObjectRef::to(object)) else {
        return false;
    };
    let path = format!("{path}?dryRun=All");
    let body = change.patch(false).to_string().into_bytes();
    let media_type = PatchType::Merge.media_type();
    world
        .request("PATCH", &path, media_type, body)
        .await
        .is_ok()
}

fn applied(workload: &Workload) -> impl Iterator<Item = &Value> {
    let steps = workload.steps.iter();
    steps.flat_map(|step| match &step.action {
        Action::Apply(objects) => objects.as_slice(),
        _ => &[],
    })
}

/// Returns a step that applies all objects of a workload, one of them with a change.
fn apply_all(workload: &Workload, changed: Option<(&ObjectRef, &Change)>) -> Step {
    let objects = applied(workload).map(|object| match changed {
        Some((reference, change)) if ObjectRef::to(object) == *reference => change.applied(object),
        _ => object.clone(),
    });
    step(Action::Apply(objects.collect()))
}

fn patch_of(object: &ObjectRef, change: &Change, is_back: bool) -> Action {
    Action::Patch {
        object: object.clone(),
        media_type: PatchType::Merge,
        body: change.patch(is_back),
        status: false,
    }
}

fn step(action: Action) -> Step {
    Step { name: None, action }
}

fn failed(events: &[(Duration, Event)]) -> Vec<Finding> {
    let failures = events.iter().filter_map(|(at, event)| match event {
        Event::StepFailed { place, reason, .. } => {
            let text = format!("step {}: {reason}", place + 1);
            Some(Finding::new(Promise::EndState, text).at(*at))
        }
        _ => None,
    });
    failures.collect()
}
