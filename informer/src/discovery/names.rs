//! The names of API types: groups with versions, kinds and resources, in the form that people type.
//!
//! kube has three of these types. They are not used as they are because a factory and a table need names that can be
//! ordered, printed and read back; every one of kube's converts into ours and back.

use std::{fmt, str::FromStr};

use kube::core::gvk;

/// A group and a version, printed as in `apiVersion`: `apps/v1`, or `v1` for the core group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersion {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
}

/// A kind in one version of its group, printed `Deployment.v1.apps`, or `Pod.v1.` for the core group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersionKind {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind, as in an object's `kind`.
    pub kind: String,
}

/// A resource in one version of its group, printed `deployments.v1.apps`, or `pods.v1.` for the core group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersionResource {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural name, as in the path of a request.
    pub resource: String,
}

/// A kind of any version, printed `Deployment.apps`, or `Pod` for the core group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKind {
    /// The API group; empty for the core group.
    pub group: String,
    /// The kind, as in an object's `kind`.
    pub kind: String,
}

/// A resource of any version, printed `deployments.apps`, or `pods` for the core group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupResource {
    /// The API group; empty for the core group.
    pub group: String,
    /// The plural name, as in the path of a request.
    pub resource: String,
}

/// A text that is not the name that was expected. Trying again with the same text is useless.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a name of the form {form}")]
pub struct ParseNameError {
    text: String,
    form: &'static str,
}

// === impl GroupVersion ===

impl GroupVersion {
    /// The version `version` of `group`, which is empty for the core group.
    pub fn new(group: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
        }
    }

    /// A kind of this version.
    pub fn with_kind(&self, kind: impl Into<String>) -> GroupVersionKind {
        GroupVersionKind::new(&self.group, &self.version, kind)
    }

    /// A resource of this version.
    pub fn with_resource(&self, resource: impl Into<String>) -> GroupVersionResource {
        GroupVersionResource::new(&self.group, &self.version, resource)
    }

    /// Returns the path at which the server lists the resources of this version: `/apis/apps/v1`, or `/api/v1` for the
    /// core group.
    pub fn path(&self) -> String {
        if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        }
    }
}

impl fmt::Display for GroupVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            f.write_str(&self.version)
        } else {
            write!(f, "{}/{}", self.group, self.version)
        }
    }
}

impl FromStr for GroupVersion {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (group, version) = match text.split_once('/') {
            Some((group, version)) if !group.is_empty() => (group, version),
            Some(_) => return Err(ParseNameError::new(text, "group/version")),
            None => ("", text),
        };
        if version.is_empty() || version.contains('/') {
            return Err(ParseNameError::new(text, "group/version"));
        }
        Ok(Self::new(group, version))
    }
}

impl From<gvk::GroupVersion> for GroupVersion {
    fn from(name: gvk::GroupVersion) -> Self {
        Self::new(name.group, name.version)
    }
}

impl From<GroupVersion> for gvk::GroupVersion {
    fn from(name: GroupVersion) -> Self {
        Self::gv(&name.group, &name.version)
    }
}

// === impl GroupVersionKind ===

impl GroupVersionKind {
    /// The kind `kind` of `group`, which is empty for the core group, in `version`.
    pub fn new(
        group: impl Into<String>,
        version: impl Into<String>,
        kind: impl Into<String>,
    ) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        }
    }

    /// The kind of a Rust type.
    pub fn of<K: kube::Resource>(dynamic_type: &K::DynamicType) -> Self {
        Self::new(
            K::group(dynamic_type),
            K::version(dynamic_type),
            K::kind(dynamic_type),
        )
    }

    /// The group and the version.
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion::new(&self.group, &self.version)
    }

    /// The kind without its version.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(&self.group, &self.kind)
    }
}

impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.kind, self.version, self.group)
    }
}

impl FromStr for GroupVersionKind {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let [kind, version, group] = three_parts(text, "Kind.version.group")?;
        Ok(Self::new(group, version, kind))
    }
}

impl From<gvk::GroupVersionKind> for GroupVersionKind {
    fn from(name: gvk::GroupVersionKind) -> Self {
        Self::new(name.group, name.version, name.kind)
    }
}

impl From<GroupVersionKind> for gvk::GroupVersionKind {
    fn from(name: GroupVersionKind) -> Self {
        Self::gvk(&name.group, &name.version, &name.kind)
    }
}

// === impl GroupVersionResource ===

impl GroupVersionResource {
    /// The resource `resource` (plural) of `group`, which is empty for the core group, in `version`.
    pub fn new(
        group: impl Into<String>,
        version: impl Into<String>,
        resource: impl Into<String>,
    ) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            resource: resource.into(),
        }
    }

    /// The resource of a Rust type.
    pub fn of<K: kube::Resource>(dynamic_type: &K::DynamicType) -> Self {
        Self::new(
            K::group(dynamic_type),
            K::version(dynamic_type),
            K::plural(dynamic_type),
        )
    }

    /// The group and the version.
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion::new(&self.group, &self.version)
    }

    /// The resource without its version.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource::new(&self.group, &self.resource)
    }
}

impl fmt::Display for GroupVersionResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.resource, self.version, self.group)
    }
}

impl FromStr for GroupVersionResource {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let [resource, version, group] = three_parts(text, "resource.version.group")?;
        Ok(Self::new(group, version, resource))
    }
}

impl From<gvk::GroupVersionResource> for GroupVersionResource {
    fn from(name: gvk::GroupVersionResource) -> Self {
        Self::new(name.group, name.version, name.resource)
    }
}

impl From<GroupVersionResource> for gvk::GroupVersionResource {
    fn from(name: GroupVersionResource) -> Self {
        Self::gvr(&name.group, &name.version, &name.resource)
    }
}

// === impl GroupKind ===

impl GroupKind {
    /// The kind `kind` of `group`, which is empty for the core group.
    pub fn new(group: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            kind: kind.into(),
        }
    }

    /// The kind in one version of its group.
    pub fn with_version(&self, version: impl Into<String>) -> GroupVersionKind {
        GroupVersionKind::new(&self.group, version, &self.kind)
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_two_parts(f, &self.kind, &self.group)
    }
}

impl FromStr for GroupKind {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let [kind, group] = two_parts(text, "Kind.group")?;
        Ok(Self::new(group, kind))
    }
}

// === impl GroupResource ===

impl GroupResource {
    /// The resource `resource` (plural) of `group`, which is empty for the core group.
    pub fn new(group: impl Into<String>, resource: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            resource: resource.into(),
        }
    }

    /// The resource in one version of its group.
    pub fn with_version(&self, version: impl Into<String>) -> GroupVersionResource {
        GroupVersionResource::new(&self.group, version, &self.resource)
    }
}

impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_two_parts(f, &self.resource, &self.group)
    }
}

impl FromStr for GroupResource {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let [resource, group] = two_parts(text, "resource.group")?;
        Ok(Self::new(group, resource))
    }
}

// === impl ParseNameError ===

impl ParseNameError {
    fn new(text: &str, form: &'static str) -> Self {
        Self {
            text: text.to_owned(),
            form,
        }
    }
}

fn write_two_parts(f: &mut fmt::Formatter<'_>, name: &str, group: &str) -> fmt::Result {
    if group.is_empty() {
        f.write_str(name)
    } else {
        write!(f, "{name}.{group}")
    }
}

fn two_parts<'a>(text: &'a str, form: &'static str) -> Result<[&'a str; 2], ParseNameError> {
    let (name, group) = text.split_once('.').unwrap_or((text, ""));
    if name.is_empty() || text.contains('/') {
        return Err(ParseNameError::new(text, form));
    }
    Ok([name, group])
}

fn three_parts<'a>(text: &'a str, form: &'static str) -> Result<[&'a str; 3], ParseNameError> {
    let bad = || ParseNameError::new(text, form);
    let (name, rest) = text.split_once('.').ok_or_else(bad)?;
    let (version, group) = rest.split_once('.').ok_or_else(bad)?;
    if name.is_empty() || version.is_empty() || text.contains('/') {
        return Err(bad());
    }
    Ok([name, version, group])
}
