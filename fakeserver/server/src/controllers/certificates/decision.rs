//! The decision about one certificate signing request, given its state and the time.

use std::{collections::BTreeSet, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver_kinds::certificates::{
    authority::{Terms, expiry},
    request::CertificateRequest,
};
use fakeserver_value::read::text;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// The signer of certificates of kubelets as clients.
const KUBELET_CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";

/// The age of a decided request at which it is deleted.
const DECIDED: SignedDuration = SignedDuration::from_hours(1);
/// The age of a request without a decision, or without a certificate, at which it is deleted.
const PENDING: SignedDuration = SignedDuration::from_hours(24);

/// The maximum validity, and the default for requests that name none.
const VALIDITY: SignedDuration = SignedDuration::from_hours(365 * 24);
const VALIDITY_MIN: SignedDuration = SignedDuration::from_mins(10);
/// The time by which certificates are backdated, for clients whose clocks are slow.
const BACKDATED: SignedDuration = SignedDuration::from_mins(5);
/// Shorter certificates end when they are to, though they were backdated.
const SHORT: SignedDuration = SignedDuration::from_hours(8);

/// The next step for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Nothing,
    /// The requester does not have the right to an approval now.
    Postpone,
    /// The request is too old.
    Delete,
    /// With a message.
    Approve(&'static str),
    Sign(Box<CertificateRequest>, Terms),
    /// With a message.
    Fail(String),
}

/// The next step, and the time until the request is too old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) step: Step,
    pub(super) again: Option<Duration>,
}

/// A right by which requests of kubelets are approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Right {
    /// A certificate in the requester's own name.
    SelfNodeClient,
    /// A certificate in the name of any node.
    NodeClient,
}

/// Decides about a request. `may` returns whether its requester has a permission.
pub(super) fn decide(object: &Value, now: Timestamp, may: impl Fn(Right) -> bool) -> Decision {
    let end = end(object);
    if end.is_some_and(|end| end < now) {
        return Decision {
            step: Step::Delete,
            again: None,
        };
    }
    let step = if text(&object["status"]["certificate"]).is_empty() {
        next(object, now, may)
    } else {
        Step::Nothing
    };
    let again = end.map(|end| {
        // The request is too old after this moment, not at it.
        let wait = Duration::try_from(end.duration_since(now)).unwrap_or_default();
        wait + Duration::from_millis(1)
    });
    Decision { step, again }
}

/// Returns the next step for a request without a certificate.
fn next(object: &Value, now: Timestamp, may: impl Fn(Right) -> bool) -> Step {
    let spec = &object["spec"];
    let Some(request) = CertificateRequest::read(text(&spec["request"])) else {
        return Step::Nothing;
    };
    let has = |kind: &str| conditions(object).any(|condition| condition["type"] == kind);
    match (has("Approved"), has("Denied")) {
        (false, false) => approve(spec, &request, may),
        (true, false) if !has_failed(object) => sign(spec, request, now),
        _ => Step::Nothing,
    }
}

/// Approves a request of a kubelet, if its requester has the right to it.
fn approve(spec: &Value, request: &CertificateRequest, may: impl Fn(Right) -> bool) -> Step {
    let is_kubelet = spec["signerName"] == KUBELET_CLIENT
        && kubelet_client(request, &usages(spec).collect()).is_ok();
    if !is_kubelet {
        return Step::Nothing;
    }
    let is_own = spec["username"] == request.subject.common_name();
    let own = is_own.then_some(Right::SelfNodeClient);
    let mut rights = own.into_iter().chain([Right::NodeClient]);
    match rights.find(|right| may(*right)) {
        Some(right) => Step::Approve(right.message()),
        None => Step::Postpone,
    }
}

fn sign(spec: &Value, request: CertificateRequest, now: Timestamp) -> Step {
    let checked = match text(&spec["signerName"]) {
        "kubernetes.io/kube-apiserver-client" => client(usages(spec)),
        KUBELET_CLIENT => kubelet_client(&request, &usages(spec).collect()),
        "kubernetes.io/kubelet-serving" => kubelet_serving(&request, &usages(spec).collect()),
        "kubernetes.io/legacy-unknown" => Ok(()),
        _ => return Step::Nothing,
    };
    if let Err(message) = checked {
        return Step::Fail(message);
    }
    let requested_seconds = spec["expirationSeconds"].as_i64();
    let validity = requested_seconds.map_or(VALIDITY, SignedDuration::from_secs);
    let validity = validity.clamp(VALIDITY_MIN, VALIDITY);
    let backdated = if validity < SHORT {
        SignedDuration::ZERO
    } else {
        BACKDATED
    };
    let shifted = |by: SignedDuration| now.checked_add(by).unwrap_or(Timestamp::MAX);
    let terms = Terms {
        usages: usages(spec).map(str::to_owned).collect(),
        not_before: shifted(-BACKDATED),
        not_after: shifted(validity - backdated),
    };
    Step::Sign(Box::new(request), terms)
}

// === impl Right ===

impl Right {
    /// Returns the subresource that stands for the right in roles.
    pub(super) fn subresource(self) -> &'static str {
        match self {
            Self::SelfNodeClient => "selfnodeclient",
            Self::NodeClient => "nodeclient",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::SelfNodeClient => {
                "Auto approving self kubelet client certificate after SubjectAccessReview."
            }
            Self::NodeClient => {
                "Auto approving kubelet client certificate after SubjectAccessReview."
            }
        }
    }
}

/// Returns the time after which a request is too old: the earliest of those that apply.
fn end(object: &Value) -> Option<Timestamp> {
    let status = &object["status"];
    let after = |since: &Value, age| {
        since
            .as_str()?
            .parse::<Timestamp>()
            .ok()?
            .checked_add(age)
            .ok()
    };
    let certificate = STANDARD.decode(text(&status["certificate"]));
    let certificate = certificate.ok().filter(|pem| !pem.is_empty());
    let mut ends = Vec::new();
    for condition in conditions(object) {
        let since = &condition["lastUpdateTime"];
        match (text(&condition["type"]), &certificate) {
            ("Approved", Some(pem)) => ends.extend([after(since, DECIDED), expiry(pem)]),
            ("Approved", None) => ends.push(after(since, PENDING)),
            ("Denied" | "Failed", _) => ends.push(after(since, DECIDED)),
            _ => {}
        }
    }
    if conditions(object).next().is_none() {
        ends.push(after(&object["metadata"]["creationTimestamp"], PENDING));
    }
    ends.into_iter().flatten().min()
}

/// Checks a request for a certificate of a client.
fn client<'a>(usages: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut has_client_auth = false;
    for usage in usages {
        match usage {
            "digital signature" | "key encipherment" => {}
            "client auth" => has_client_auth = true,
            _ => return Err(format!("invalid usage for client certificate: {usage}")),
        }
    }
    if has_client_auth {
        Ok(())
    } else {
        Err("missing required usage for client certificate: client auth".to_owned())
    }
}

/// Checks a request for the certificate of a kubelet that is a client.
fn kubelet_client(request: &CertificateRequest, usages: &BTreeSet<&str>) -> Result<(), String> {
    check_organization(request)?;
    refuse_names("DNS", request.dns_names.len())?;
    refuse_names("Email", request.emails.len())?;
    refuse_names("IP", request.addresses.len())?;
    refuse_names("URI", request.uris.len())?;
    check_common_name(request)?;
    check_usages(usages, "client auth")
}

/// Checks a request for the certificate of a kubelet that serves.
fn kubelet_serving(request: &CertificateRequest, usages: &BTreeSet<&str>) -> Result<(), String> {
    check_organization(request)?;
    if request.dns_names.is_empty() && request.addresses.is_empty() {
        return Err("DNS or IP subjectAltName is required".to_owned());
    }
    refuse_names("Email", request.emails.len())?;
    refuse_names("URI", request.uris.len())?;
    check_usages(usages, "server auth")?;
    check_common_name(request)
}

fn check_organization(request: &CertificateRequest) -> Result<(), String> {
    if request.subject.organizations() == ["system:nodes"] {
        Ok(())
    } else {
        Err("subject organization is not system:nodes".to_owned())
    }
}

fn check_common_name(request: &CertificateRequest) -> Result<(), String> {
    if request.subject.common_name().starts_with("system:node:") {
        Ok(())
    } else {
        Err("subject common name does not begin with system:node:".to_owned())
    }
}

fn refuse_names(kind: &str, count: usize) -> Result<(), String> {
    if count == 0 {
        Ok(())
    } else {
        Err(format!("{kind} subjectAltNames are not allowed"))
    }
}

/// Checks that the usages are those of a kubelet, with or without that of keys of RSA.
fn check_usages(usages: &BTreeSet<&str>, purpose: &str) -> Result<(), String> {
    let mut wanted = BTreeSet::from(["digital signature", "key encipherment", purpose]);
    let all: Vec<&str> = wanted.iter().copied().collect();
    if *usages == wanted {
        return Ok(());
    }
    wanted.remove("key encipherment");
    if *usages == wanted {
        return Ok(());
    }
    Err(format!("usages did not match [{}]", all.join(" ")))
}

fn has_failed(object: &Value) -> bool {
    conditions(object).any(|condition| {
        condition["type"] == "Failed" && matches!(text(&condition["status"]), "" | "True")
    })
}

fn conditions(object: &Value) -> impl Iterator<Item = &Value> {
    object["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
}

fn usages(spec: &Value) -> impl Iterator<Item = &str> {
    let usages = spec["usages"].as_array().into_iter().flatten();
    usages.filter_map(Value::as_str)
}
