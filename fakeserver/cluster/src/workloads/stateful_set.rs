//! Stateful sets: pods with numbers, one after the other, each with claims of its own.

use std::{collections::BTreeMap, ops::Range, sync::Arc, time::Duration};

use fakeserver_kinds::{apps, core};
use fakeserver_server::{
    controllers::pods::Pod,
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
    write::deletion::{DeletionParameters, is_deleted},
};
use fakeserver_value::read::text;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    claim_retention::own_claims,
    objects::{
        COALESCED, ReconciledKind, claim, count, count_available, enqueue_owners, hash, look_again,
        number, selector,
    },
    revisions::{self, Naming, record},
};

const KIND: ReconciledKind = ReconciledKind {
    kind: &apps::stateful_set::KIND,
    name: "StatefulSet",
    api_version: "apps/v1",
    component: "statefulset-controller",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
const HASH: &str = "controller-revision-hash";
/// The label of a revision with the hash of its template.
const REVISION_HASH: &str = "controller.kubernetes.io/hash";

/// The controller of stateful sets.
#[derive(Debug)]
pub(super) struct StatefulSets;

/// A template of a set, and the name of its revision.
#[derive(Debug)]
struct Version {
    revision: String,
    template: Value,
}

/// One pod of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they do not depend on each other"
)]
struct Member {
    number: i64,
    /// True if it is running and ready.
    is_up: bool,
    is_going: bool,
    has_ended: bool,
    is_current: bool,
}

/// The next step for the pod of an ordinal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Create(i64),
    Delete(i64),
}

impl Controller for StatefulSets {
    fn name(&self) -> &'static str {
        "stateful sets"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        let key = change.key();
        if change.is_of(KIND.kind) {
            due.add(key.clone(), Duration::ZERO);
        } else if change.is_of(&core::pod::KIND) {
            enqueue_owners(&KIND, change, due);
            let after = change.after.as_ref();
            if after.is_some_and(|(_, meta)| meta.controller().is_none())
                && let Some((set, _)) = membership(key.name())
            {
                due.add(KIND.key(key.namespace(), set), COALESCED);
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let set = stored.to_value();
        let Some(selects) = selector(&set).filter(|_| !is_deleted(&set)) else {
            return;
        };
        let pods = claim(cluster, &KIND, &set, &selects, |pod| {
            let owner = membership(pod.name()).map(|(owner, _)| owner);
            !pod.is_deleted && owner == Some(key.name())
        });
        let by_number: BTreeMap<i64, Arc<Pod>> = pods
            .into_iter()
            .filter_map(|pod| Some((membership(pod.name())?.1, pod)))
            .collect();
        let mut used: Vec<&str> = by_number.values().map(|pod| pod.label(HASH)).collect();
        // Pods below the partition are made of it, even if there is none now.
        used.push(text(&set["status"]["currentRevision"]));
        let hash = hash(&set["spec"]["template"], 0);
        let naming = Naming {
            name: &format!("{}-{hash}", key.name()),
            label: REVISION_HASH,
            hash: &hash,
        };
        let revision = record(cluster, &KIND, &set, naming, &used);
        let members: Vec<Member> = by_number
            .iter()
            .map(|(number, pod)| Member {
                number: *number,
                is_up: pod.is_ready && !pod.is_deleted,
                is_going: pod.is_deleted,
                has_ended: pod.is_finished(),
                is_current: pod.label(HASH) == revision,
            })
            .collect();
        // Before any pod goes: by then its claims have to name the owner that they go with.
        own_claims(cluster, &set, &by_number, &ordinals(&set["spec"]));
        let newest = Version {
            revision,
            template: set["spec"]["template"].clone(),
        };
        let current = current(cluster, &set);
        for step in plan(&set["spec"], &members) {
            match step {
                Step::Create(number) => {
                    let is_kept = number < first_updated(&set["spec"]);
                    let version = current.as_ref().filter(|_| is_kept).unwrap_or(&newest);
                    create(cluster, &set, number, version);
                }
                Step::Delete(number) => {
                    if let Some(pod) = by_number.get(&number) {
                        cluster.delete(pod.key(), DeletionParameters::default());
                        delete_event(cluster, &set, pod.name());
                    }
                }
            }
        }
        let now = cluster.now();
        let next = report(cluster, key, &members, &by_number, &newest.revision, now);
        look_again(key, next, now, due);
    }
}

fn delete_event(cluster: &mut Cluster<'_, '_>, set: &Value, pod: &str) {
    let name = text(&set["metadata"]["name"]);
    let message = format!("delete Pod {pod} in StatefulSet {name} successful");
    cluster.event(&KIND, set, "SuccessfulDelete", &message);
}

/// The set that a pod of this name belongs to, and its number there.
fn membership(name: &str) -> Option<(&str, i64)> {
    let (set, number) = name.rsplit_once('-')?;
    Some((set, number.parse().ok()?))
}

/// Returns the numbers of the pods that a set wants.
fn ordinals(spec: &Value) -> Range<i64> {
    let first = number(&spec["ordinals"]["start"], 0);
    first..first + number(&spec["replicas"], 1)
}

/// Returns the first number whose pod a roll-out brings to the newest revision.
fn first_updated(spec: &Value) -> i64 {
    let partition = number(&spec["updateStrategy"]["rollingUpdate"]["partition"], 0);
    ordinals(spec).start.saturating_add(partition)
}

/// Returns the version from which pods below the partition are made: that of the last roll-out which has come to its end.
#[doc(alias = "newVersionedStatefulSetPod")]
fn current(cluster: &Cluster<'_, '_>, set: &Value) -> Option<Version> {
    let revision = text(&set["status"]["currentRevision"]);
    let template = revisions::template(cluster, set, revision)?;
    Some(Version {
        revision: revision.to_owned(),
        template,
    })
}

/// Plans the next steps. One step at a time, each when the pods before it are up, unless the set works in parallel.
fn plan(spec: &Value, members: &[Member]) -> Vec<Step> {
    let Range { start: first, end } = ordinals(spec);
    let is_ordered = spec["podManagementPolicy"] != "Parallel";
    let mut steps = Vec::new();
    for number in first..end {
        match members.iter().find(|member| member.number == number) {
            None => steps.push(Step::Create(number)),
            Some(member) if member.has_ended && !member.is_going => {
                steps.push(Step::Delete(number));
            }
            Some(member) if member.is_up => continue,
            Some(_) => {}
        }
        if is_ordered {
            return steps;
        }
    }
    // From the last one down, in the reverse order of their creation.
    let surplus = |member: &&Member| member.number < first || member.number >= end;
    for member in members.iter().rev().filter(surplus) {
        if !member.is_going {
            steps.push(Step::Delete(member.number));
        }
        if is_ordered {
            return steps;
        }
    }
    // A roll-out replaces pods only while none is missing or surplus.
    if !steps.is_empty() || spec["updateStrategy"]["type"] == "OnDelete" {
        return steps;
    }
    for member in members.iter().rev() {
        if member.number < first_updated(spec) {
            break;
        }
        if !member.is_current && !member.is_going {
            return vec![Step::Delete(member.number)];
        }
        // One pod at a time: the next is replaced when this one is up again.
        if !member.is_up {
            break;
        }
    }
    steps
}

fn create(cluster: &mut Cluster<'_, '_>, set: &Value, number: i64, version: &Version) {
    let owner = text(&set["metadata"]["name"]);
    let name = format!("{owner}-{number}");
    let mut pod = KIND.pod(set, &version.template);
    pod["metadata"]["name"] = json!(name);
    for (label, value) in [
        ("apps.kubernetes.io/pod-index", number.to_string()),
        (HASH, version.revision.clone()),
        ("statefulset.kubernetes.io/pod-name", name.clone()),
    ] {
        pod["metadata"]["labels"][label] = json!(value);
    }
    pod["spec"]["hostname"] = json!(name);
    let service = &set["spec"]["serviceName"];
    if !text(service).is_empty() {
        pod["spec"]["subdomain"] = service.clone();
    }
    let templates = set["spec"]["volumeClaimTemplates"].as_array();
    for template in templates.into_iter().flatten() {
        let volume = text(&template["metadata"]["name"]);
        let claim = format!("{volume}-{name}");
        let mut object = json!({"metadata": template["metadata"], "spec": template["spec"]});
        object["metadata"]["name"] = json!(claim);
        object["metadata"]["namespace"] = set["metadata"]["namespace"].clone();
        if let Some(labels) = set["spec"]["selector"].get("matchLabels") {
            object["metadata"]["labels"] = labels.clone();
        }
        let claims = core::persistent_volume_claim::KIND.storage();
        if cluster.create(claims, ACTOR, object).is_some() {
            let message = format!("create Claim {claim} Pod {name} in StatefulSet {owner} success");
            cluster.event(&KIND, set, "SuccessfulCreate", &message);
        }
        if let Some(why) = &cluster.refusal {
            let message = format!(
                "create Claim {claim} for Pod {name} in StatefulSet {owner} failed error: {why}"
            );
            cluster.warning(&KIND, set, "FailedCreate", &message);
            return;
        }
        let mounted = json!({"name": volume, "persistentVolumeClaim": {"claimName": claim}});
        let mut volumes = pod["spec"]["volumes"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        // A claim takes the place of the template's volume of that name.
        volumes.retain(|other| other["name"] != volume);
        volumes.push(mounted);
        pod["spec"]["volumes"] = volumes.into();
    }
    if cluster
        .create(core::pod::KIND.storage(), ACTOR, pod)
        .is_some()
    {
        let message = format!("create Pod {name} in StatefulSet {owner} successful");
        cluster.event(&KIND, set, "SuccessfulCreate", &message);
    } else if let Some(why) = &cluster.refusal {
        let message = format!("create Pod {name} in StatefulSet {owner} failed error: {why}");
        cluster.warning(&KIND, set, "FailedCreate", &message);
    }
}

/// Writes the status. Returns when it changes by itself.
fn report(
    cluster: &mut Cluster<'_, '_>,
    key: &ObjectKey,
    members: &[Member],
    pods: &BTreeMap<i64, Arc<Pod>>,
    revision: &str,
    now: Timestamp,
) -> Option<Timestamp> {
    let mut next = None;
    cluster.update(key, ACTOR.of_status(), |set| {
        let generation = set["metadata"]["generation"].clone();
        let min_ready = number(&set["spec"]["minReadySeconds"], 0);
        let wanted = number(&set["spec"]["replicas"], 1);
        let all = |which: fn(&Member) -> bool| {
            count(members.iter().filter(|member| which(member)).count())
        };
        let updated = all(|member| member.is_current && !member.is_going);
        let up;
        (up, next) = count_available(pods.values(), min_ready, now);
        let status = &mut set["status"];
        let before = text(&status["currentRevision"]).to_owned();
        // A roll-out is over when all pods are of its revision.
        let is_over = updated == wanted && all(|member| member.is_up) == wanted;
        let current = if before.is_empty() || is_over {
            revision
        } else {
            &before
        };
        let of_current = pods.values().filter(|pod| pod.label(HASH) == current);
        status["currentReplicas"] = json!(count(of_current.count()));
        status["replicas"] = json!(count(members.len()));
        status["readyReplicas"] = json!(all(|member| member.is_up));
        status["availableReplicas"] = json!(up);
        status["updatedReplicas"] = json!(updated);
        status["currentRevision"] = json!(current);
        status["updateRevision"] = json!(revision);
        status["collisionCount"] = json!(0);
        status["observedGeneration"] = generation;
    });
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the steps for these pods: `u`p, `s`tarting, `g`oing, `e`nded, `o`ld and up, or none (`-`).
    fn check(spec: &Value, pods: &str) -> Vec<Step> {
        let members = pods.chars().zip(0_i64..).filter(|(pod, _)| *pod != '-');
        let members: Vec<Member> = members
            .map(|(pod, number)| Member {
                number,
                is_up: matches!(pod, 'u' | 'o'),
                is_going: pod == 'g',
                has_ended: pod == 'e',
                is_current: pod != 'o',
            })
            .collect();
        plan(spec, &members)
    }

    #[test]
    fn pods_are_created_and_deleted_in_order() {
        use Step::{Create, Delete};
        let spec = json!({"replicas": 3});
        assert_eq!(check(&spec, ""), [Create(0)]);
        assert_eq!(check(&spec, "s"), []);
        assert_eq!(check(&spec, "u"), [Create(1)]);
        assert_eq!(check(&spec, "-uu"), [Create(0)]);
        assert_eq!(check(&spec, "ueu"), [Delete(1)]);
        assert_eq!(check(&spec, "ugu"), []);
        assert_eq!(check(&spec, "uuuuu"), [Delete(4)]);
        assert_eq!(check(&spec, "uuuug"), []);
        assert_eq!(check(&spec, "uuu"), []);
        let parallel = json!({"replicas": 3, "podManagementPolicy": "Parallel"});
        assert_eq!(check(&parallel, "s"), [Create(1), Create(2)]);
        assert_eq!(check(&parallel, "uuusu"), [Delete(4), Delete(3)]);
    }

    #[test]
    fn a_roll_out_goes_down_from_the_last_as_far_as_its_partition() {
        use Step::Delete;
        let spec = json!({"replicas": 3});
        assert_eq!(check(&spec, "ooo"), [Delete(2)]);
        assert_eq!(check(&spec, "oou"), [Delete(1)]);
        assert_eq!(check(&spec, "oos"), []);
        let part = json!({"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 2}}});
        assert_eq!(check(&part, "oou"), []);
        let late = json!({
            "replicas": 1,
            "ordinals": {"start": 2},
            "updateStrategy": {"rollingUpdate": {"partition": 1}},
        });
        assert_eq!(check(&late, "--o"), [], "partitions count from the start");
        let manual = json!({"replicas": 3, "updateStrategy": {"type": "OnDelete"}});
        assert_eq!(check(&manual, "ooo"), []);
    }
}
