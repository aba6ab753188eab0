//! Tests of API services.

use serde_json::{Value, json};

use super::api_service::KIND;
use crate::kinds::testing::check;

#[test]
fn api_services_are_checked() {
    let service = |spec: Value| json!({"metadata": {"name": "v1.g"}, "spec": spec});
    check(
        &KIND,
        &service(json!({
            "group": "g", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
            "service": {"name": "s", "namespace": "n"},
        })),
        &[],
    );
    check(
        &KIND,
        &service(
            json!({"version": "v2", "groupPriorityMinimum": 20001, "versionPriority": 1, "caBundle": "AAEC"}),
        ),
        &[
            "metadata.name: Invalid value: \"v1.g\": must be `spec.version+\".\"+spec.group`: \"v2.\"",
            "spec.group: Required value: only v1 may have an empty group and it better be legacy kube",
            "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
            "spec.caBundle: Invalid value: \"3 bytes\": local APIServices may not have a caBundle",
        ],
    );
}
