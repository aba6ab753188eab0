//! The user who makes a request.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The user of requests without credentials.
const ANONYMOUS: &str = "system:anonymous";
/// The group of those who are anonymous.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The group of all others.
pub const AUTHENTICATED: &str = "system:authenticated";
/// The group that may do everything, independent of RBAC rules.
const MASTERS: &str = "system:masters";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// The key of the extra field with the id of a user's credential.
#[doc(alias = "CredentialIDKey")]
pub const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// A user: a name, and the groups that it is in.
///
/// # Examples
///
/// ```
/// # use fakeserver_value::user as fakeserver;
/// use fakeserver::UserInfo;
///
/// let jane = UserInfo::new("jane").with_groups(["developers"]);
/// assert_eq!(jane.name(), "jane");
/// assert_eq!(jane.groups(), ["developers"]);
/// ```
#[doc(alias = "user.Info")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserInfo {
    name: String,
    uid: String,
    groups: Vec<String>,
    extra: BTreeMap<String, Vec<String>>,
}

// === impl UserInfo ===

impl UserInfo {
    /// A user of this name, in no group.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Returns the user without restrictions: `kubernetes-admin` in the group `system:masters`.
    pub fn administrator() -> Self {
        Self::new("kubernetes-admin").with_groups([MASTERS])
    }

    /// Distinguishes users that had the same name at different times.
    #[must_use]
    pub fn with_uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = uid.into();
        self
    }

    /// Puts the user into these groups also.
    #[must_use]
    pub fn with_groups(mut self, groups: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.groups.extend(groups.into_iter().map(Into::into));
        self
    }

    /// Adds an extra attribute of the user.
    #[must_use]
    pub fn with_extra(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        let values = self.extra.entry(key.into()).or_default();
        values.push(value.into());
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the extra attributes of the user.
    pub fn extra(&self) -> &BTreeMap<String, Vec<String>> {
        &self.extra
    }

    /// Returns the uid, or an empty text without one.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// The groups, in the order in which they were added.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    pub fn anonymous() -> Self {
        Self::new(ANONYMOUS).with_groups([UNAUTHENTICATED])
    }

    /// The user that a service account is.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self::new(format!("{SERVICE_ACCOUNT}{namespace}:{name}")).with_groups([
            "system:serviceaccounts".to_owned(),
            format!("system:serviceaccounts:{namespace}"),
        ])
    }

    /// Namespace and name of the service account that a user of this name is, if it is one.
    pub fn split_service_account(name: &str) -> Option<(&str, &str)> {
        let (namespace, name) = name.strip_prefix(SERVICE_ACCOUNT)?.split_once(':')?;
        let is_whole = !namespace.is_empty() && !name.is_empty() && !name.contains(':');
        is_whole.then_some((namespace, name))
    }

    /// The user with the group of those who have said who they are.
    pub fn authenticated(self) -> Self {
        if self.is_in(AUTHENTICATED) || self.is_in(UNAUTHENTICATED) {
            self
        } else {
            self.with_groups([AUTHENTICATED])
        }
    }

    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|own| own == group)
    }

    /// Returns whether no rule restricts the user.
    pub fn is_master(&self) -> bool {
        self.is_in(MASTERS)
    }

    pub fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS
    }

    /// `UserInfo` as the API writes it.
    pub fn to_json(&self) -> Value {
        let mut user = Map::new();
        for (field, text) in [("username", &self.name), ("uid", &self.uid)] {
            if !text.is_empty() {
                user.insert(field.to_owned(), json!(text));
            }
        }
        if !self.groups.is_empty() {
            user.insert("groups".to_owned(), json!(self.groups));
        }
        if !self.extra.is_empty() {
            user.insert("extra".to_owned(), json!(self.extra));
        }
        Value::Object(user)
    }
}
