//! The plans of a reference: each write by each perturbation, but for those that cannot matter, and pairs from seeds.

use std::collections::BTreeSet;

use fakeserver::KubernetesVersion;
use rand::seq::IndexedRandom;
use serde_json::json;
use support::seed::Seed;

use super::{
    kinds::ObjectRef,
    plan::{Family, Perturbation, Plan, Refusal, Side},
    reference::{Reference, ReferenceWrite},
    workload::{Action, Workload},
};

/// The attempts that are refused by an internal error, if they come at once: more than a loop with waits makes.
const REFUSED_AT_ONCE: usize = 25;
/// The attempts that are refused otherwise.
const REFUSED: usize = 3;
/// The resources that stand still for one write, at most.
const FROZEN_MAX: usize = 3;

/// Returns the plans of these families.
pub(super) fn plans(reference: &Reference, workload: &Workload, families: &[Family]) -> Vec<Plan> {
    let mut plans = Vec::new();
    for family in families {
        let perturbations = match family {
            Family::Reference | Family::Pairs | Family::Generated => Vec::new(),
            Family::Crash => crashes(reference),
            Family::LostAnswer => lost_answers(reference),
            Family::Refusal => refusals(reference),
            Family::Stale => stale(reference),
            Family::Unobserved => unobserved(reference, workload),
            Family::Deleted => deleted(reference, workload),
            Family::Foreign => foreign(reference),
            Family::Leader => leader(reference),
            Family::Catalogue => catalogue(reference),
            Family::Upgrades => upgrades(reference),
        };
        plans.extend(perturbations.into_iter().map(|perturbation| Plan {
            family: *family,
            perturbations: vec![perturbation],
        }));
    }
    plans
}

/// Draws two of the plans to be done in one run.
pub(super) fn pair(plans: &[Plan], seed: u64) -> Plan {
    let mut generator = Seed::new(seed).stream("survive-pairs");
    let chosen = plans.sample(&mut generator, 2);
    let perturbations = chosen.flat_map(|plan| plan.perturbations.clone());
    Plan {
        family: Family::Pairs,
        perturbations: perturbations.collect(),
    }
}

/// Returns at most `count` of `plans`, as many of each family as there is room for, spread over its writes.
pub(super) fn sample(plans: Vec<Plan>, count: usize) -> Vec<Plan> {
    if plans.len() <= count {
        return plans;
    }
    let total = plans.len();
    // Every `total / count`th.
    let mut chosen = Vec::new();
    for (place, plan) in plans.into_iter().enumerate() {
        if (place + 1) * count / total > place * count / total {
            chosen.push(plan);
        }
    }
    chosen
}

fn crashes(reference: &Reference) -> Vec<Perturbation> {
    let sides = [
        (Side::Before, false),
        (Side::After, false),
        (Side::After, true),
    ];
    let mut crashes = Vec::new();
    for (side, twice) in sides {
        crashes.extend(reference.writes.iter().map(|write| Perturbation::Crash {
            at: write.point.clone(),
            side,
            twice,
        }));
    }
    crashes
}

fn lost_answers(reference: &Reference) -> Vec<Perturbation> {
    let mut lost = Vec::new();
    for applied in [true, false] {
        let writes = reference.writes.iter();
        lost.extend(writes.map(|write| Perturbation::LoseAnswer {
            at: write.point.clone(),
            applied,
        }));
    }
    lost
}

fn refusals(reference: &Reference) -> Vec<Perturbation> {
    let kinds = [
        (Refusal::Internal, REFUSED_AT_ONCE),
        (Refusal::Conflict, REFUSED),
        (Refusal::Throttled, 1),
        (Refusal::Timeout, REFUSED),
        (Refusal::Denied, REFUSED),
    ];
    // Each write once, by one after the other.
    let writes = reference.writes.iter().zip(kinds.iter().cycle());
    writes
        .map(|(write, (with, times))| Perturbation::Refuse {
            at: write.point.clone(),
            with: *with,
            times: *times,
        })
        .collect()
}

/// A resource matters only if the subject watches it and it changes.
fn stale(reference: &Reference) -> Vec<Perturbation> {
    let changing = |resource: &&String| reference.counts.contains_key(*resource);
    let resources: Vec<&String> = reference.watched.iter().filter(changing).collect();
    let mut stale = Vec::new();
    for write in &reference.writes {
        for resource in resources.iter().take(FROZEN_MAX) {
            stale.push(Perturbation::Freeze {
                at: write.point.clone(),
                resource: (*resource).clone(),
                restart: false,
            });
        }
        // After a restart only a list from the cache may be of an older state.
        let cached = resources.iter();
        for resource in cached.filter(|it| reference.listed_from_cache.contains(it)) {
            stale.push(Perturbation::Freeze {
                at: write.point.clone(),
                resource: (*resource).clone(),
                restart: true,
            });
        }
    }
    stale
}

fn unobserved(reference: &Reference, workload: &Workload) -> Vec<Perturbation> {
    let mut found: Vec<Perturbation> = reference
        .watched
        .iter()
        .map(|resource| Perturbation::Merge {
            resource: resource.clone(),
        })
        .collect();
    let steps = workload.steps.iter().enumerate();
    let changes: Vec<usize> = steps
        .filter(|(_, step)| step.action.is_change())
        .map(|(place, _)| place)
        .collect();
    for two in changes.windows(2) {
        for resource in &reference.watched {
            let touches = |place: usize| touches(&workload.steps[place].action, resource);
            if touches(two[0]) && touches(two[1]) {
                found.push(Perturbation::Skip {
                    step: two[0],
                    resource: resource.clone(),
                });
            }
        }
    }
    found
}

/// Returns whether a step is about a resource, as far as its kind tells: `Website` and `websites.example.org`.
fn touches(action: &Action, resource: &str) -> bool {
    let plural = resource.split('.').next().unwrap_or_default();
    let is_of = |kind: &str| {
        let kind = kind.to_ascii_lowercase();
        let stem = kind.strip_suffix('y').unwrap_or(&kind);
        plural.starts_with(stem)
    };
    match action {
        Action::Apply(objects) => objects
            .iter()
            .any(|object| object["kind"].as_str().is_some_and(is_of)),
        Action::Patch { object, .. } | Action::Delete { object, .. } => is_of(&object.kind),
        Action::Wait { .. } | Action::Quiet(_) => false,
    }
}

/// The owner is created again; objects of the subject are not, since that is the subject's work.
fn deleted(reference: &Reference, workload: &Workload) -> Vec<Perturbation> {
    let owners = owners(workload);
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for write in &reference.writes {
        for owner in owners.iter().filter(|owner| {
            // Whatever is deleted by then stays so.
            last_step(workload, owner).is_none_or(|deleted| write.step < deleted)
        }) {
            found.push(Perturbation::Delete {
                at: write.point.clone(),
                object: owner.clone(),
                anew: true,
            });
        }
        let Some(object) = &write.object else {
            continue;
        };
        // Before its creation and after its deletion there is no object to delete.
        let is_later = write.point.key.verb != "create" && write.point.key.verb != "delete";
        if is_later && !owners.iter().any(|it| it.is_same(object)) && seen.insert(object.clone()) {
            found.push(Perturbation::Delete {
                at: write.point.clone(),
                object: object.clone(),
                anew: false,
            });
        }
    }
    found
}

/// Returns the place of the step that deletes an object.
fn last_step(workload: &Workload, object: &ObjectRef) -> Option<usize> {
    workload.steps.iter().position(|step| match &step.action {
        Action::Delete {
            object: deleted, ..
        } => deleted.is_same(object),
        _ => false,
    })
}

/// Returns the objects that the user applies.
fn owners(workload: &Workload) -> Vec<ObjectRef> {
    let mut owners: Vec<ObjectRef> = Vec::new();
    for step in &workload.steps {
        let Action::Apply(objects) = &step.action else {
            continue;
        };
        for object in objects {
            let reference = ObjectRef::to(object);
            let is_root =
                reference.kind != "Namespace" && reference.kind != "CustomResourceDefinition";
            if is_root && !owners.iter().any(|it| it.is_same(&reference)) {
                owners.push(reference);
            }
        }
    }
    owners
}

fn foreign(reference: &Reference) -> Vec<Perturbation> {
    let writes = reference.writes.iter();
    writes
        .filter(|write| !matches!(write.point.key.verb.as_str(), "create" | "delete"))
        .filter_map(|write: &ReferenceWrite| {
            Some(Perturbation::Touch {
                at: write.point.clone(),
                object: write.object.clone()?,
            })
        })
        .collect()
}

fn leader(reference: &Reference) -> Vec<Perturbation> {
    if !reference.has_leases {
        return Vec::new();
    }
    let writes = reference.writes.iter();
    writes
        .map(|write| Perturbation::Stop {
            at: write.point.clone(),
        })
        .collect()
}

/// Each write once, by the version after that of the server and the one before in turn; then servers of two versions.
fn upgrades(reference: &Reference) -> Vec<Perturbation> {
    if reference.writes.is_empty() {
        return Vec::new();
    }
    let own = KubernetesVersion::default();
    let next = own.adjacent();
    let before = KubernetesVersion::all()
        .rev()
        .find(|version| *version < own);
    let others: Vec<&str> = [Some(next), before.filter(|version| *version != next)]
        .into_iter()
        .flatten()
        .map(KubernetesVersion::name)
        .collect();
    let writes = reference.writes.iter().zip(others.iter().cycle());
    let mut found: Vec<Perturbation> = writes
        .map(|(write, version)| Perturbation::Upgrade {
            at: write.point.clone(),
            version: (*version).to_owned(),
        })
        .collect();
    found.extend(others.iter().map(|version| Perturbation::Fault {
        fault: json!({"fault": "mixed_versions", "version": version}),
    }));
    found
}

/// Faults that a correct client survives, on each watched resource.
fn catalogue(reference: &Reference) -> Vec<Perturbation> {
    let mut found = Vec::new();
    for full in &reference.watched {
        let resource = full.split('.').next().unwrap_or_default();
        let of = |verb: &str| json!({"resource": resource, "verb": verb});
        for (fault, verb, when) in [
            ("disconnect", "watch", json!({"nth": 2, "times": 1})),
            ("expired_event", "watch", json!({"nth": 2, "times": 1})),
            ("server_error", "list", json!({"times": 2})),
            ("duplicate_event", "watch", json!({"times": 3})),
        ] {
            let fault = json!({"fault": fault, "match": of(verb), "when": when});
            found.push(Perturbation::Fault { fault });
        }
    }
    found
}
