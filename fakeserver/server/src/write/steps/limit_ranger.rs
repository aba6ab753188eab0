//! `LimitRanger`: containers get the default requests and limits of the namespace's limit ranges, and pods and claims are
//! rejected that a range does not allow.

use fakeserver_kinds::{
    Kind,
    core::{limit_range, persistent_volume_claim, pod},
    usage::{Amounts, Side, declared},
};
use fakeserver_value::{edit::each, schema::Quantity, status::Status};
use serde_json::{Value, json};

use crate::{
    store::Transaction,
    write::{Attempt, AttemptError, Write, admission::Operation, chain::Step},
};

pub(in crate::write) const STEP: Step = Step::both("LimitRanger", mutate, validate);

/// The annotation of a pod that lists the defaults that its containers got.
const SET: &str = "kubernetes.io/limit-ranger";
/// The largest number whose thousandfold fits 64 bits: up to it, amounts are compared in thousandths.
const MILLI_MAX: i64 = i64::MAX / 1000;
const MILLI: i64 = -3;

/// The resources of a container, pod or claim, with its type in limit ranges.
struct LimitedResources {
    kind: &'static str,
    requests: Amounts,
    limits: Amounts,
}

/// The amounts of a comparison, in the same unit.
struct ComparedAmounts {
    request: i64,
    limit: i64,
    enforced: i64,
}

fn mutate(write: &mut Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    let target = write.target;
    if !is_limited(write) || !target.rules().is(&pod::KIND) {
        return Ok(());
    }
    let ranges = ranges(attempt, target.path.namespace.as_deref());
    if ranges.is_empty() {
        return Ok(());
    }
    let mut pod = write.new.take();
    for range in &ranges {
        set_defaults(range, &mut pod);
    }
    if write.operation() == Operation::Update {
        // A resize may not change what else the plugin sets.
        write.replace_new(pod)?;
    } else {
        write.new = pod;
    }
    Ok(())
}

fn validate(write: &Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    if !is_limited(write) {
        return Ok(());
    }
    let target = write.target;
    let namespace = target.path.namespace.as_deref();
    check(attempt, target.rules(), namespace, &write.new)
        .map_err(|why| Status::forbidden(write.named(), &why, Vec::new()).into())
}

/// Gives a pod that a controller creates the defaults of its namespace.
pub(super) fn complete_created(tx: &Transaction<'_>, namespace: Option<&str>, pod: &mut Value) {
    for range in ranges(tx, namespace) {
        set_defaults(&range, pod);
    }
}

/// Checks a pod or a claim against the limit ranges of its namespace. Other objects are not limited.
///
/// # Errors
///
/// A range does not allow the object, in words that follow `is forbidden: `.
pub(super) fn check(
    tx: &Transaction<'_>,
    kind: &Kind,
    namespace: Option<&str>,
    object: &Value,
) -> Result<(), String> {
    let problems = if kind.is(&pod::KIND) {
        pod_problems
    } else if kind.is(&persistent_volume_claim::KIND) {
        claim_problems
    } else {
        return Ok(());
    };
    for range in ranges(tx, namespace) {
        if let Some(why) = joined(problems(&range, object)) {
            return Err(why);
        }
    }
    Ok(())
}

/// Returns whether limit ranges apply to a write: a creation of a pod or a claim, an update of a claim, a resize of a pod.
fn is_limited(write: &Write<'_>) -> bool {
    let rules = write.target.rules();
    let is_one_of = |kinds: &[&'static Kind]| kinds.iter().any(|kind| rules.is(kind));
    let is_concerned = match (write.operation(), write.target.subresource()) {
        (Operation::Create, "") => is_one_of(&[&pod::KIND, &persistent_volume_claim::KIND]),
        (Operation::Update, "") => is_one_of(&[&persistent_volume_claim::KIND]),
        (Operation::Update, "resize") => is_one_of(&[&pod::KIND]),
        _ => false,
    };
    is_concerned && !write.is_import() && write.old["metadata"]["deletionTimestamp"].is_null()
}

/// Returns the limit ranges of a namespace.
fn ranges(tx: &Transaction<'_>, namespace: Option<&str>) -> Vec<Value> {
    let stored = tx.list(limit_range::KIND.storage(), namespace);
    stored.iter().map(|range| range.to_value()).collect()
}

/// Returns the limits of a range for a type.
fn limits_of<'a>(range: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let limits = range["spec"]["limits"].as_array().into_iter().flatten();
    limits.filter(move |limit| limit["type"] == kind)
}

// === Defaults ===

/// Gives the containers of a pod the requests and limits that they lack and the range has defaults for.
fn set_defaults(range: &Value, pod: &mut Value) {
    let (mut requests, mut limits) = (Amounts::default(), Amounts::default());
    for limit in limits_of(range, "Container") {
        requests.replace(Amounts::of(&limit["defaultRequest"]));
        limits.replace(Amounts::of(&limit["default"]));
    }
    let mut set = Vec::new();
    for (list, called) in [
        ("containers", "container"),
        ("initContainers", "init container"),
    ] {
        for container in each(&mut pod["spec"], list) {
            let name = container["name"].as_str().unwrap_or_default().to_owned();
            for (field, side, defaults) in [
                ("requests", "request", &requests),
                ("limits", "limit", &limits),
            ] {
                let added = fill(&mut container["resources"], field, defaults);
                if !added.is_empty() {
                    set.push(format!("{} {side} for {called} {name}", added.join(", ")));
                }
            }
        }
    }
    if !set.is_empty() {
        let set = format!("LimitRanger plugin set: {}", set.join("; "));
        pod["metadata"]["annotations"][SET] = json!(set);
    }
}

/// Adds the defaults that are missing to a field of resources, and returns their names.
fn fill<'a>(resources: &mut Value, field: &str, defaults: &'a Amounts) -> Vec<&'a str> {
    let missing = defaults
        .iter()
        .filter(|(name, _)| resources[field][name].is_null());
    let missing: Vec<(&str, &Quantity)> = missing.collect();
    for (name, amount) in &missing {
        resources[field][*name] = json!(amount.to_string());
    }
    missing.into_iter().map(|(name, _)| name).collect()
}

// === Checks ===

/// Returns why a range does not allow a pod.
fn pod_problems(range: &Value, pod: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let limits = range["spec"]["limits"].as_array().into_iter().flatten();
    for limit in limits {
        match limit["type"].as_str() {
            Some("Container") => {
                let spec = &pod["spec"];
                let lists = ["containers", "initContainers"].into_iter();
                let lists = lists.filter_map(|list| spec[list].as_array());
                for container in lists.flatten() {
                    problems.extend(LimitedResources::container(container).problems(limit));
                }
            }
            Some("Pod") => problems.extend(LimitedResources::pod(pod).problems(limit)),
            _ => {}
        }
    }
    problems
}

/// Returns why a range does not allow a claim. Only what it requests counts.
fn claim_problems(range: &Value, claim: &Value) -> Vec<String> {
    let limited = LimitedResources::claim(claim);
    let mut problems = Vec::new();
    for limit in limits_of(range, limited.kind) {
        let (min, max) = (Amounts::of(&limit["min"]), Amounts::of(&limit["max"]));
        problems.extend(
            min.iter()
                .filter_map(|(name, least)| limited.below(name, least)),
        );
        problems.extend(
            max.iter()
                .filter_map(|(name, most)| limited.requests_above(name, most)),
        );
    }
    problems
}

/// Returns problems as one, each once.
fn joined(problems: Vec<String>) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    for problem in problems {
        if !all.contains(&problem) {
            all.push(problem);
        }
    }
    match &all[..] {
        [] => None,
        [_] => all.pop(),
        _ => Some(format!("[{}]", all.join(", "))),
    }
}

// === impl LimitedResources ===

impl LimitedResources {
    fn container(container: &Value) -> Self {
        let resources = &container["resources"];
        Self {
            kind: "Container",
            requests: Amounts::of(&resources["requests"]),
            limits: Amounts::of(&resources["limits"]),
        }
    }

    fn pod(pod: &Value) -> Self {
        Self {
            kind: "Pod",
            requests: declared(pod, Side::Requests),
            limits: declared(pod, Side::Limits),
        }
    }

    fn claim(claim: &Value) -> Self {
        Self {
            kind: "PersistentVolumeClaim",
            requests: Amounts::of(&claim["spec"]["resources"]["requests"]),
            limits: Amounts::default(),
        }
    }

    /// Returns in which ways the resources are not within `limit`.
    fn problems(&self, limit: &Value) -> Vec<String> {
        let (min, max) = (Amounts::of(&limit["min"]), Amounts::of(&limit["max"]));
        let ratios = Amounts::of(&limit["maxLimitRequestRatio"]);
        let below = min
            .iter()
            .filter_map(|(name, least)| self.below(name, least));
        let above = max.iter().filter_map(|(name, most)| self.above(name, most));
        let apart = ratios
            .iter()
            .filter_map(|(name, ratio)| self.too_far_apart(name, ratio));
        below.chain(above).chain(apart).collect()
    }

    fn below(&self, name: &str, least: &Quantity) -> Option<String> {
        let what = format!("minimum {name} usage per {} is {least}", self.kind);
        let Some(request) = self.requests.get(name) else {
            return Some(format!("{what}.  No request is specified"));
        };
        let limit = self.limits.get(name);
        let compared = ComparedAmounts::of(Some(request), limit, least);
        if compared.request < compared.enforced {
            return Some(format!("{what}, but request is {request}"));
        }
        let limit = limit.filter(|_| compared.limit < compared.enforced)?;
        Some(format!("{what}, but limit is {limit}"))
    }

    fn above(&self, name: &str, most: &Quantity) -> Option<String> {
        let what = format!("maximum {name} usage per {} is {most}", self.kind);
        let Some(limit) = self.limits.get(name) else {
            return Some(format!("{what}.  No limit is specified"));
        };
        let request = self.requests.get(name);
        let compared = ComparedAmounts::of(request, Some(limit), most);
        if compared.limit > compared.enforced {
            return Some(format!("{what}, but limit is {limit}"));
        }
        let request = request.filter(|_| compared.request > compared.enforced)?;
        Some(format!("{what}, but request is {request}"))
    }

    fn requests_above(&self, name: &str, most: &Quantity) -> Option<String> {
        let what = format!("maximum {name} usage per {} is {most}", self.kind);
        let Some(request) = self.requests.get(name) else {
            return Some(format!("{what}.  No request is specified"));
        };
        let compared = ComparedAmounts::of(Some(request), None, most);
        (compared.request > compared.enforced).then(|| format!("{what}, but request is {request}"))
    }

    fn too_far_apart(&self, name: &str, most: &Quantity) -> Option<String> {
        let what = format!(
            "{name} max limit to request ratio per {} is {most}",
            self.kind
        );
        let compared = ComparedAmounts::of(self.requests.get(name), self.limits.get(name), most);
        if compared.request == 0 {
            return Some(format!(
                "{what}, but no request is specified or request is 0"
            ));
        }
        if compared.limit == 0 {
            return Some(format!("{what}, but no limit is specified or limit is 0"));
        }
        let ratio = as_float(compared.limit) / as_float(compared.request);
        let is_too_high = match most.in_units_of(0) {
            whole if whole > MILLI_MAX => ratio > as_float(whole),
            _ => ratio * 1000.0 > as_float(most.in_units_of(MILLI)),
        };
        is_too_high.then(|| format!("{what}, but provided ratio is {ratio:.6}"))
    }
}

// === impl ComparedAmounts ===

impl ComparedAmounts {
    /// Reads amounts in whole units, or in thousandths if all of them fit. What is absent is zero.
    fn of(request: Option<&Quantity>, limit: Option<&Quantity>, enforced: &Quantity) -> Self {
        let of = |scale: i64| {
            let number =
                |amount: Option<&Quantity>| amount.map_or(0, |amount| amount.in_units_of(scale));
            Self {
                request: number(request),
                limit: number(limit),
                enforced: enforced.in_units_of(scale),
            }
        };
        let whole = of(0);
        let numbers = [whole.request, whole.limit, whole.enforced];
        if numbers.into_iter().all(|number| number <= MILLI_MAX) {
            of(MILLI)
        } else {
            whole
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "upstream divides floating-point numbers, too"
)]
fn as_float(number: i64) -> f64 {
    number as f64
}
