//! Cluster roles with an aggregation rule: they get the rules of the roles that it selects.

use std::{collections::BTreeMap, time::Duration};

use fakeserver_kinds::rbac::cluster_role;
use fakeserver_value::{
    object::{
        Pairs,
        selectors::{LabelSelector, print_label_selector},
    },
    read::items,
};
use serde_json::{Value, json};

use super::{
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, ObjectChange},
    queue::KeyQueue,
};
use crate::store::{ObjectKey, StoredObject};

const ACTOR: Actor = Actor::new("clusterrole-aggregation-controller");

/// The controller that writes the rules.
#[derive(Debug, Default)]
pub(super) struct ClusterRoleAggregation {
    /// The roles with an aggregation rule, and the selectors of the roles whose rules they get.
    aggregated: BTreeMap<ObjectKey, Vec<LabelSelector>>,
}

impl Controller for ClusterRoleAggregation {
    fn name(&self) -> &'static str {
        "cluster role aggregation"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if !change.is_of(&cluster_role::KIND) {
            return;
        }
        let key = change.key();
        self.aggregated.remove(key);
        if let Some((stored, _)) = &change.after
            && let Some(selectors) = aggregation_of(stored)
        {
            self.aggregated.insert(key.clone(), selectors);
            due.add(key.clone(), Duration::ZERO);
        }
        let versions = [&change.before, &change.after].into_iter().flatten();
        for (version, _) in versions {
            for (aggregated, selectors) in &self.aggregated {
                if selects(selectors, version.labels()) {
                    due.add(aggregated.clone(), Duration::ZERO);
                }
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        let role = stored.to_value();
        let selectors = selectors(&role);
        let all = cluster.tx.list(cluster_role::KIND.storage(), None);
        // Few are: reading the others would take most of the start of a server.
        let others: Vec<(&Pairs, Value)> = all
            .iter()
            .filter(|other| other.key() != key && selects(&selectors, other.labels()))
            .map(|other| (other.labels(), other.to_value()))
            .collect();
        let rules = union(&selectors, &others);
        if items(&role["rules"]) != rules {
            cluster.apply(key, ACTOR, "rules", &json!(rules));
        }
    }
}

/// Returns the selectors of a stored role's aggregation rule; `None` if it has none, as most, which are not parsed.
fn aggregation_of(stored: &StoredObject) -> Option<Vec<LabelSelector>> {
    memchr::memmem::find(&stored.json(), b"\"aggregationRule\"")?;
    let role = stored.to_value();
    role["aggregationRule"]
        .is_object()
        .then(|| selectors(&role))
}

/// Parses the selectors of a role's aggregation rule. An invalid selector is left out, and selects nothing.
fn selectors(role: &Value) -> Vec<LabelSelector> {
    let selectors = items(&role["aggregationRule"]["clusterRoleSelectors"]).iter();
    let parsed = selectors.map(|selector| LabelSelector::parse(&print_label_selector(selector)));
    parsed.filter_map(Result::ok).collect()
}

fn selects(selectors: &[LabelSelector], labels: &Pairs) -> bool {
    selectors.iter().any(|selector| selector.matches(labels))
}

/// Returns the rules of the roles that the selectors select, in the order of selectors, then of roles, each once.
fn union(selectors: &[LabelSelector], roles: &[(&Pairs, Value)]) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for selector in selectors {
        let selected = roles.iter().filter(|(labels, _)| selector.matches(labels));
        for rule in selected.flat_map(|(_, role)| items(&role["rules"])) {
            if !all.contains(rule) {
                all.push(rule.clone());
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(label: &str) -> Pairs {
        [(label.to_owned(), "true".to_owned())]
            .into_iter()
            .collect()
    }

    #[test]
    fn rules_are_in_the_order_of_selectors_and_each_once() {
        let selector = |label: &str| json!({"matchLabels": {label: "true"}});
        let role = |verbs: &[&str]| {
            let rules: Vec<Value> = verbs.iter().map(|verb| json!({"verbs": [verb]})).collect();
            json!({"rules": rules})
        };
        let (a, b, c) = (labels("a"), labels("b"), labels("c"));
        let roles = [
            (&a, role(&["get", "list"])),
            (&b, role(&["watch", "get"])),
            (&c, role(&["delete"])),
        ];
        let verbs = |given: &[Value]| {
            let role = json!({"aggregationRule": {"clusterRoleSelectors": given}});
            let all = union(&selectors(&role), &roles);
            let verbs = all
                .iter()
                .map(|rule| rule["verbs"][0].as_str().unwrap().to_owned());
            verbs.collect::<Vec<_>>()
        };
        assert_eq!(
            verbs(&[selector("b"), selector("a")]),
            ["watch", "get", "list"]
        );
        assert_eq!(verbs(&[selector("d")]), [""; 0]);
        assert_eq!(verbs(&[json!({})]), ["get", "list", "watch", "delete"]);
    }
}
