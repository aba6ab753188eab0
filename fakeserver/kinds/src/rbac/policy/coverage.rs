//! RBAC privilege-escalation check: a user can only grant rights that the user has.

use std::collections::{BTreeMap, BTreeSet};

use fakeserver_value::user::UserInfo;

use super::{PolicyRule, rule::quoted};

/// Returns the rules of `granted` that are not covered by `held`, the rules of `user`, as the API words them.
#[doc(alias = "ConfirmNoEscalation")]
pub fn missing_rights(
    user: &UserInfo,
    held: &[&PolicyRule],
    granted: &[PolicyRule],
) -> Option<String> {
    let missing = uncovered(held, granted);
    if missing.is_empty() {
        return None;
    }
    // Sorted as texts, as a real server prints them.
    let missing: BTreeSet<String> = compacted(missing).iter().map(ToString::to_string).collect();
    let missing: Vec<String> = missing.into_iter().collect();
    Some(format!(
        "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        user.name(),
        quoted(user.groups()),
        missing.join("\n")
    ))
}

/// Returns the rules of `granted` that those of `held` do not cover, each as rules that name one of each.
#[doc(alias = "Covers")]
pub fn uncovered(held: &[&PolicyRule], granted: &[PolicyRule]) -> Vec<PolicyRule> {
    let atoms = granted.iter().flat_map(atoms);
    atoms
        .filter(|atom| !held.iter().any(|rule| rule.covers(atom)))
        .collect()
}

/// A rule as rules that name one of each.
fn atoms(rule: &PolicyRule) -> Vec<PolicyRule> {
    let one = |value: &String| vec![value.clone()];
    let names: Vec<Vec<String>> = match rule.resource_names.as_slice() {
        [] => vec![Vec::new()],
        names => names.iter().map(one).collect(),
    };
    let mut atoms = Vec::new();
    for verb in &rule.verbs {
        for group in &rule.api_groups {
            for resource in &rule.resources {
                atoms.extend(names.iter().map(|name| PolicyRule {
                    verbs: one(verb),
                    api_groups: one(group),
                    resources: one(resource),
                    resource_names: name.clone(),
                    non_resource_urls: Vec::new(),
                }));
            }
        }
        atoms.extend(rule.non_resource_urls.iter().map(|url| PolicyRule {
            verbs: one(verb),
            non_resource_urls: one(url),
            ..PolicyRule::default()
        }));
    }
    atoms
}

/// Rules for the same resource as one, with all their verbs.
fn compacted(rules: Vec<PolicyRule>) -> Vec<PolicyRule> {
    let mut verbs: BTreeMap<PolicyRule, Vec<String>> = BTreeMap::new();
    let mut compacted = Vec::new();
    for mut rule in rules {
        if rule.non_resource_urls.is_empty() {
            let own = std::mem::take(&mut rule.verbs);
            verbs.entry(rule).or_default().extend(own);
        } else {
            compacted.push(rule);
        }
    }
    compacted.extend(
        verbs
            .into_iter()
            .map(|(rule, verbs)| PolicyRule { verbs, ..rule }),
    );
    compacted
}
