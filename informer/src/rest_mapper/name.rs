//! A resource as people name it: `po`, `pods`, `Pod`, `deployments.apps`, `Deployment.v1.apps`, `pods.v1.`.

use std::{fmt, str::FromStr};

use super::error::RestMapperError;
use crate::discovery::{GroupResource, GroupVersionKind, GroupVersionResource};

/// A resource of which the version, the group, or both may be left open.
///
/// An open group matches every group. A given group matches itself or, if it does not have the resource, every group
/// that begins with it: `storageclasses.storage` is found in `storage.k8s.io`. The core group is `""`, which every group
/// begins with: it has the resource, or else any group will do.
#[doc(alias = "partiallySpecifiedResource")]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartialResource {
    /// The plural, singular or short name, or the kind; matched in lower case.
    pub name: String,
    /// The version; `None` if any will do.
    pub version: Option<String>,
    /// The group, or its beginning; `None` if any will do.
    pub group: Option<String>,
}

/// A text that names a resource, in its one or two readings.
///
/// `foos.example.com` may be `foos` of version `example` in the group `com`, or `foos` of the group `example.com`. Only
/// the server's answer tells; the reading with a version is tried first.
#[doc(alias = "ParseResourceArg")]
#[doc(alias = "ParseKindArg")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceArg {
    text: String,
    readings: Vec<PartialResource>,
}

/// The version that stands for "any" inside an API server.
const INTERNAL_VERSION: &str = "__internal";

// === impl PartialResource ===

impl PartialResource {
    /// The resource called `name`, in any group and version.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: None,
            group: None,
        }
    }

    /// Sets the group, or its beginning; `""` is the core group.
    #[must_use]
    pub fn with_group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Sets the version. An empty version and the server's `__internal` leave it open.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = given_version(version.into());
        self
    }
}

impl fmt::Display for PartialResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match (&self.version, &self.group) {
            (None, None) => Ok(()),
            (None, Some(group)) => write!(f, ".{group}"),
            (Some(version), group) => write!(f, ".{version}.{}", group.as_deref().unwrap_or("")),
        }
    }
}

impl From<&GroupVersionResource> for PartialResource {
    fn from(resource: &GroupVersionResource) -> Self {
        Self::new(&*resource.resource)
            .with_version(&*resource.version)
            .with_group(&*resource.group)
    }
}

impl From<&GroupVersionKind> for PartialResource {
    fn from(kind: &GroupVersionKind) -> Self {
        Self::new(&*kind.kind)
            .with_version(&*kind.version)
            .with_group(&*kind.group)
    }
}

impl From<&GroupResource> for PartialResource {
    fn from(resource: &GroupResource) -> Self {
        Self::new(&*resource.resource).with_group(&*resource.group)
    }
}

// === impl ResourceArg ===

impl ResourceArg {
    /// The possible readings, the more specific one first. There is always one.
    pub fn readings(&self) -> &[PartialResource] {
        &self.readings
    }
}

impl fmt::Display for ResourceArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<PartialResource> for ResourceArg {
    fn from(resource: PartialResource) -> Self {
        Self {
            text: resource.to_string(),
            readings: vec![resource],
        }
    }
}

impl FromStr for ResourceArg {
    type Err = RestMapperError;

    /// Reads `name`, `name.group` or `name.version.group`; an empty group is the core group.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, rest) = match text.split_once('.') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let invalid = |reason| RestMapperError::InvalidName {
            name: text.to_owned(),
            reason,
        };
        if name.is_empty() {
            return Err(invalid("it does not begin with a name"));
        }
        if text.contains('/') {
            return Err(invalid(
                "a subresource is a part of its resource, not one of its own",
            ));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if !text.chars().all(is_plain) {
            return Err(invalid(
                "it may have only letters, digits, '-', '_' and '.'",
            ));
        }
        let mut readings = Vec::new();
        if let Some((version, group)) = rest.and_then(|rest| rest.split_once('.')) {
            let versioned = PartialResource::new(name).with_group(group);
            readings.push(versioned.with_version(version));
        }
        // `pods.v1.` cannot be of a group "v1.": no name of a group ends in a dot.
        if !(readings.len() == 1 && text.ends_with('.')) {
            let unversioned = PartialResource::new(name);
            readings.push(match rest {
                Some(group) => unversioned.with_group(group),
                None => unversioned,
            });
        }
        Ok(Self {
            text: text.to_owned(),
            readings,
        })
    }
}

/// A version that was really given.
pub(super) fn given_version(version: String) -> Option<String> {
    let is_given = !version.is_empty() && version != INTERNAL_VERSION;
    is_given.then_some(version)
}
