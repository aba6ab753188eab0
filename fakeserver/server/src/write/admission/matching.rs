//! Criteria for writes: rules and selectors, as webhooks, policies and bindings have them.

use fakeserver_value::{
    object::selectors::{LabelSelector, print_label_selector},
    resource::GroupVersionKind,
    status::{NamedObject, Status},
};
use serde_json::{Value, json};

use super::{Attributes, Resource, attributes::labels_of, rule::Rule};

/// The writes that a webhook or a policy matches.
#[derive(Debug)]
pub struct Criteria {
    /// Absent rules match all writes, where they are optional.
    rules: Vec<Rule>,
    excluded: Vec<Rule>,
    /// True if no rules match every write.
    takes_all: bool,
    /// True if a rule also matches other versions of its resources.
    matches_equivalents: bool,
    namespaces: LabelSelector,
    objects: LabelSelector,
}

/// The resource and the kind under which a write is seen: those that the rules name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    pub resource: Resource,
    pub kind: GroupVersionKind,
}

// === impl Criteria ===

impl Criteria {
    /// Reads the criteria of a webhook that was validated when it was written.
    pub(super) fn of_webhook(webhook: &Value) -> Self {
        Self {
            takes_all: false,
            ..Self::parse(webhook, "rules")
        }
    }

    /// Reads the criteria of a policy or a binding: `matchConstraints`, `matchResources`.
    pub fn of_policy(matched: &Value) -> Self {
        Self::parse(matched, "resourceRules")
    }

    fn parse(config: &Value, rules: &str) -> Self {
        let parse = |rules: &Value| -> Vec<Rule> {
            rules
                .as_array()
                .into_iter()
                .flatten()
                .map(Rule::parse)
                .collect()
        };
        let rules = parse(&config[rules]);
        Self {
            takes_all: rules.is_empty(),
            rules,
            excluded: parse(&config["excludeResourceRules"]),
            matches_equivalents: config["matchPolicy"] != "Exact",
            namespaces: selector(&config["namespaceSelector"]),
            objects: selector(&config["objectSelector"]),
        }
    }

    /// Returns the version under which the rules name a write, if they do. `equivalents` are the other versions of what is
    /// written.
    pub fn invocation(
        &self,
        attributes: &Attributes,
        equivalents: &[Invocation],
    ) -> Option<Invocation> {
        // Exclusions come first: they win over any rule.
        if self
            .first(&self.excluded, attributes, equivalents)
            .is_some()
        {
            return None;
        }
        if self.takes_all {
            return Some(Invocation::of(attributes));
        }
        self.first(&self.rules, attributes, equivalents)
    }

    fn first(
        &self,
        rules: &[Rule],
        attributes: &Attributes,
        equivalents: &[Invocation],
    ) -> Option<Invocation> {
        let mut direct = rules.iter();
        // A rule for the version of the request wins over earlier rules for an equivalent one: the webhook gets the
        // object unconverted.
        if direct.any(|rule| rule.matches(attributes, &attributes.resource)) {
            return Some(Invocation::of(attributes));
        }
        if !self.matches_equivalents {
            return None;
        }
        // Earlier rules decide under which version.
        let mut pairs = rules.iter().flat_map(|rule| {
            let of_rule = equivalents.iter();
            of_rule.filter(|other| rule.matches(attributes, &other.resource))
        });
        pairs.next().cloned()
    }

    /// Returns whether the labels of the new or of the old object are selected.
    pub fn selects_object(&self, attributes: &Attributes) -> bool {
        if self.objects.is_everything() {
            return true;
        }
        let sides = [&attributes.object, &attributes.old_object];
        let mut sides = sides.into_iter().flatten();
        sides.any(|side| self.objects.matches(&labels_of(side)))
    }

    /// Returns whether the namespace is selected.
    ///
    /// # Errors
    ///
    /// The namespace does not exist.
    pub fn selects_namespace(&self, attributes: &Attributes) -> Result<bool, Status> {
        let is_of_cluster = attributes.namespace.is_empty() && !attributes.is_namespace();
        if self.namespaces.is_everything() || is_of_cluster {
            return Ok(true);
        }
        // The new labels of a namespace count, not the old ones.
        let own = attributes.object.as_ref();
        let own = own.filter(|_| attributes.is_namespace() && attributes.subresource.is_empty());
        let labels = match own {
            Some(namespace) => labels_of(namespace),
            None => attributes.namespace_labels.clone().ok_or_else(|| {
                Status::not_found(NamedObject {
                    resource: "namespaces",
                    group: "",
                    name: &attributes.namespace,
                })
            })?,
        };
        Ok(self.namespaces.matches(&labels))
    }
}

// === impl Invocation ===

impl Invocation {
    /// Returns the version of the request.
    fn of(attributes: &Attributes) -> Self {
        Self {
            resource: attributes.resource.clone(),
            kind: attributes.kind.clone(),
        }
    }
}

/// Parses a selector, which was validated when it was written. An absent one selects everything.
fn selector(selector: &Value) -> LabelSelector {
    let empty = json!({});
    let selector = if selector.is_null() { &empty } else { selector };
    LabelSelector::parse(&print_label_selector(selector)).unwrap_or_default()
}
