//! Tests of the group.

use serde_json::{Value, json};

use super::{device_class, resource_claim, resource_claim_template, resource_slice};
use crate::testing::{check, check_update, defaulted, update_findings, warnings};

const NO_CLASS: &str = "spec.devices.requests[0].exactly.deviceClassName: Required value";

fn claim(request: &Value) -> Value {
    json!({
        "metadata": {"name": "c", "namespace": "n"},
        "spec": {"devices": {"requests": [request]}},
    })
}

fn slice(devices: &Value) -> Value {
    json!({"metadata": {"name": "s"}, "spec": {
        "driver": "d.example.com",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "nodeName": "n",
        "devices": devices,
    }})
}

#[test]
fn requests_are_for_one_device_by_default() {
    let request = json!({"name": "r", "exactly": {"deviceClassName": "c"}});
    let claim = defaulted(&resource_claim::KIND, claim(&request));
    let request = &claim["spec"]["devices"]["requests"][0]["exactly"];
    assert_eq!(request["allocationMode"], "ExactCount");
    assert_eq!(request["count"], 1);
}

#[test]
fn claims_have_requests() {
    let good = json!({"name": "r", "exactly": {"deviceClassName": "c"}});
    check(&resource_claim::KIND, &claim(&good), &[]);
    for (request, expected) in [
        (json!({"name": "r", "exactly": {}}), NO_CLASS),
        (
            json!({"name": "r"}),
            "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
        ),
        (
            json!({"name": "r", "exactly": {"deviceClassName": "c", "count": -1}}),
            "spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero",
        ),
        (
            json!({"name": "r", "exactly": {"deviceClassName": "c", "allocationMode": "x"}}),
            "spec.devices.requests[0].exactly.allocationMode: Unsupported value: \"x\": supported values: \"All\", \
             \"ExactCount\"",
        ),
    ] {
        check(&resource_claim::KIND, &claim(&request), &[expected]);
    }
    let change = |claim: &mut Value| claim["spec"]["devices"]["requests"] = json!(null);
    let expected = "spec: Invalid value: {\"Devices\":{\"Requests\":null,\"Constraints\":null,\"Config\":null}}: \
                    field is immutable";
    check_update(&resource_claim::KIND, &claim(&good), change, &[expected]);
}

#[test]
fn statuses_name_allocated_devices() {
    let claim = claim(&json!({"name": "r", "exactly": {"deviceClassName": "c"}}));
    let device = json!({"driver": "d", "pool": "p", "device": "v"});
    let reserve = |claim: &mut Value| claim["status"] = json!({"devices": [device]});
    assert_eq!(
        update_findings(&resource_claim::KIND, "status", &claim, reserve),
        [
            "status.devices[0]: Invalid value: {\"Driver\":\"d\",\"Pool\":\"p\",\"Device\":\"v\",\"ShareID\":\"\"}: \
          must be an allocated device in the claim"
        ]
    );
    let allocate = |claim: &mut Value| {
        let mut result = device.clone();
        result["request"] = json!("r");
        claim["status"] = json!({
            "allocation": {"devices": {"results": [result]}},
            "devices": [device],
        });
    };
    let found = update_findings(&resource_claim::KIND, "status", &claim, allocate);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn templates_have_labels_and_annotations_only() {
    let template = json!({"metadata": {"name": "t", "namespace": "n"}, "spec": {
        "metadata": {"labels": {"a": "b"}, "name": "x"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}},
    }});
    check(
        &resource_claim_template::KIND,
        &template,
        &["spec.metadata.name: Forbidden: cannot be set"],
    );
}

#[test]
fn classes_have_selectors() {
    let class = |spec: Value| json!({"metadata": {"name": "c"}, "spec": spec});
    for (spec, expected) in [
        (
            json!({"selectors": [{}]}),
            "spec.selectors[0].cel: Required value",
        ),
        (
            json!({"config": [{}]}),
            "spec.config[0].opaque: Required value",
        ),
        (
            json!({"extendedResourceName": "cpu"}),
            "spec.extendedResourceName: Invalid value: \"cpu\": must be a valid extended resource name",
        ),
    ] {
        check(&device_class::KIND, &class(spec), &[expected]);
    }
    let good = json!({
        "selectors": [{"cel": {"expression": "device.driver == 'd.example.com'"}}],
        "extendedResourceName": "example.com/gpu",
    });
    check(&device_class::KIND, &class(good), &[]);
}

#[test]
fn expressions_read_devices_and_are_bools() {
    use super::expression::expression_problem;

    for (expression, expected) in [
        ("true", None),
        ("device.allowMultipleAllocations", None),
        (
            "1",
            Some("must evaluate to bool or the unknown type, not int"),
        ),
        (
            "null",
            Some("must evaluate to bool or the unknown type, not null_type"),
        ),
        (
            "x-1",
            Some(
                "compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x-1\n | ^",
            ),
        ),
    ] {
        let problem = expression_problem(expression);
        assert_eq!(problem.as_deref(), expected, "{expression}");
    }
}

#[test]
fn slices_have_nodes_and_devices() {
    let device = json!({"name": "d", "attributes": {"model": {"string": "m"}}});
    check(&resource_slice::KIND, &slice(&json!([device])), &[]);
    for (devices, expected) in [
        (
            json!([device, device]),
            "spec.devices[1]: Duplicate value: \"d\"",
        ),
        (
            json!([{"name": "d", "attributes": {"model": {}}}]),
            "spec.devices[0].attributes[model]: Invalid value: \"\": exactly one value must be specified",
        ),
        (
            json!([{"name": "d", "attributes": {"model": {"version": "1"}}}]),
            "spec.devices[0].attributes[model].version: Invalid value: \"1\": must be a string compatible with \
             semver.org spec 2.0.0",
        ),
        (
            json!([{"name": "d", "taints": [{"key": "k"}]}]),
            "spec.devices[0].taints[0].effect: Required value",
        ),
    ] {
        check(&resource_slice::KIND, &slice(&devices), &[expected]);
    }
    let change = |slice: &mut Value| slice["spec"]["pool"]["name"] = json!("q");
    check_update(
        &resource_slice::KIND,
        &slice(&json!([])),
        change,
        &["spec.pool.name: Invalid value: \"q\": field is immutable"],
    );
}

#[test]
fn shared_capacities_have_policies() {
    let device = |policy: Value| {
        let memory = json!({"value": "10Gi", "requestPolicy": policy});
        json!([{"name": "d", "allowMultipleAllocations": true, "capacity": {"memory": memory}}])
    };
    for (policy, expected) in [
        (
            json!({"validValues": ["1Gi"]}),
            "default: Required value: required when validValues is defined",
        ),
        (
            json!({"default": "1Gi", "validValues": ["20Gi", "1Gi"]}),
            "",
        ),
        (
            json!({"default": "1Gi", "validRange": {"min": "2Gi"}}),
            "validRange.min: Invalid value: \"1Gi\": default is less than min: 2Gi",
        ),
    ] {
        let found = crate::testing::findings(&resource_slice::KIND, &slice(&device(policy)));
        let path = "spec.devices[0].capacity[memory].requestPolicy.";
        if expected.is_empty() {
            assert_eq!(found.len(), 2, "{found:?}");
        } else {
            assert_eq!(found, [format!("{path}{expected}")]);
        }
    }
}

#[test]
fn uppercase_drivers_get_a_warning() {
    let mut slice = slice(&json!([]));
    slice["spec"]["driver"] = json!("D.example.com");
    assert_eq!(
        warnings(&resource_slice::KIND, &slice),
        [
            "spec.driver: driver names should be lowercase; \"D.example.com\" contains uppercase characters"
        ]
    );
}
