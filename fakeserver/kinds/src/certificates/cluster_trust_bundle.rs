//! Certificates of authorities that pods trust.

use std::collections::BTreeMap;

use fakeserver_value::{field::Field, findings::Findings, names::subdomain_problems};
use serde_json::{Value, json};

use super::{signature, validation::check_signer_name};
use crate::{
    Habits, Kind, SelectableField, SelectableFields, Validation,
    table::cell::{NONE, name, text_or},
};

const BUNDLE_MAX_BYTES: usize = 1 << 20;

/// Certificates of authorities that pods trust. The signer is a part of the name, so that names follow rules of their own.
pub static KIND: Kind = Kind::new("certificates.k8s.io", "clustertrustbundles")
    .habits(Habits {
        requires_version: true,
        ..Habits::COMMON
    })
    .names(|_| Vec::new())
    .validation(Validation::new(check, check_update))
    .cells(|object, _| {
        let signer = text_or(&object["spec"]["signerName"], NONE);
        vec![json!(name(object)), json!(signer)]
    })
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[SelectableField::new(
    "spec.signerName",
    &["spec", "signerName"],
)]);

fn check(bundle: &Field<'_>, found: &mut Findings) {
    check_names(bundle, found);
    check_certificates(&bundle.at("spec").at("trustBundle"), found);
}

/// Certificates that stay are not checked again.
fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_names(new, found);
    let certificates = |bundle: &Field<'_>| bundle.at("spec").at("trustBundle").text().to_owned();
    if certificates(old) != certificates(new) {
        check_certificates(&new.at("spec").at("trustBundle"), found);
    }
    let signer = |bundle: &Field<'_>| bundle.at("spec").get("signerName").clone();
    if signer(old) != signer(new) {
        found.invalid(&new.at("spec").at("signerName"), "field is immutable");
    }
}

/// Checks the name, which begins with that of the signer if there is one.
fn check_names(bundle: &Field<'_>, found: &mut Findings) {
    let (own, signer) = (
        bundle.at("metadata").at("name"),
        bundle.at("spec").at("signerName"),
    );
    if own.has_text() {
        found.problems(&own, name_problems(own.text(), signer.text()));
    }
    if signer.has_text() {
        check_signer_name(&signer, found);
    }
}

fn name_problems(name: &str, signer: &str) -> Vec<String> {
    if signer.is_empty() {
        if name.contains(':') {
            let why = "ClusterTrustBundle without signer name must not have \":\" in its name";
            return vec![why.to_owned()];
        }
        return subdomain_problems(name);
    }
    let prefix = format!("{}:", signer.replace('/', ":"));
    match name.strip_prefix(&prefix) {
        Some(rest) => subdomain_problems(rest),
        None => vec![format!(
            "ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"
        )],
    }
}

fn check_certificates(bundle: &Field<'_>, found: &mut Findings) {
    if bundle.text().len() > BUNDLE_MAX_BYTES {
        return found.too_long(bundle, BUNDLE_MAX_BYTES);
    }
    let blocks = pem::parse_many(bundle.text()).unwrap_or_default();
    let mut problems = Vec::new();
    let mut places: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (place, block) in blocks.iter().enumerate() {
        let problem = if block.tag() != "CERTIFICATE" {
            Some(format!("has bad block type: {}", block.tag()))
        } else if block.headers().iter().next().is_some() {
            Some("has PEM block headers".to_owned())
        } else {
            signature::authority_problem(block.contents()).map(ToOwned::to_owned)
        };
        match problem {
            Some(problem) => problems.push(format!("entry {place} {problem}")),
            None => places.entry(block.contents()).or_default().push(place),
        }
    }
    // What follows would only repeat it.
    if problems.is_empty() {
        if places.is_empty() {
            problems.push("at least one trust anchor must be provided".to_owned());
        }
        problems.extend(
            places
                .values()
                .filter(|places| places.len() > 1)
                .map(|places| {
                    let places: Vec<String> = places.iter().map(ToString::to_string).collect();
                    format!("duplicate trust anchor (indices [{}])", places.join(" "))
                }),
        );
    }
    for problem in problems {
        found.invalid_as(bundle, &Value::from("<value omitted>"), &problem);
    }
}
