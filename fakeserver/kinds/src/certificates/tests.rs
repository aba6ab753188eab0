//! Tests of requests to sign certificates.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{certificate_signing_request::KIND, subject::organizations};
use crate::testing::{check, findings, update_findings};

/// A request of the groups `dev` and `system:masters`, signed with ECDSA.
const REQUEST: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIdU1JR1ZBZ0VBTURNeEREQUtCZ05WQkFvTUEyUmxkakVYTUJV\
    R0ExVUVDZ3dPYzNsemRHVnRPbTFoYzNSbApjbk14Q2pBSUJnTlZCQU1NQVdvd1dUQVRCZ2NxaGtqT1BRSUJCZ2dxaGtqT1BRTUJC\
    d05DQUFRanlCTDYvU1p2Cnlic3hnRTBKZmN3VktncEgwVFJnSFBlV2M4Qkx5MGR1YUxrMmduTGRGTnE3T0lkaS8zWXljMGo1cWRG\
    ZmpPUWsKcklYbzhub3YrSWVUb0FBd0NnWUlLb1pJemowRUF3SURTQUF3UlFJaEFLUjJUZlZFQmhqMWRYN0xYcHBiRUZwcQp5bHpm\
    RkVBRUlSYU5xbUwwcEhCN0FpQTJYQVFnVHFjT2NweW80VlRoRjBJT1BxdzQ3TUhQazRCeFVSWkNHUUpICk9RPT0KLS0tLS1FTkQg\
    Q0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";

fn request() -> Value {
    json!({"metadata": {"name": "r"}, "spec": {
        "request": REQUEST, "signerName": "example.com/s", "usages": ["client auth"],
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
    assert_eq!(organizations(REQUEST), ["dev", "system:masters"]);
    let cut = &REQUEST[..400];
    assert_eq!(organizations(cut), [""; 0]);
    assert_eq!(organizations("?"), [""; 0]);
}

#[cfg(feature = "tls")]
#[test]
fn requests_are_signed_by_their_own_keys() {
    let pem = STANDARD.decode(REQUEST).unwrap();
    let mut block = pem::parse(pem).unwrap().into_contents();
    let encoded = |block: Vec<u8>| {
        let pem = pem::encode(&pem::Pem::new("CERTIFICATE REQUEST", block));
        STANDARD.encode(pem)
    };
    let why = |request: String| {
        let mut object = self::request();
        object["spec"]["request"] = json!(request);
        let found = findings(&KIND, &object);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].rsplit_once("\": ").unwrap().1.to_owned()
    };
    assert_eq!(
        why(encoded(block[..20].to_vec())),
        "asn1: syntax error: data truncated"
    );
    // A byte of the subject.
    block[24] ^= 1;
    assert_eq!(why(encoded(block)), "x509: ECDSA verification failure");
}

#[cfg(feature = "tls")]
#[test]
fn certificates_are_certificates() {
    let status = |certificate: &str| {
        let certificate = STANDARD.encode(certificate);
        update_findings(&KIND, "status", &request(), |request| {
            request["status"] = json!({"certificate": certificate});
        })
    };
    let block = |tag: &str| format!("-----BEGIN {tag}-----\nAAEC\n-----END {tag}-----\n");
    let place = "status.certificate: Invalid value: \"<certificate data>\": ";
    for (certificate, why) in [
        (
            block("KEY"),
            "only CERTIFICATE PEM blocks are allowed, found \"KEY\"",
        ),
        (block("CERTIFICATE"), "x509: malformed certificate"),
        (
            String::from("x"),
            "must contain at least one CERTIFICATE PEM block",
        ),
    ] {
        assert_eq!(status(&certificate), [format!("{place}{why}")]);
    }
}
