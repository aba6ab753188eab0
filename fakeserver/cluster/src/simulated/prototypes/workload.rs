//! Deployments, replica sets, daemon sets, jobs and cron jobs.

use fakeserver_kinds::{apps, batch, registry::Registry};
use serde_json::{Value, json};

use super::{
    draft::{CONTROLLER_MANAGER, DEPLOYER, Draft},
    template::{Profile, template},
};
use crate::simulated::hole::Placeholder;

const HASH: &str = "pod-template-hash";
const NAME: &str = "app.kubernetes.io/name";

/// A deployment, as far as its rollout has come.
pub(super) fn deployment(registry: &Registry, profile: Profile) -> Draft<'_> {
    let deployment = json!({
        "metadata": {
            "labels": labels(),
            "annotations": {"meta.helm.sh/release-name": Placeholder::App.text()},
        },
        "spec": {
            "replicas": Placeholder::Replicas.number(),
            "selector": {"matchLabels": {NAME: Placeholder::App.text()}},
            "template": template(profile),
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
            },
        },
    });
    Draft::create(registry, &apps::deployment::KIND, DEPLOYER, deployment)
        .update(CONTROLLER_MANAGER, Placeholder::Ready, |deployment| {
            let revision = json!(Placeholder::Revision.text());
            deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = revision;
        })
        .set(set_generation)
        .update(CONTROLLER_MANAGER.of_status(), Placeholder::Ready, |deployment| {
            deployment["status"] = json!({
                "observedGeneration": Placeholder::Generation.number(),
                "replicas": Placeholder::Number.number(),
                "updatedReplicas": Placeholder::UpdatedReplicas.number(),
                "readyReplicas": Placeholder::ReadyReplicas.number(),
                "availableReplicas": Placeholder::ReadyReplicas.number(),
                "unavailableReplicas": Placeholder::MissingReplicas.number(),
                "conditions": [
                    condition("Available", "MinimumReplicasAvailable", "Deployment has minimum availability."),
                    condition("Progressing", "NewReplicaSetAvailable", &format!(
                        "ReplicaSet \"{}\" has successfully progressed.",
                        Placeholder::Owner.text(),
                    )),
                ],
            });
        })
}

/// A replica set of a deployment.
pub(super) fn replica_set(registry: &Registry, profile: Profile) -> Draft<'_> {
    let mut template = template(profile);
    template["metadata"]["labels"][HASH] = json!(Placeholder::Hash.text());
    let set = json!({
        "metadata": {
            "labels": template["metadata"]["labels"],
            "annotations": {
                "deployment.kubernetes.io/desired-replicas": Placeholder::Number.text(),
                "deployment.kubernetes.io/revision": Placeholder::Revision.text(),
            },
            "ownerReferences": [owner("apps/v1", "Deployment")],
        },
        "spec": {
            "replicas": Placeholder::Replicas.number(),
            "selector": {"matchLabels": {NAME: Placeholder::App.text(), HASH: Placeholder::Hash.text()}},
            "template": template,
        },
    });
    Draft::create(registry, &apps::replica_set::KIND, CONTROLLER_MANAGER, set)
        .set(set_generation)
        .update(CONTROLLER_MANAGER.of_status(), Placeholder::Ready, |set| {
            set["status"] = json!({
                "replicas": Placeholder::Pods.number(),
                "fullyLabeledReplicas": Placeholder::Pods.number(),
                "readyReplicas": Placeholder::ReadyReplicas.number(),
                "availableReplicas": Placeholder::ReadyReplicas.number(),
                "observedGeneration": Placeholder::Generation.number(),
            });
        })
}

/// Something that runs on every node.
pub(super) fn daemon_set(registry: &Registry) -> Draft<'_> {
    let set = json!({
        "metadata": {
            "labels": labels(),
            "annotations": {"deprecated.daemonset.template.generation": "1"},
        },
        "spec": {
            "selector": {"matchLabels": {NAME: Placeholder::App.text()}},
            "template": template(Profile::Agent),
        },
    });
    Draft::create(registry, &apps::daemon_set::KIND, DEPLOYER, set).update(
        CONTROLLER_MANAGER.of_status(),
        Placeholder::Ready,
        |set| {
            set["status"] = json!({
                "currentNumberScheduled": Placeholder::Pods.number(),
                "desiredNumberScheduled": Placeholder::Pods.number(),
                "numberMisscheduled": 0,
                "numberReady": Placeholder::ReadyReplicas.number(),
                "numberAvailable": Placeholder::ReadyReplicas.number(),
                "updatedNumberScheduled": Placeholder::Pods.number(),
                "observedGeneration": 1,
            });
        },
    )
}

/// Something that runs again and again.
pub(super) fn cron_job(registry: &Registry) -> Draft<'_> {
    let job = json!({
        "metadata": {"labels": labels()},
        "spec": {
            "schedule": "*/5 * * * *",
            "concurrencyPolicy": "Allow",
            "jobTemplate": {"spec": {"template": template(Profile::Batch)}},
        },
    });
    Draft::create(registry, &batch::cron_job::KIND, DEPLOYER, job).update(
        CONTROLLER_MANAGER.of_status(),
        Placeholder::Started,
        |job| job["status"]["lastScheduleTime"] = json!(Placeholder::Started.text()),
    )
}

/// A job that runs.
pub(super) fn running_job(registry: &Registry) -> Draft<'_> {
    let mut template = template(Profile::Batch);
    let labels = &mut template["metadata"]["labels"];
    labels["batch.kubernetes.io/job-name"] = json!(Placeholder::Name.text());
    labels["batch.kubernetes.io/controller-uid"] = json!(Placeholder::Uid.text());
    let job = json!({
        "metadata": {
            "labels": labels,
            "ownerReferences": [owner("batch/v1", "CronJob")],
        },
        "spec": {
            "parallelism": 1,
            "completions": 1,
            "backoffLimit": 6,
            "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": Placeholder::Uid.text()}},
            "template": template,
        },
    });
    Draft::create(registry, &batch::job::KIND, CONTROLLER_MANAGER, job).update(
        CONTROLLER_MANAGER.of_status(),
        Placeholder::Created,
        |job| {
            job["status"] = json!({
                "startTime": Placeholder::Created.text(),
                "active": 1,
                "ready": Placeholder::ReadyReplicas.number(),
                "uncountedTerminatedPods": {},
            });
        },
    )
}

/// A job that has succeeded.
pub(super) fn finished_job(registry: &Registry) -> Draft<'_> {
    running_job(registry).update(CONTROLLER_MANAGER.of_status(), Placeholder::Ended, |job| {
        let complete = |kind: &str| {
            json!({
                "type": kind,
                "status": "True",
                "lastProbeTime": Placeholder::Ended.text(),
                "lastTransitionTime": Placeholder::Ended.text(),
                "reason": "CompletionsReached",
                "message": "Reached expected number of succeeded pods",
            })
        };
        job["status"] = json!({
            "startTime": Placeholder::Created.text(),
            "completionTime": Placeholder::Ended.text(),
            "succeeded": 1,
            "ready": 0,
            "uncountedTerminatedPods": {},
            "conditions": [complete("SuccessCriteriaMet"), complete("Complete")],
        });
    })
}

fn labels() -> Value {
    let app = Placeholder::App.text();
    json!({
        NAME: app,
        "app.kubernetes.io/instance": app,
        "app.kubernetes.io/managed-by": "Helm",
    })
}

fn owner(api_version: &str, kind: &str) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "name": Placeholder::App.text(),
        "uid": Placeholder::OwnerUid.text(),
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

fn condition(kind: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": kind,
        "status": "True",
        "lastUpdateTime": Placeholder::Ready.text(),
        "lastTransitionTime": Placeholder::Created.text(),
        "reason": reason,
        "message": message,
    })
}

fn set_generation(object: &mut Value) {
    object["metadata"]["generation"] = json!(Placeholder::Generation.number());
}
