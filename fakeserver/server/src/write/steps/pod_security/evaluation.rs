//! The checks of the levels, by version, and their evaluation.

use super::{
    baseline,
    policy::{Level, LevelVersion},
    restricted,
    shape::PodShape,
};

/// The violation of a check.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) reason: &'static str,
    pub(super) detail: String,
}

/// The violations of a policy by a pod; at least one.
#[derive(Debug)]
pub(super) struct Violations(Vec<Violation>);

/// A function that finds the violation of a check.
pub(super) type CheckFn = fn(&PodShape<'_>) -> Option<Violation>;

/// A check, in several versions.
pub(super) struct Check {
    /// The minor versions from which on a function is the check, in ascending order.
    pub(super) versions: &'static [(u64, CheckFn)],
    /// The check of the restricted level, and its first version, that replaces a check of the baseline.
    pub(super) replaced_since: Option<u64>,
}

/// Evaluates the checks of a policy, and returns what the pod violates, if anything.
pub(super) fn evaluate(policy: LevelVersion, pod: &PodShape<'_>) -> Option<Violations> {
    let LevelVersion { level, version } = policy;
    let is_restricted = level == Level::Restricted;
    let checks = |of_level: &'static [Check], is_on: bool| of_level.iter().filter(move |_| is_on);
    let baseline = checks(baseline::CHECKS, level != Level::Privileged);
    let baseline = baseline.filter(|check| {
        let replaced = check.replaced_since;
        !(is_restricted && replaced.is_some_and(|since| version.is_at_least(since)))
    });
    let all = baseline.chain(checks(restricted::CHECKS, is_restricted));
    let violations = all.filter_map(|check| {
        let mut versions = check.versions.iter().rev();
        let (_, find) = versions.find(|(since, _)| version.is_at_least(*since))?;
        find(pod)
    });
    let violations: Vec<Violation> = violations.collect();
    (!violations.is_empty()).then_some(Violations(violations))
}

// === impl Violations ===

impl Violations {
    /// Returns the reasons alone.
    pub(super) fn reasons(&self) -> String {
        let reasons: Vec<&str> = self.0.iter().map(|violation| violation.reason).collect();
        reasons.join(", ")
    }

    /// Returns the reasons, each with its detail.
    pub(super) fn details(&self) -> String {
        let violations = self.0.iter().map(|Violation { reason, detail }| {
            if detail.is_empty() {
                (*reason).to_owned()
            } else {
                format!("{reason} ({detail})")
            }
        });
        violations.collect::<Vec<_>>().join(", ")
    }
}

/// Formats a number of things by their names: `container "a"`, or `containers "a", "b"`.
pub(super) fn named(singular: &str, names: &[impl AsRef<str>]) -> String {
    format!("{} {}", plural(singular, names.len()), quoted(names))
}

/// Formats what has a wrong setting: the pod, containers, or both.
pub(super) fn setters(is_pod: bool, containers: &[&str]) -> Option<String> {
    let pod = is_pod.then(|| "pod".to_owned());
    let containers = (!containers.is_empty()).then(|| named("container", containers));
    let setters: Vec<String> = pod.into_iter().chain(containers).collect();
    (!setters.is_empty()).then(|| setters.join(" and "))
}

pub(super) fn plural(singular: &str, count: usize) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{singular}{ending}")
}

/// Returns the singular or plural form of a verb.
pub(super) fn uses(count: usize) -> &'static str {
    if count == 1 { "uses" } else { "use" }
}

pub(super) fn quoted(names: &[impl AsRef<str>]) -> String {
    let quoted = names.iter().map(|name| format!("\"{}\"", name.as_ref()));
    quoted.collect::<Vec<_>>().join(", ")
}
