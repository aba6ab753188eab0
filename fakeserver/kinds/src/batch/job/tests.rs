//! Tests of jobs: preparation and updates.

use fakeserver_versions::KubernetesVersion;
use serde_json::json;

use super::KIND;
use crate::testing::{check_update, defaulted, findings, update_findings};

#[test]
fn a_job_counts_its_pods_by_its_uid() {
    let mut job = defaulted(
        &KIND,
        json!({"metadata": {"name": "j", "uid": "u"}, "spec": {"template": {"spec": {}}}}),
    );
    assert_eq!(
        (&job["spec"]["completions"], &job["spec"]["parallelism"]),
        (&json!(1), &json!(1))
    );
    KIND.prepare_create(KubernetesVersion::DEFAULT, &mut job);
    let labels = json!({
        "job-name": "j", "batch.kubernetes.io/job-name": "j",
        "controller-uid": "u", "batch.kubernetes.io/controller-uid": "u",
    });
    assert_eq!(job["spec"]["template"]["metadata"]["labels"], labels);
    assert_eq!(job["metadata"]["labels"], labels);
    let selector = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}});
    assert_eq!(job["spec"]["selector"], selector);
    let parallel = defaulted(&KIND, json!({"spec": {"parallelism": 3}}));
    assert!(parallel["spec"].get("completions").is_none());
}

#[test]
fn immutable_fields_of_jobs_stay() {
    let template = json!({
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"},
    });
    let job = json!({
        "metadata": {"name": "j"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template, "manualSelector": true},
    });
    assert_eq!(findings(&KIND, &job), [""; 0]);
    check_update(
        &KIND,
        &job,
        |job| job["spec"]["parallelism"] = json!(2),
        &[],
    );
    check_update(
        &KIND,
        &job,
        |job| job["spec"]["completions"] = json!(5),
        &["spec.completions: Invalid value: 5: field is immutable"],
    );
    let found = update_findings(&KIND, "", &job, |job| {
        job["spec"]["template"]["spec"]["containers"][0]["image"] = json!("other");
    });
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with(
        "spec.template: Invalid value: {\"labels\":{\"a\":\"b\"},\"Spec\":{\"Volumes\":null,"
    ));
    assert!(found[0].ends_with("}}: field is immutable"));
}

#[test]
fn indexes_are_read_and_compared() {
    use super::indexes::{first_common, indexes};

    assert_eq!(indexes("", 5), Ok(0));
    assert_eq!(indexes("0,2-4", 5), Ok(4));
    assert_eq!(
        indexes("3,1", 5),
        Err("non-increasing order, previous: 3, current: 1".to_owned())
    );
    assert_eq!(indexes("7", 5), Err("too large index: \"7\"".to_owned()));
    assert_eq!(
        indexes("x", 5),
        Err("cannot convert string to integer for index: \"x\"".to_owned())
    );
    assert_eq!(first_common("0,2-4", "1,3", 5), Some(3));
    assert_eq!(first_common("0", "1", 5), None);
}

#[test]
fn a_status_is_consistent() {
    let job =
        json!({"metadata": {"name": "j"}, "spec": {"completions": 3, "template": {"spec": {}}}});
    let found = update_findings(&KIND, "status", &job, |job| {
        job["status"] = json!({
            "active": 1, "ready": 2, "completionTime": "2026-01-01T00:00:00Z", "failedIndexes": "1",
            "conditions": [{"type": "Failed", "status": "True"}],
        });
    });
    assert_eq!(
        found,
        [
            "status.completionTime: Invalid value: \"2026-01-01T00:00:00Z\": cannot set completionTime when there is no \
             Complete=True condition",
            "status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition",
            "status.active: Invalid value: 1: active>0 is invalid for finished job",
            "status.startTime: Required value: startTime is required for finished job",
            "status.failedIndexes: Invalid value: \"1\": cannot set non-null failedIndexes when backoffLimitPerIndex is \
             null",
            "status.ready: Invalid value: 2: cannot set more ready pods than active",
        ]
    );
}
