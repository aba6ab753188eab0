//! The policy of an audit log: the level of each request.

use std::collections::BTreeSet;

use fakeserver_kinds::rbac::policy::{Attributes, ResourceAttributes, Target};
use fakeserver_value::{user::UserInfo, yaml};
use serde::Deserialize;
use serde_json::Value;

const API_VERSION: &str = "audit.k8s.io/v1";
const KIND: &str = "Policy";

/// A policy of an audit log: `Policy` of `audit.k8s.io/v1`.
///
/// The first matching rule gives the level of a request. A request without a matching rule is not logged.
///
/// Source: `k8s.io/apiserver/pkg/audit/policy`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditPolicy {
    rules: Vec<Rule>,
    omit_stages: BTreeSet<Stage>,
    omit_managed_fields: bool,
}

/// An error in a policy. A retry does not help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AuditPolicyError(String);

/// The extent to which a request is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) enum Level {
    None,
    Metadata,
    /// The request's body, too.
    Request,
    /// The bodies of the request and of the answer.
    RequestResponse,
}

/// A stage of a request at which an event is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) enum Stage {
    RequestReceived,
    /// The answer to a request that takes long has begun.
    ResponseStarted,
    ResponseComplete,
    Panic,
}

/// The decision about one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) level: Level,
    pub(super) omit_stages: BTreeSet<Stage>,
    pub(super) omit_managed_fields: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    api_version: String,
    kind: String,
    #[serde(default, rename = "metadata")]
    _metadata: Value,
    #[serde(default)]
    rules: Vec<Rule>,
    #[serde(default)]
    omit_stages: BTreeSet<Stage>,
    #[serde(default)]
    omit_managed_fields: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    level: Level,
    #[serde(default)]
    users: Vec<String>,
    #[serde(default)]
    user_groups: Vec<String>,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    resources: Vec<GroupResources>,
    #[serde(default)]
    namespaces: Vec<String>,
    #[serde(default, rename = "nonResourceURLs")]
    non_resource_urls: Vec<String>,
    #[serde(default)]
    omit_stages: BTreeSet<Stage>,
    omit_managed_fields: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GroupResources {
    #[serde(default)]
    group: String,
    #[serde(default)]
    resources: Vec<String>,
    #[serde(default)]
    resource_names: Vec<String>,
}

// === impl AuditPolicy ===

impl AuditPolicy {
    /// Creates the policy that logs the metadata of all requests.
    pub fn metadata() -> Self {
        let rule = Rule {
            level: Level::Metadata,
            users: Vec::new(),
            user_groups: Vec::new(),
            verbs: Vec::new(),
            resources: Vec::new(),
            namespaces: Vec::new(),
            non_resource_urls: Vec::new(),
            omit_stages: BTreeSet::new(),
            omit_managed_fields: None,
        };
        Self {
            rules: vec![rule],
            ..Self::default()
        }
    }

    /// Reads a policy from YAML or JSON.
    ///
    /// # Errors
    ///
    /// The text is no policy of `audit.k8s.io/v1`, has an unknown field, no rule, or an invalid rule. A retry does not
    /// help.
    pub fn parse(text: &str) -> Result<Self, AuditPolicyError> {
        let document = yaml::from_str::<Document>(text);
        let document = document.map_err(AuditPolicyError)?;
        let (version, kind) = (&document.api_version, &document.kind);
        if version != API_VERSION || kind != KIND {
            let why = format!("{version:?} {kind:?} is no {KIND} of {API_VERSION}");
            return Err(AuditPolicyError(why));
        }
        if document.rules.is_empty() {
            let why = "it has no rules, so that nothing would be logged";
            return Err(AuditPolicyError(why.to_owned()));
        }
        for (number, rule) in document.rules.iter().enumerate() {
            rule.check()
                .map_err(|why| AuditPolicyError(format!("rules[{number}]: {why}")))?;
        }
        Ok(Self {
            rules: document.rules,
            omit_stages: document.omit_stages,
            omit_managed_fields: document.omit_managed_fields,
        })
    }

    /// Decides about a request. `user` is `None` if authentication failed.
    pub(super) fn decide(&self, user: Option<&UserInfo>, attributes: &Attributes) -> Decision {
        let rule = self.rules.iter().find(|it| it.matches(user, attributes));
        let level = rule.map_or(Level::None, |rule| rule.level);
        let omitted = rule.into_iter().flat_map(|rule| &rule.omit_stages);
        Decision {
            level,
            omit_stages: self.omit_stages.iter().chain(omitted).copied().collect(),
            omit_managed_fields: rule
                .and_then(|rule| rule.omit_managed_fields)
                .unwrap_or(self.omit_managed_fields),
        }
    }
}

// === impl Rule ===

impl Rule {
    /// Returns why an API server rejects the rule.
    fn check(&self) -> Result<(), String> {
        let is_of_resources = !self.resources.is_empty() || !self.namespaces.is_empty();
        if is_of_resources && !self.non_resource_urls.is_empty() {
            return Err("it names both resources and nonResourceURLs".to_owned());
        }
        for url in &self.non_resource_urls {
            let prefix = url.strip_suffix('*').unwrap_or(url);
            if url != "*" && (!url.starts_with('/') || prefix.contains('*')) {
                return Err(format!(
                    "the path {url:?} does not begin with / or has a * before its end"
                ));
            }
        }
        for resources in &self.resources {
            if !resources.resource_names.is_empty() && resources.resources.is_empty() {
                return Err("resourceNames need resources".to_owned());
            }
            if resources.group.contains('/') {
                let group = &resources.group;
                return Err(format!("the group {group:?} has no version"));
            }
        }
        Ok(())
    }

    fn matches(&self, user: Option<&UserInfo>, attributes: &Attributes) -> bool {
        let is_user = |user: &UserInfo| {
            (self.users.is_empty() || self.users.iter().any(|it| it == user.name()))
                && (self.user_groups.is_empty() || self.user_groups.iter().any(|it| user.is_in(it)))
        };
        let is_anyone = self.users.is_empty() && self.user_groups.is_empty();
        let is_verb = self.verbs.is_empty() || self.verbs.contains(&attributes.verb);
        if !user.map_or(is_anyone, is_user) || !is_verb {
            return false;
        }
        match &attributes.target {
            Target::Resource(resource) => {
                self.non_resource_urls.is_empty() && self.matches_resource(resource)
            }
            Target::Path(path) => {
                self.resources.is_empty()
                    && self.namespaces.is_empty()
                    && (self.non_resource_urls.is_empty()
                        || self.non_resource_urls.iter().any(|it| is_path(it, path)))
            }
        }
    }

    fn matches_resource(&self, of: &ResourceAttributes) -> bool {
        (self.namespaces.is_empty() || self.namespaces.contains(&of.namespace))
            && (self.resources.is_empty() || self.resources.iter().any(|it| it.matches(of)))
    }
}

// === impl GroupResources ===

impl GroupResources {
    fn matches(&self, of: &ResourceAttributes) -> bool {
        let is_named = self.resource_names.is_empty() || self.resource_names.contains(&of.name);
        let mut resources = self.resources.iter();
        self.group == of.group
            && (self.resources.is_empty()
                || is_named && resources.any(|pattern| is_resource(pattern, of)))
    }
}

/// Returns whether a pattern stands for a resource: `pods`, `pods/log`, `pods/*`, `*/status`, `*`.
fn is_resource(pattern: &str, of: &ResourceAttributes) -> bool {
    match pattern.split_once('/') {
        _ if pattern == "*" => true,
        None => of.subresource.is_empty() && pattern == of.resource,
        Some(("*", subresource)) => !subresource.is_empty() && subresource == of.subresource,
        Some((resource, "*")) => resource == of.resource,
        Some((resource, subresource)) => resource == of.resource && subresource == of.subresource,
    }
}

fn is_path(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => pattern == path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pods(subresource: &str, namespace: &str, name: &str) -> Attributes {
        Attributes {
            verb: "get".to_owned(),
            target: Target::Resource(ResourceAttributes {
                version: "v1".to_owned(),
                resource: "pods".to_owned(),
                subresource: subresource.to_owned(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
                ..ResourceAttributes::default()
            }),
        }
    }

    fn policy(rules: &str) -> AuditPolicy {
        AuditPolicy::parse(&format!(
            "{{apiVersion: audit.k8s.io/v1, kind: Policy, rules: {rules}}}"
        ))
        .unwrap()
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let policy = policy(
            "[{level: None, users: [spy]}, {level: Request, userGroups: [devs], verbs: [get, list]}, {level: Metadata}]",
        );
        let level = |user: Option<&UserInfo>| policy.decide(user, &pods("", "a", "web")).level;
        let devs = UserInfo::new("jane").with_groups(["devs"]);
        assert_eq!(level(Some(&UserInfo::new("spy"))), Level::None);
        assert_eq!(level(Some(&devs)), Level::Request);
        assert_eq!(level(Some(&UserInfo::new("bob"))), Level::Metadata);
        assert_eq!(level(None), Level::Metadata);
    }

    #[test]
    fn resources_are_matched_by_pattern_name_and_namespace() {
        for (rule, expected) in [
            ("resources: [{resources: [pods]}]", [true, false, true]),
            ("resources: [{resources: [pods/log]}]", [false, true, false]),
            ("resources: [{resources: [pods/*]}]", [true, true, true]),
            ("resources: [{resources: ['*/log']}]", [false, true, false]),
            ("resources: [{resources: ['*']}]", [true, true, true]),
            ("resources: [{group: ''}]", [true, true, true]),
            ("resources: [{group: apps}]", [false, false, false]),
            (
                "resources: [{resources: ['*'], resourceNames: [web]}]",
                [true, true, false],
            ),
            ("namespaces: [b]", [false, false, true]),
            ("nonResourceURLs: ['/healthz*']", [false, false, false]),
        ] {
            let policy = policy(&format!("[{{level: Metadata, {rule}}}]"));
            let requests = [
                pods("", "a", "web"),
                pods("log", "a", "web"),
                pods("", "b", "other"),
            ];
            let found = requests.map(|it| policy.decide(None, &it).level == Level::Metadata);
            assert_eq!(found, expected, "{rule}");
        }
    }

    #[test]
    fn paths_are_matched_whole_or_by_their_beginning() {
        let policy = policy("[{level: Metadata, nonResourceURLs: [/version, '/healthz*']}]");
        let of = |path| policy.decide(None, &Attributes::path("get", path)).level;
        assert_eq!(of("/version"), Level::Metadata);
        assert_eq!(of("/versions"), Level::None);
        assert_eq!(of("/healthz/ping"), Level::Metadata);
    }

    #[test]
    fn omitted_stages_of_a_rule_are_added_to_those_of_the_policy() {
        let text = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nomitManagedFields: true\n\
            rules: [{level: Metadata, omitStages: [Panic], omitManagedFields: false}]";
        let decision = AuditPolicy::parse(text)
            .unwrap()
            .decide(None, &pods("", "a", ""));
        let stages = Vec::from_iter(decision.omit_stages);
        assert_eq!(stages, [Stage::RequestReceived, Stage::Panic]);
        assert!(!decision.omit_managed_fields);
    }

    #[test]
    fn errors_of_policies_name_the_problem() {
        let of =
            |rules: &str| format!("{{apiVersion: audit.k8s.io/v1, kind: Policy, rules: {rules}}}");
        for (text, expected) in [
            (
                "{apiVersion: v1, kind: Pod}".to_owned(),
                "\"v1\" \"Pod\" is no Policy of audit.k8s.io/v1",
            ),
            (of("[]"), "no rules"),
            (of("[{level: All}]"), "unknown variant `All`"),
            (of("[{level: None, user: [a]}]"), "unknown field `user`"),
            (
                of("[{level: None, namespaces: [a], nonResourceURLs: [/x]}]"),
                "rules[0]: it names both",
            ),
            (
                of("[{level: None}, {level: None, nonResourceURLs: [x]}]"),
                "rules[1]: the path \"x\"",
            ),
            (
                of("[{level: None, resources: [{resourceNames: [a]}]}]"),
                "resourceNames need resources",
            ),
            (
                of("[{level: None, resources: [{group: apps/v1}]}]"),
                "the group \"apps/v1\" has no version",
            ),
        ] {
            let error = AuditPolicy::parse(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
