//! Names of resources and kinds.

use std::{fmt, sync::Arc};

/// A group, a version of it, and a kind in that.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupVersionKind {
    pub group: Arc<str>,
    pub version: Arc<str>,
    pub kind: Arc<str>,
}

/// A resource of any version: `apps` and `deployments`. All versions of a resource share their objects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupResource(Arc<Names>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Names {
    group: Arc<str>,
    resource: Arc<str>,
}

// === impl GroupVersionKind ===

impl GroupVersionKind {
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        }
    }

    /// Returns the version as objects write it: `v1`, `apps/v1`.
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }
}

// === impl GroupResource ===

impl GroupResource {
    pub fn new(group: impl Into<Arc<str>>, resource: impl Into<Arc<str>>) -> Self {
        Self(Arc::new(Names {
            group: group.into(),
            resource: resource.into(),
        }))
    }

    pub fn group(&self) -> &str {
        &self.0.group
    }

    pub fn resource(&self) -> &str {
        &self.0.resource
    }
}

impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.resource())?;
        if !self.group().is_empty() {
            write!(f, ".{}", self.group())?;
        }
        Ok(())
    }
}

/// A group and a version as objects write them.
pub fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}
