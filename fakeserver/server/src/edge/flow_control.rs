//! Classification of requests by the stored flow schemas. Only headers report it; no request is queued.

use std::sync::{Arc, Mutex, PoisonError};

use fakeserver_kinds::{
    Kind,
    flowcontrol::{flow_schema, priority_level_configuration},
    rbac::policy::{Attributes, ResourceAttributes, Target},
};
use fakeserver_value::user::UserInfo;
use http::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;

use crate::store::{Range, Snapshot, Storage};

const FLOW_SCHEMA_UID: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");
const PRIORITY_LEVEL_UID: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";
const ALL: &str = "*";

/// The headers of an answer that name the flow schema and the priority level of its request.
pub(crate) type Classification = [(HeaderName, HeaderValue); 2];

const KINDS: [&Kind; 2] = [&flow_schema::KIND, &priority_level_configuration::KIND];

/// The flow schemas, cached until they change.
#[derive(Debug, Default)]
pub(crate) struct FlowClassifier {
    read: Mutex<Option<CachedFlows>>,
}

#[derive(Debug)]
struct CachedFlows {
    snapshots: [Snapshot; 2],
    flows: Arc<Vec<Flow>>,
}

/// A flow schema whose priority level exists, with the uids for the response headers.
#[derive(Debug)]
struct Flow {
    precedence: i64,
    name: String,
    rules: Vec<Rule>,
    headers: Classification,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Rule {
    subjects: Vec<Subject>,
    resource_rules: Vec<ResourceRule>,
    non_resource_rules: Vec<PathRule>,
}

/// A subject; one of the fields is set, by its kind.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Subject {
    user: Option<SubjectName>,
    group: Option<SubjectName>,
    service_account: Option<SubjectName>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SubjectName {
    name: String,
    namespace: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ResourceRule {
    verbs: Vec<String>,
    api_groups: Vec<String>,
    resources: Vec<String>,
    cluster_scope: bool,
    namespaces: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PathRule {
    verbs: Vec<String>,
    #[serde(rename = "nonResourceURLs")]
    paths: Vec<String>,
}

// === impl FlowClassifier ===

impl FlowClassifier {
    /// Returns the headers that name the flow schema of a request and its priority level, if there are such. The storage
    /// must not be locked by the caller.
    pub(crate) fn classify(
        &self,
        storage: &Storage,
        user: &UserInfo,
        attributes: impl FnOnce() -> Attributes,
    ) -> Option<Classification> {
        let flows = self.flows(storage);
        let mut candidates = flows
            .iter()
            .filter(|flow| flow.rules.iter().any(|rule| rule.is_about(user)))
            .peekable();
        let first = candidates.peek()?;
        // Most requests are an administrator's, whose schema matches all of them.
        let is_sure = first
            .rules
            .iter()
            .any(|rule| rule.is_about(user) && rule.takes_all());
        let found = if is_sure {
            candidates.next()
        } else {
            let attributes = attributes();
            candidates.find(|flow| flow.matches(user, &attributes))
        };
        found.map(|flow| flow.headers.clone())
    }

    fn flows(&self, storage: &Storage) -> Arc<Vec<Flow>> {
        let snapshots = storage.view(|view| KINDS.map(|kind| view.snapshot(kind.storage())));
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = &*read {
            let mut pairs = read.snapshots.iter().zip(&snapshots);
            if pairs.all(|(read, now)| read.is_same(now)) {
                return Arc::clone(&read.flows);
            }
        }
        let [schemas, levels] = snapshots.each_ref().map(|snapshot| {
            let objects = snapshot.objects(&Range::All, None);
            objects.map(|object| object.to_value()).collect::<Vec<_>>()
        });
        let mut flows: Vec<Flow> = schemas
            .iter()
            .filter_map(|schema| Flow::new(schema, &levels))
            .collect();
        // Equal precedences are decided by name, as upstream.
        flows.sort_by(|a, b| (a.precedence, &a.name).cmp(&(b.precedence, &b.name)));
        let flows = Arc::new(flows);
        *read = Some(CachedFlows {
            snapshots,
            flows: Arc::clone(&flows),
        });
        flows
    }
}

/// Returns the seats of each priority level, by its name: its share of `total`, rounded up.
#[doc(alias = "NominalCL")]
pub(crate) fn nominal_seats(storage: &Storage, total: u64) -> Vec<(String, u64)> {
    let levels = priority_level_configuration::KIND.storage();
    let snapshot = storage.view(|view| view.snapshot(levels));
    let shares: Vec<(String, u64)> = snapshot
        .objects(&Range::All, None)
        .map(|level| {
            (
                level.name().to_owned(),
                shares_of(&level.to_value()["spec"]),
            )
        })
        .collect();
    let sum: u64 = shares.iter().map(|(_, shares)| shares).sum();
    let seats = |shares: u64| total.saturating_mul(shares).div_ceil(sum.max(1));
    let levels = shares.into_iter();
    levels.map(|(name, shares)| (name, seats(shares))).collect()
}

/// Returns the concurrency shares of a priority level.
fn shares_of(spec: &Value) -> u64 {
    let (part, default) = match spec["type"].as_str() {
        Some("Exempt") => ("exempt", 0),
        _ => ("limited", 30),
    };
    let shares = &spec[part]["nominalConcurrencyShares"];
    shares.as_u64().unwrap_or(default)
}

// === impl Flow ===

impl Flow {
    /// Reads a flow schema; nothing if its priority level does not exist.
    fn new(schema: &Value, levels: &[Value]) -> Option<Self> {
        let wanted = &schema["spec"]["priorityLevelConfiguration"]["name"];
        let level = levels
            .iter()
            .find(|level| level["metadata"]["name"] == *wanted)?;
        let uid = |object: &Value| {
            let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
            HeaderValue::from_str(uid).ok()
        };
        Some(Self {
            precedence: schema["spec"]["matchingPrecedence"]
                .as_i64()
                .unwrap_or_default(),
            name: schema["metadata"]["name"].as_str()?.to_owned(),
            rules: Vec::deserialize(&schema["spec"]["rules"]).unwrap_or_default(),
            headers: [
                (FLOW_SCHEMA_UID, uid(schema)?),
                (PRIORITY_LEVEL_UID, uid(level)?),
            ],
        })
    }

    fn matches(&self, user: &UserInfo, attributes: &Attributes) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.is_about(user) && rule.matches(attributes))
    }
}

// === impl Rule ===

impl Rule {
    fn is_about(&self, user: &UserInfo) -> bool {
        self.subjects.iter().any(|subject| subject.is(user))
    }

    fn matches(&self, attributes: &Attributes) -> bool {
        let verb = &attributes.verb;
        match &attributes.target {
            Target::Resource(resource) => self
                .resource_rules
                .iter()
                .any(|rule| rule.matches(verb, resource)),
            Target::Path(path) => self
                .non_resource_rules
                .iter()
                .any(|rule| rule.matches(verb, path)),
        }
    }

    /// Returns whether the rule matches every request of its subjects.
    fn takes_all(&self) -> bool {
        let is_all = |list: &[String]| matches!(list, [only] if only == ALL);
        let takes_resources = self.resource_rules.iter().any(|rule| {
            let lists = [
                &rule.verbs,
                &rule.api_groups,
                &rule.resources,
                &rule.namespaces,
            ];
            rule.cluster_scope && lists.into_iter().all(|list| is_all(list))
        });
        let mut paths = self.non_resource_rules.iter();
        takes_resources && paths.any(|rule| is_all(&rule.verbs) && is_all(&rule.paths))
    }
}

// === impl Subject ===

impl Subject {
    fn is(&self, user: &UserInfo) -> bool {
        let is_name = |named: &SubjectName, name: &str| named.name == ALL || named.name == name;
        if let Some(named) = &self.user {
            return is_name(named, user.name());
        }
        if let Some(named) = &self.group {
            return named.name == ALL || user.groups().contains(&named.name);
        }
        self.service_account.as_ref().is_some_and(|named| {
            let account = user.name().strip_prefix(SERVICE_ACCOUNT);
            let parts = account.and_then(|account| account.split_once(':'));
            parts.is_some_and(|(namespace, name)| {
                namespace == named.namespace && is_name(named, name)
            })
        })
    }
}

// === impl ResourceRule ===

impl ResourceRule {
    fn matches(&self, verb: &str, request: &ResourceAttributes) -> bool {
        let resource = match request.subresource.as_str() {
            "" => request.resource.clone(),
            part => format!("{}/{part}", request.resource),
        };
        let is_placed = if request.namespace.is_empty() {
            self.cluster_scope
        } else {
            has(&self.namespaces, &request.namespace)
        };
        is_placed
            && has(&self.verbs, verb)
            && has(&self.resources, &resource)
            && has(&self.api_groups, &request.group)
    }
}

// === impl PathRule ===

impl PathRule {
    fn matches(&self, verb: &str, path: &str) -> bool {
        let is_path = |rule: &String| {
            let prefix = rule.trim_end_matches('*').trim_end_matches('/');
            let below = path.strip_prefix(prefix);
            rule == ALL || rule == path || below.is_some_and(|rest| rest.starts_with('/'))
        };
        has(&self.verbs, verb) && self.paths.iter().any(is_path)
    }
}

/// Returns whether a list contains `text` or is the wildcard.
fn has(list: &[String], text: &str) -> bool {
    matches!(list, [only] if only == ALL) || list.iter().any(|entry| entry == text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_flow_rule_matches_only_its_lists() {
        let rules = json!([{
            "subjects": [
                {"kind": "ServiceAccount", "serviceAccount": {"namespace": "ns", "name": "*"}},
                {"kind": "Group", "group": {"name": "g"}},
            ],
            "resourceRules": [
                {"verbs": ["get"], "apiGroups": [""], "resources": ["pods/status"], "namespaces": ["*"]},
            ],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["/healthz", "/livez/*"]}],
        }]);
        let rules: Vec<Rule> = Vec::deserialize(&rules).unwrap();
        let [rule] = rules.as_slice() else {
            panic!("{rules:?}");
        };
        assert!(rule.is_about(&UserInfo::new("system:serviceaccount:ns:a")));
        assert!(!rule.is_about(&UserInfo::new("system:serviceaccount:other:a")));
        assert!(rule.is_about(&UserInfo::new("u").with_groups(["g"])));
        let status = |namespace: &str, subresource: &str| {
            Attributes::resource(
                "get",
                ResourceAttributes {
                    resource: "pods".to_owned(),
                    subresource: subresource.to_owned(),
                    namespace: namespace.to_owned(),
                    ..ResourceAttributes::default()
                },
            )
        };
        assert!(rule.matches(&status("a", "status")));
        assert!(!rule.matches(&status("a", "")) && !rule.matches(&status("", "status")));
        for (path, expected) in [
            ("/healthz", true),
            ("/livez/ping", true),
            ("/readyz", false),
        ] {
            assert_eq!(
                rule.matches(&Attributes::path("get", path)),
                expected,
                "{path}"
            );
        }
        assert!(!rule.takes_all());
    }
}
