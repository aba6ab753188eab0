//! Tests of requests to sign certificates.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{certificate_signing_request::KIND, subject::organizations};
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

#[test]
fn organizations_are_read_from_requests() {
    let request = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIdU1JR1ZBZ0VBTURNeEREQUtCZ05WQkFvTUEyUmxkakVYTUJV\
        R0ExVUVDZ3dPYzNsemRHVnRPbTFoYzNSbApjbk14Q2pBSUJnTlZCQU1NQVdvd1dUQVRCZ2NxaGtqT1BRSUJCZ2dxaGtqT1BRTUJC\
        d05DQUFRanlCTDYvU1p2Cnlic3hnRTBKZmN3VktncEgwVFJnSFBlV2M4Qkx5MGR1YUxrMmduTGRGTnE3T0lkaS8zWXljMGo1cWRG\
        ZmpPUWsKcklYbzhub3YrSWVUb0FBd0NnWUlLb1pJemowRUF3SURTQUF3UlFJaEFLUjJUZlZFQmhqMWRYN0xYcHBiRUZwcQp5bHpm\
        RkVBRUlSYU5xbUwwcEhCN0FpQTJYQVFnVHFjT2NweW80VlRoRjBJT1BxdzQ3TUhQazRCeFVSWkNHUUpICk9RPT0KLS0tLS1FTkQg\
        Q0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";
    assert_eq!(organizations(request), ["dev", "system:masters"]);
    let cut = &request[..400];
    assert_eq!(organizations(cut), [""; 0]);
    assert_eq!(organizations("?"), [""; 0]);
}
