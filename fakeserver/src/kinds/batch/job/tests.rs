//! Tests of jobs: preparation and updates.

use serde_json::json;

use super::KIND;
use crate::kinds::testing::{check_update, defaulted, findings, update_findings};

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
    KIND.prepare_create(&mut job);
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
fn jobs_keep_what_they_do() {
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
