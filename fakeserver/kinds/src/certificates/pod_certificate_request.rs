//! Requests of kubelets for certificates of pods.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver_value::{
    edit::set_absent,
    field::Field,
    findings::Findings,
    names::subdomain_problems,
    read::{items, text},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{signature, validation::check_signer_name};
use crate::{
    Habits, Kind, PreservedMetadata, SelectableField, SelectableFields, Validation,
    formats::{check_annotations, check_conditions},
    table::cell::{Cells, labels, name},
};

const EXPIRATION_DEFAULT: i64 = 86_400;
const EXPIRATION_MIN: i64 = 3_600;
/// The longest time of the signers of Kubernetes.
const EXPIRATION_MAX_OF_KUBERNETES: i64 = 86_400;
const EXPIRATION_MAX: i64 = 91 * 86_400;
const UID_MAX_BYTES: usize = 128;
const REQUEST_MAX_BYTES: usize = 10 << 10;
const CHAIN_MAX_BYTES: usize = 100 << 10;
/// A refresh begins at least this many seconds after the beginning of a certificate, and before its end.
const REFRESH_MARGIN: i64 = 600;

/// The conditions that decide about a request, each for good.
const DECISIONS: [&str; 3] = ["Issued", "Denied", "Failed"];

/// Requests of kubelets for certificates of pods. Nothing of their specification changes.
pub static KIND: Kind = Kind::new("certificates.k8s.io", "podcertificaterequests")
    .habits(Habits {
        requires_version: true,
        kept_by_status: PreservedMetadata::ALL,
        ..Habits::COMMON
    })
    .defaults(|request| {
        set_absent(
            &mut request["spec"],
            "maxExpirationSeconds",
            json!(EXPIRATION_DEFAULT),
        );
    })
    .validation(Validation::new(check, check_update).with(&[("status", check_status)]))
    .cells(cells)
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[
    SelectableField::new("spec.signerName", &["spec", "signerName"]),
    SelectableField::new("spec.podName", &["spec", "podName"]),
    SelectableField::new("spec.nodeName", &["spec", "nodeName"]),
]);

/// Keeps the decision about a request, and gives conditions the times of their transitions.
pub fn settle_conditions(now: &str, old: &Value, new: &mut Value) {
    let was = items(&old["status"]["conditions"]);
    let Some(conditions) = new["status"]["conditions"].as_array_mut() else {
        return;
    };
    for condition in conditions {
        let same = was.iter().find(|old| old["type"] == condition["type"]);
        if let Some(same) = same
            && DECISIONS.contains(&text(&same["type"]))
        {
            *condition = same.clone();
        } else if condition["lastTransitionTime"].is_null() {
            condition["lastTransitionTime"] = json!(now);
        }
    }
}

// === Validation ===

fn check(request: &Field<'_>, found: &mut Findings) {
    let spec = request.at("spec");
    let signer = spec.at("signerName");
    check_signer_name(&signer, found);
    let annotations = spec.at("unverifiedUserAnnotations");
    check_annotations(&annotations, found);
    for (key, _) in annotations.entries().filter(|(key, _)| !key.contains('/')) {
        found.invalid_as(&annotations, &json!(key), "must be a domain-prefixed key");
    }
    for (subject, uid) in [
        ("podName", "podUID"),
        ("serviceAccountName", "serviceAccountUID"),
        ("nodeName", "nodeUID"),
    ] {
        let (subject, uid) = (spec.at(subject), spec.at(uid));
        for problem in subdomain_problems(subject.text()) {
            found.invalid_as(&subject, &json!(subject.text()), &problem);
        }
        if !uid.has_text() {
            found.invalid_as(&uid, &json!(""), "must not be empty");
        } else if uid.text().len() > UID_MAX_BYTES {
            found.too_long(&uid, UID_MAX_BYTES);
        }
    }
    check_expiration(&signer, &spec.at("maxExpirationSeconds"), found);
    check_request(&spec.at("stubPKCS10Request"), found);
}

fn check_expiration(signer: &Field<'_>, expiration: &Field<'_>, found: &mut Findings) {
    let domain = signer.text().split('/').next().unwrap_or_default();
    let is_of_kubernetes = domain == "kubernetes.io" || domain.ends_with(".kubernetes.io");
    let max = if is_of_kubernetes {
        EXPIRATION_MAX_OF_KUBERNETES
    } else {
        EXPIRATION_MAX
    };
    if !(EXPIRATION_MIN..=max).contains(&expiration.number()) {
        let why = format!("must be in the range [{EXPIRATION_MIN}, {max}]");
        found.invalid(expiration, &why);
    }
}

fn check_request(request: &Field<'_>, found: &mut Findings) {
    let der = STANDARD.decode(request.text()).unwrap_or_default();
    if der.len() > REQUEST_MAX_BYTES {
        return found.too_long(request, REQUEST_MAX_BYTES);
    }
    if der.is_empty() {
        return found.required(request, "");
    }
    if let Some(problem) = signature::request_problem(&der) {
        let why = format!("must be a valid PKCS#10 certificate signing request: {problem}");
        found.invalid_as(request, &json!("<value omitted>"), &why);
    }
}

fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    found.immutable(&new.at("spec"), &old.at("spec"));
}

fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (status, before) = (new.at("status"), found.count());
    let mut decisions = 0;
    for condition in status.at("conditions").items() {
        let kind = condition.at("type");
        if !DECISIONS.contains(&kind.text()) {
            found.not_supported(&kind, &DECISIONS);
            continue;
        }
        decisions += 1;
        if decisions > 1 {
            let why = "There may be at most one condition with type \"Issued\", \"Denied\", or \"Failed\"";
            found.invalid(&kind, why);
        }
        found.one_of(&condition.at("status"), &["True"]);
    }
    check_conditions(&status.at("conditions"), found);
    if found.count() > before {
        return;
    }
    let is_unchanged = status.value() == old.at("status").value();
    match (decision(old), decision(new)) {
        (Some(_), _) if !is_unchanged => {
            let why = "immutable after PodCertificateRequest is issued, denied, or failed";
            found.invalid_as(&status, &Value::Null, why);
        }
        (None, Some("Issued")) => check_issued(new, found),
        (None, Some(_)) => {
            let fields = status.value().as_object().into_iter().flatten();
            if fields.into_iter().any(|(field, _)| field != "conditions") {
                let why = "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
                found.invalid_as(&status, &Value::Null, why);
            }
        }
        (None, None) if !is_unchanged => {
            let why =
                "status is immutable unless transitioning to \"Issued\", \"Denied\", or \"Failed\"";
            found.invalid_as(&status, &Value::Null, why);
        }
        (Some(_), _) | (None, None) => {}
    }
}

/// Returns the decision about a request.
fn decision<'a>(request: &Field<'a>) -> Option<&'a str> {
    let conditions = items(&request.at("status").value()["conditions"]).iter();
    let mut kinds = conditions.map(|condition| text(&condition["type"]));
    kinds.find(|kind| DECISIONS.contains(kind))
}

/// Checks a certificate, the first of its chain, and the times that go with it.
fn check_issued(request: &Field<'_>, found: &mut Findings) {
    let status = request.at("status");
    let chain = status.at("certificateChain");
    if chain.text().len() > CHAIN_MAX_BYTES {
        return found.too_long(&chain, CHAIN_MAX_BYTES);
    }
    let blocks = pem::parse_many(chain.text()).unwrap_or_default();
    let Some(leaf) = blocks.first() else {
        let why = "issued certificate chain must contain at least one certificate";
        return found.invalid(&chain, why);
    };
    if blocks.iter().any(|block| block.tag() != "CERTIFICATE") {
        let why = "issued certificate chain must consist entirely of CERTIFICATE PEM blocks";
        return found.invalid(&chain, why);
    }
    if signature::certificates_problem(leaf.contents()).is_some() {
        let why = "leaf certificate does not parse as valid X.509";
        return found.invalid(&chain, why);
    }
    let (begin, end, refresh) = (
        status.at("notBefore"),
        status.at("notAfter"),
        status.at("beginRefreshAt"),
    );
    let before = found.count();
    for time in [&begin, &end] {
        if !time.is_set() {
            let why = "must be present and consistent with the issued certificate";
            found.required(time, why);
        }
    }
    if !refresh.is_set() {
        let why = "must be present and in the range [notbefore+10min, notafter-10min]";
        found.required(&refresh, why);
    }
    if found.count() == before {
        check_times(request, leaf.contents(), [&begin, &end, &refresh], found);
    }
}

fn check_times(
    request: &Field<'_>,
    leaf: &[u8],
    [begin, end, refresh]: [&Field<'_>; 3],
    found: &mut Findings,
) {
    let chain = request.at("status").at("certificateChain");
    let longest = request.at("spec").at("maxExpirationSeconds").number();
    let (from, to) = (seconds(begin), seconds(end));
    if let Some((not_before, not_after)) = signature::validity(leaf) {
        if from != not_before {
            let why = "must be set to the NotBefore time encoded in the leaf certificate";
            return found.invalid(begin, why);
        }
        if to != not_after {
            let why = "must be set to the NotAfter time encoded in the leaf certificate";
            return found.invalid(end, why);
        }
    }
    if to - from < EXPIRATION_MIN {
        found.invalid(&chain, "leaf certificate lifetime must be >= 1 hour");
    } else if to - from > longest {
        let why =
            format!("leaf certificate lifetime must be <= spec.maxExpirationSeconds ({longest})");
        found.invalid(&chain, &why);
    } else if seconds(refresh) < from + REFRESH_MARGIN {
        found.invalid(
            refresh,
            "must be at least 10 minutes after status.notBefore",
        );
    } else if seconds(refresh) > to - REFRESH_MARGIN {
        found.invalid(
            refresh,
            "must be at least 10 minutes before status.notAfter",
        );
    }
}

fn seconds(time: &Field<'_>) -> i64 {
    let time: Result<Timestamp, _> = time.text().parse();
    time.map_or(0, Timestamp::as_second)
}

// === Cells ===

fn cells(object: &Value, _: Timestamp) -> Cells {
    let spec = &object["spec"];
    let conditions = items(&object["status"]["conditions"]).iter();
    let mut kinds = conditions.map(|condition| text(&condition["type"]));
    let state = kinds.find(|kind| DECISIONS.contains(kind));
    vec![
        json!(name(object)),
        spec["podName"].clone(),
        spec["serviceAccountName"].clone(),
        spec["nodeName"].clone(),
        spec["signerName"].clone(),
        json!(state.unwrap_or("Pending")),
        json!(labels(&spec["unverifiedUserAnnotations"])),
    ]
}
