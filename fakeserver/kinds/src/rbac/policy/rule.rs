//! One rule of a role.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Attributes, Target};

/// Verbs that are allowed on resources, or on non-resource paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyRule {
    pub verbs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// All names, if it is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_names: Vec<String>,
    #[serde(rename = "nonResourceURLs", skip_serializing_if = "Vec::is_empty")]
    pub non_resource_urls: Vec<String>,
}

// === impl PolicyRule ===

impl PolicyRule {
    /// Returns the rules that allow everything.
    pub fn everything() -> [Self; 2] {
        let all = || vec!["*".to_owned()];
        [
            Self {
                verbs: all(),
                api_groups: all(),
                resources: all(),
                ..Self::default()
            },
            Self {
                verbs: all(),
                non_resource_urls: all(),
                ..Self::default()
            },
        ]
    }

    pub fn allows(&self, attributes: &Attributes) -> bool {
        if !has_or_all(&self.verbs, &attributes.verb) {
            return false;
        }
        match &attributes.target {
            Target::Path(path) => {
                let mut urls = self.non_resource_urls.iter();
                urls.any(|url| path_matches(url, path))
            }
            Target::Resource(target) => {
                has_or_all(&self.api_groups, &target.group)
                    && resource_matches(&self.resources, &target.combined())
                    && (self.resource_names.is_empty() || has(&self.resource_names, &target.name))
            }
        }
    }

    /// Returns whether this rule allows everything that `other` does, which names one of each.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let names = &self.resource_names;
        let has_names = match other.resource_names.as_slice() {
            [] => names.is_empty(),
            wanted => names.is_empty() || wanted.iter().all(|name| has(names, name)),
        };
        let has_all =
            |own: &[String], wanted: &[String]| wanted.iter().all(|wanted| has_or_all(own, wanted));
        let is_path_covered = |path: &String| {
            let mut urls = self.non_resource_urls.iter();
            urls.any(|url| path_matches(url, path))
        };
        has_names
            && has_all(&self.verbs, &other.verbs)
            && has_all(&self.api_groups, &other.api_groups)
            && (other.resources.iter()).all(|wanted| resource_matches(&self.resources, wanted))
            && other.non_resource_urls.iter().all(is_path_covered)
    }
}

impl fmt::Display for PolicyRule {
    /// `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let stated = fields.iter().filter(|(_, values)| !values.is_empty());
        let stated: Vec<String> = stated
            .map(|(field, values)| format!("{field}:{}", quoted(values)))
            .collect();
        write!(f, "{{{}}}", stated.join(", "))
    }
}

/// `["a" "b"]`, as messages of the API list texts.
pub(super) fn quoted(values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    format!("[{}]", values.join(" "))
}

fn has(values: &[String], wanted: &str) -> bool {
    values.iter().any(|value| value == wanted)
}

fn has_or_all(values: &[String], wanted: &str) -> bool {
    values.iter().any(|value| value == "*" || value == wanted)
}

/// `wanted` is `pods` or `pods/log`; `*/log` is the log of everything.
fn resource_matches(resources: &[String], wanted: &str) -> bool {
    let subresource = wanted.split_once('/').map(|(_, subresource)| subresource);
    resources.iter().any(|resource| {
        resource == "*"
            || resource == wanted
            || subresource.is_some_and(|name| resource.strip_prefix("*/") == Some(name))
    })
}

fn path_matches(url: &str, path: &str) -> bool {
    let prefix = url.strip_suffix('*');
    url == path || prefix.is_some_and(|prefix| path.starts_with(prefix.trim_end_matches('*')))
}
