//! Tests of the decision about certificate signing requests.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver_kinds::certificates::authority::{Authority, Terms};
use jiff::{SignedDuration, Timestamp};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};
use serde_json::{Value, json};

use super::decision::{Decision, Right, Step, decide};

const CLIENT: &str = "kubernetes.io/kube-apiserver-client";
const KUBELET_CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const KUBELET_SERVING: &str = "kubernetes.io/kubelet-serving";
const OF_KUBELETS: [&str; 2] = ["digital signature", "client auth"];
const OF_SERVERS: [&str; 3] = ["server auth", "key encipherment", "digital signature"];
const CREATED: &str = "2026-01-01T00:00:00Z";

/// A request for a certificate with this subject and these alternative names.
fn pem(name: &str, organization: &str, names: &[SanType]) -> String {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    let subject = &mut params.distinguished_name;
    subject.push(DnType::OrganizationName, organization);
    subject.push(DnType::CommonName, name);
    params.subject_alt_names = names.to_vec();
    let key = KeyPair::generate().unwrap();
    STANDARD.encode(params.serialize_request(&key).unwrap().pem().unwrap())
}

fn dns(name: &str) -> SanType {
    SanType::DnsName(name.try_into().unwrap())
}

fn request(signer: &str, pem: &str, usages: &[&str], conditions: &[&str]) -> Value {
    let conditions = conditions
        .iter()
        .map(|kind| json!({"type": kind, "status": "True", "lastUpdateTime": CREATED}));
    json!({
        "metadata": {"name": "r", "creationTimestamp": CREATED},
        "spec": {
            "request": pem, "signerName": signer, "usages": usages, "username": "system:node:n",
        },
        "status": {"conditions": conditions.collect::<Vec<_>>()},
    })
}

fn after(seconds: i64) -> Timestamp {
    let created: Timestamp = CREATED.parse().unwrap();
    created + SignedDuration::from_secs(seconds)
}

/// The step for a request to which nobody has a right.
fn step(request: &Value) -> Step {
    decide(request, after(1), |_| false).step
}

/// A request for a signer that is approved, and the message with which it fails, if it does.
type Row<'a> = (&'a str, &'a str, &'a [&'a str], &'a str);

fn check(table: &[Row<'_>]) {
    for (signer, pem, usages, message) in table {
        let found = step(&request(signer, pem, usages, &["Approved"]));
        match *message {
            "" => assert!(
                matches!(found, Step::Sign(..)),
                "{signer}, {usages:?}: {found:?}"
            ),
            message => assert_eq!(found, Step::Fail(message.to_owned())),
        }
    }
}

#[test]
fn requests_of_clients_fit_their_usages() {
    let plain = pem("jane", "devs", &[]);
    let invalid = "invalid usage for client certificate: server auth";
    let missing = "missing required usage for client certificate: client auth";
    check(&[
        (CLIENT, &plain, &["client auth", "key encipherment"], ""),
        (CLIENT, &plain, &["client auth", "server auth"], invalid),
        (CLIENT, &plain, &["digital signature"], missing),
        ("kubernetes.io/legacy-unknown", &plain, &["any"], ""),
    ]);
}

#[test]
fn requests_of_kubelets_that_are_clients_fit_their_names_and_usages() {
    let (node, nodes) = ("system:node:n", "system:nodes");
    let with = |name: SanType| pem(node, nodes, &[name]);
    let email = with(SanType::Rfc822Name("a@b".try_into().unwrap()));
    let uri = with(SanType::URI("spiffe://b".try_into().unwrap()));
    let address = with(SanType::IpAddress([10, 0, 0, 1].into()));
    let usages = "usages did not match [client auth digital signature key encipherment]";
    let organization = pem(node, "nodes", &[]);
    let name = pem("n", nodes, &[]);
    let table = [
        (&pem(node, nodes, &[]), ""),
        (&organization, "subject organization is not system:nodes"),
        (
            &name,
            "subject common name does not begin with system:node:",
        ),
        (&with(dns("n")), "DNS subjectAltNames are not allowed"),
        (&email, "Email subjectAltNames are not allowed"),
        (&address, "IP subjectAltNames are not allowed"),
        (&uri, "URI subjectAltNames are not allowed"),
    ];
    for (pem, message) in table {
        check(&[(KUBELET_CLIENT, pem, &OF_KUBELETS, message)]);
    }
    check(&[(
        KUBELET_CLIENT,
        &pem(node, nodes, &[]),
        &["client auth"],
        usages,
    )]);
}

#[test]
fn requests_of_kubelets_that_serve_fit_their_names_and_usages() {
    let (node, nodes) = ("system:node:n", "system:nodes");
    let with = |name: SanType| pem(node, nodes, &[dns("n"), name]);
    let email = with(SanType::Rfc822Name("a@b".try_into().unwrap()));
    let uri = with(SanType::URI("spiffe://b".try_into().unwrap()));
    let usages = "usages did not match [digital signature key encipherment server auth]";
    let named = pem(node, nodes, &[dns("n")]);
    let name = pem("n", nodes, &[dns("n")]);
    let table = [
        (&named, ""),
        (
            &pem(node, nodes, &[]),
            "DNS or IP subjectAltName is required",
        ),
        (&email, "Email subjectAltNames are not allowed"),
        (&uri, "URI subjectAltNames are not allowed"),
        (
            &name,
            "subject common name does not begin with system:node:",
        ),
    ];
    for (pem, message) in table {
        check(&[(KUBELET_SERVING, pem, &OF_SERVERS, message)]);
    }
    check(&[(KUBELET_SERVING, &named, &OF_SERVERS[..1], usages)]);
}

#[test]
fn only_approved_requests_of_known_signers_are_signed() {
    let pem = pem("jane", "devs", &[]);
    let usages = ["client auth"];
    let table: [(&str, &[&str], bool); 6] = [
        (CLIENT, &["Approved"], true),
        (CLIENT, &[], false),
        (CLIENT, &["Denied"], false),
        (CLIENT, &["Approved", "Denied"], false),
        (CLIENT, &["Approved", "Failed"], false),
        ("example.com/signer", &["Approved"], false),
    ];
    for (signer, conditions, is_signed) in table {
        let found = step(&request(signer, &pem, &usages, conditions));
        assert_eq!(matches!(found, Step::Sign(..)), is_signed, "{conditions:?}");
        assert!(is_signed || found == Step::Nothing);
    }
    let mut signed = request(CLIENT, &pem, &usages, &["Approved"]);
    signed["status"]["certificate"] = json!("AAEC");
    assert_eq!(step(&signed), Step::Nothing);
    assert_eq!(
        step(&request(CLIENT, "AAEC", &usages, &["Approved"])),
        Step::Nothing
    );
}

#[test]
fn certificates_have_the_requested_validity_within_limits() {
    let pem = pem("jane", "devs", &[]);
    let hour = 3_600;
    let table = [
        (None, 365 * 24 * hour - 300),
        (Some(400 * 24 * hour), 365 * 24 * hour - 300),
        (Some(8 * hour), 8 * hour - 300),
        (Some(8 * hour - 1), 8 * hour - 1),
        (Some(hour), hour),
        (Some(60), 600),
    ];
    for (requested_seconds, seconds) in table {
        let mut request = request(CLIENT, &pem, &["client auth"], &["Approved"]);
        request["spec"]["expirationSeconds"] = json!(requested_seconds);
        let Step::Sign(_, terms) = decide(&request, after(0), |_| false).step else {
            panic!("{requested_seconds:?} is not signed");
        };
        let Terms {
            not_before,
            not_after,
            ..
        } = terms;
        assert_eq!(
            (not_before, not_after),
            (after(-300), after(seconds)),
            "{requested_seconds:?}"
        );
    }
}

#[test]
fn requests_of_kubelets_are_approved_by_right() {
    let table: [(&str, &[Right], Option<&str>); 4] = [
        ("system:node:n", &[], None),
        (
            "system:node:n",
            &[Right::SelfNodeClient],
            Some("self kubelet client"),
        ),
        (
            "system:node:n",
            &[Right::NodeClient],
            Some("approving kubelet client"),
        ),
        ("system:node:other", &[Right::SelfNodeClient], None),
    ];
    for (name, rights, message) in table {
        let pem = pem(name, "system:nodes", &[]);
        let request = request(KUBELET_CLIENT, &pem, &OF_KUBELETS, &[]);
        let found = decide(&request, after(1), |right| rights.contains(&right)).step;
        match (found, message) {
            (Step::Approve(found), Some(message)) => assert!(found.contains(message), "{found}"),
            (Step::Postpone, None) => {}
            (found, _) => panic!("{name}, {rights:?}: {found:?}"),
        }
    }
    let others = [
        request(
            CLIENT,
            &pem("system:node:n", "system:nodes", &[]),
            &OF_KUBELETS,
            &[],
        ),
        request(
            KUBELET_CLIENT,
            &pem("n", "system:nodes", &[]),
            &OF_KUBELETS,
            &[],
        ),
    ];
    for other in others {
        assert_eq!(decide(&other, after(1), |_| true).step, Step::Nothing);
    }
}

#[test]
fn requests_are_deleted_when_they_are_too_old() {
    let pem = pem("jane", "devs", &[]);
    let (hour, day) = (3_600, 86_400);
    let table: [(&[&str], i64); 5] = [
        (&[], day),
        (&["Approved"], day),
        (&["Denied"], hour),
        (&["Failed"], hour),
        (&["Approved", "Failed"], hour),
    ];
    for (conditions, seconds) in table {
        let request = request("example.com/signer", &pem, &["client auth"], conditions);
        let at = |seconds| decide(&request, after(seconds), |_| false);
        let wait = Some(Duration::from_millis(1));
        assert_eq!(
            at(seconds),
            Decision {
                step: Step::Nothing,
                again: wait
            }
        );
        assert_eq!(at(seconds + 1).step, Step::Delete, "{conditions:?}");
    }
}

#[test]
fn requests_are_deleted_an_hour_after_their_approval_or_when_their_certificates_end() {
    let pem = pem("jane", "devs", &[]);
    for (requested_seconds, seconds) in [(600, 600), (7_200, 3_600)] {
        let mut request = request(CLIENT, &pem, &["client auth"], &["Approved"]);
        request["spec"]["expirationSeconds"] = json!(requested_seconds);
        let Step::Sign(read, terms) = decide(&request, after(0), |_| false).step else {
            panic!("{requested_seconds} is not signed");
        };
        let certificate = Authority::new().unwrap().sign(&read, &terms, 7).unwrap();
        request["status"]["certificate"] = json!(STANDARD.encode(certificate));
        let at = |seconds| decide(&request, after(seconds), |_| false).step;
        assert_eq!(at(seconds), Step::Nothing, "{requested_seconds}");
        assert_eq!(at(seconds + 1), Step::Delete, "{requested_seconds}");
    }
}
