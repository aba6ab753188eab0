//! Validation of requests to sign certificates.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver_value::{
    field::Field,
    findings::Findings,
    names::{dns_label_problems, subdomain_problems},
};
use serde_json::json;

use super::signature;
use crate::{Validation, formats::CONDITION_STATUSES};

const EXPIRATION_SECONDS_MIN: i64 = 600;
const DOMAIN_MAX_BYTES: usize = 253;
const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";

/// The conditions that are true or absent.
const TRUE_CONDITIONS: [&str; 3] = ["Approved", "Denied", "Failed"];

const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// The checks of requests to sign certificates.
pub(super) const VALIDATION: Validation =
    Validation::new(check, |old, new, found| check_update("", old, new, found)).with(&[
        ("status", |old, new, found| {
            check_update("status", old, new, found);
        }),
        ("approval", |old, new, found| {
            check_update("approval", old, new, found);
        }),
    ]);

fn check(request: &Field<'_>, found: &mut Findings) {
    let spec = request.at("spec");
    let request_pem = spec.at("request");
    if let Some(problem) = request_problem(&decoded(&request_pem)) {
        found.invalid(&request_pem, &problem);
    }
    check_usages(&spec.at("usages"), found);
    check_signer(&spec.at("signerName"), found);
    let expiration = spec.at("expirationSeconds");
    if expiration.is_set() && expiration.number() < EXPIRATION_SECONDS_MIN {
        let why = "may not specify a duration less than 600 seconds (10 minutes)";
        found.invalid(&expiration, why);
    }
    check_conditions(&request.at("status").at("conditions"), found);
}

fn check_update(subresource: &str, old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let certificate = new.at("status").at("certificate");
    let has_changed = decoded(&certificate) != decoded(&old.at("status").at("certificate"));
    if has_changed
        && certificate.has_text()
        && let Some(problem) = certificate_problem(&decoded(&certificate))
    {
        found.invalid_as(&certificate, &json!("<certificate data>"), &problem);
    }
    let conditions = new.at("status").at("conditions");
    let of = |request: &Field<'_>, kind: &str| -> Vec<serde_json::Value> {
        let conditions = request.at("status").at("conditions");
        let own = conditions
            .items()
            .filter(|one| one.at("type").text() == kind);
        own.map(|condition| condition.value().clone()).collect()
    };
    for kind in TRUE_CONDITIONS {
        if of(new, kind).len() < of(old, kind).len() {
            let why = format!("updates may not remove a condition of type {kind:?}");
            found.forbidden(&conditions, &why);
        }
    }
    for kind in ["Approved", "Denied"] {
        if subresource != "approval" && of(new, kind).len() > of(old, kind).len() {
            let why = format!("updates may not add a condition of type {kind:?}");
            found.forbidden(&conditions, &why);
        }
    }
    if has_changed && subresource != "status" {
        found.forbidden(&certificate, "updates may not set certificate content");
    } else if has_changed && old.at("status").at("certificate").has_text() {
        let why = "updates may not modify existing certificate content";
        found.forbidden(&certificate, why);
    }
}

fn decoded(field: &Field<'_>) -> Vec<u8> {
    STANDARD.decode(field.text()).unwrap_or_default()
}

/// Returns the problem of a request in PEM.
fn request_problem(request: &[u8]) -> Option<String> {
    match pem::parse(request) {
        Ok(block) if block.tag() == "CERTIFICATE REQUEST" => {
            signature::request_problem(block.contents())
        }
        _ => Some("PEM block type must be CERTIFICATE REQUEST".to_owned()),
    }
}

/// Returns the problem of certificates in PEM.
fn certificate_problem(certificates: &[u8]) -> Option<String> {
    let blocks = pem::parse_many(certificates).unwrap_or_default();
    if blocks.is_empty() {
        return Some("must contain at least one CERTIFICATE PEM block".to_owned());
    }
    blocks.iter().find_map(|block| {
        if block.tag() != "CERTIFICATE" {
            let tag = block.tag();
            let why = format!("only CERTIFICATE PEM blocks are allowed, found {tag:?}");
            return Some(why);
        }
        if block.headers().iter().next().is_some() {
            return Some("no PEM block headers are permitted".to_owned());
        }
        signature::certificates_problem(block.contents()).map(ToOwned::to_owned)
    })
}

fn check_usages(usages: &Field<'_>, found: &mut Findings) {
    if usages.is_empty() {
        found.required(usages, "");
    }
    for usage in usages.items() {
        found.optional_one_of(&usage, &USAGES);
    }
    let mut seen = BTreeSet::new();
    for usage in usages.items() {
        if !seen.insert(usage.text()) {
            found.duplicate(&usage);
        }
    }
}

fn check_signer(signer: &Field<'_>, found: &mut Findings) {
    if !signer.has_text() {
        return found.required(signer, "");
    }
    if signer.text() == LEGACY_SIGNER {
        let why = "the legacy signerName is not allowed via this API version";
        return found.invalid(signer, why);
    }
    check_signer_name(signer, found);
}

/// Checks the name of a signer, which has to be there.
pub(super) fn check_signer_name(signer: &Field<'_>, found: &mut Findings) {
    if !signer.has_text() {
        return found.required(signer, "");
    }
    let parts = signer.text().split_once('/');
    let Some((domain, path)) = parts.filter(|(_, path)| !path.contains('/')) else {
        let why = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return found.invalid(signer, why);
    };
    if domain.len() > DOMAIN_MAX_BYTES {
        found.too_long(signer, DOMAIN_MAX_BYTES);
    }
    check_part(signer, domain, dns_label_problems, found);
    if !domain.contains('.') {
        let why = "should be a domain with at least two segments separated by dots";
        found.invalid_as(signer, &json!(domain), why);
    }
    check_part(signer, path, subdomain_problems, found);
}

/// Adds the problems of the first label of a part that has any.
fn check_part(
    signer: &Field<'_>,
    part: &str,
    problems: fn(&str) -> Vec<String>,
    found: &mut Findings,
) {
    let mut labels = part.split('.');
    if let Some(label) = labels.find(|label| !problems(label).is_empty()) {
        for problem in problems(label) {
            let why = format!("validating label {label:?}: {problem}");
            found.invalid_as(signer, &json!(part), &why);
        }
    }
}

fn check_conditions(conditions: &Field<'_>, found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for condition in conditions.items() {
        let (kind, status) = (condition.at("type"), condition.at("status"));
        if !kind.has_text() {
            found.required(&kind, "");
        }
        if TRUE_CONDITIONS.contains(&kind.text()) {
            found.one_of(&status, &["True"]);
        } else {
            found.one_of(&status, &CONDITION_STATUSES);
        }
        let is_second = match kind.text() {
            "Approved" => seen.contains("Denied"),
            "Denied" => seen.contains("Approved"),
            _ => false,
        };
        if is_second {
            let why = "Approved and Denied conditions are mutually exclusive";
            found.invalid_as(conditions, kind.value(), why);
        }
        if !seen.insert(kind.text()) {
            found.duplicate_as(&kind, &json!(kind.text()));
        }
    }
}
