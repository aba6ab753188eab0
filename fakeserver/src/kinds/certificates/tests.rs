//! Tests of requests to sign certificates.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::certificate_signing_request::KIND;
use crate::kinds::testing::{check, update_findings};

fn request() -> Value {
    let pem = "-----BEGIN CERTIFICATE REQUEST-----\nAAEC\n-----END CERTIFICATE REQUEST-----\n";
    json!({"metadata": {"name": "r"}, "spec": {
        "request": STANDARD.encode(pem), "signerName": "example.com/s", "usages": ["client auth"],
    }})
}

#[test]
fn requests_are_checked() {
    check(&KIND, &request(), &[]);
    check(
        &KIND,
        &json!({"spec": {"signerName": "a/b/c", "expirationSeconds": 1}}),
        &[
            "spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST",
            "spec.usages: Required value",
            "spec.signerName: Invalid value: \"a/b/c\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
            "spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 600 seconds (10 minutes)",
        ],
    );
}

#[test]
fn a_status_approves_nothing() {
    let found = update_findings(&KIND, "status", &request(), |request| {
        request["status"] = json!({
            "conditions": [{"type": "Approved", "status": "True"}], "certificate": "AAEC",
        });
    });
    assert_eq!(
        found,
        [
            "status.certificate: Invalid value: \"<certificate data>\": must contain at least one CERTIFICATE PEM block",
            "status.conditions: Forbidden: updates may not add a condition of type \"Approved\"",
        ]
    );
}
