//! Tests of limit ranges.

use serde_json::{Value, json};

use super::KIND;
use crate::testing::check;

#[test]
fn limits_of_a_range_are_in_order() {
    let range = |limits: Value| json!({"metadata": {"name": "r"}, "spec": {"limits": limits}});
    let good = json!([
        {"type": "Container", "min": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}, "default": {"cpu": "2"}, "max": {"cpu": "2"}},
        {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}},
    ]);
    check(&KIND, &range(good), &[]);
    let bad = json!([
        {"type": "Container", "default": {"cpu": "1"}, "max": {"cpu": "500m"}, "maxLimitRequestRatio": {"cpu": "0"}},
        {"type": "Pod", "default": {"cpu": "1"}},
        {"type": "Pod", "min": {"cpu": "2"}, "max": {"cpu": "1"}},
        {"type": "PersistentVolumeClaim"},
        {"type": "Tree"},
    ]);
    check(
        &KIND,
        &range(bad),
        &[
            "spec.limits[0].defaultRequest[cpu]: Invalid value: \"1\": default request value 1 is greater than max value 500m",
            "spec.limits[0].default[cpu]: Invalid value: \"500m\": default value 1 is greater than max value 500m",
            "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"0\": ratio 0 is less than 1",
            "spec.limits[1].default: Forbidden: may not be specified when `type` is 'Pod'",
            "spec.limits[2].type: Duplicate value: \"Pod\"",
            "spec.limits[2].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1",
            "spec.limits[3].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
            "spec.limits[4].type: Invalid value: \"Tree\": must be a standard limit type or fully qualified",
        ],
    );
}
