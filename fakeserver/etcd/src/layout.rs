//! The keys of objects: `/registry/pods/default/web`.
//!
//! Below the prefix stand the resource of a built-in kind, without its group, or group and plural of a custom one; then the
//! namespace, if the resource has namespaces, and the name. Resources whose folder differs are listed in
//! `data/resources.txt`.

use fakeserver_value::resource::GroupResource;

use crate::resources::StoredResource;

/// The key at which servers agree on the revision up to which etcd is compacted. It has no prefix.
const COMPACTION: &str = "compact_rev_key";

/// The place of an object: its resource, namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "complete by definition: the parts of a key"
)]
pub struct ObjectPath {
    /// The resource under which it is stored: events of both groups are those of the core group.
    pub resource: GroupResource,
    /// The namespace, or nothing for an object of the cluster.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

/// The meaning of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: every key is one of these"
)]
pub enum Key {
    /// An object of the API.
    Object(ObjectPath),
    /// Bookkeeping of API servers.
    Server(ServerKey),
    /// A key below the prefix that is neither: of a kind that no known version of Kubernetes has.
    Unknown,
    /// A key of another program, which is not below the prefix.
    Foreign,
}

/// The keys that API servers use for themselves. Their values are no objects of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerKey {
    /// The addresses that services have, in versions without `IPAddress` objects: `ranges/serviceips`.
    ServiceIps,
    /// The ports of nodes that services have: `ranges/servicenodeports`.
    ServiceNodePorts,
    /// The address of a running API server, with a lease: `masterleases/192.0.2.1`.
    MasterLease,
    /// The address at which other API servers reach one, with a lease: `peerserverleases/ID`.
    PeerLease,
    /// The key that health checks read: `health`.
    Health,
    /// The revision up to which API servers have compacted: `compact_rev_key`, without a prefix.
    Compaction,
}

/// The keys below a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The prefix, between slashes.
    prefix: String,
}

// === impl Layout ===

impl Layout {
    /// The prefix that kube-apiserver has by default.
    pub const DEFAULT_PREFIX: &str = "/registry";

    /// Creates the layout below a prefix, as `--etcd-prefix` gives it. Slashes around and between its parts count once, and there
    /// is one before it.
    pub fn new(prefix: &str) -> Self {
        let mut normal = String::from("/");
        for part in prefix.split('/').filter(|part| !part.is_empty()) {
            normal.push_str(part);
            normal.push('/');
        }
        Self { prefix: normal }
    }

    /// The prefix of all keys, with a slash at its end.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the prefix of the keys of a resource, with a slash at its end.
    pub fn folder_of(&self, resource: &GroupResource) -> String {
        let Self { prefix } = self;
        match StoredResource::find(resource) {
            Some(stored) => format!("{prefix}{}/", stored.folder),
            None => format!("{prefix}{}/{}/", resource.group(), resource.resource()),
        }
    }

    /// Returns the key of an object.
    pub fn key_of(&self, object: &ObjectPath) -> String {
        let mut key = self.folder_of(&object.resource);
        if let Some(namespace) = &object.namespace {
            key.push_str(namespace);
            key.push('/');
        }
        key.push_str(&object.name);
        key
    }

    /// Returns the key that servers use for their compactions.
    pub fn compaction_key(&self) -> &'static str {
        COMPACTION
    }

    /// Reads a key. Every key has a meaning.
    pub fn parse_key(&self, key: &[u8]) -> Key {
        if key == COMPACTION.as_bytes() {
            return Key::Server(ServerKey::Compaction);
        }
        let Some(path) = key.strip_prefix(self.prefix.as_bytes()) else {
            return Key::Foreign;
        };
        let path = std::str::from_utf8(path).unwrap_or_default();
        let object = match StoredResource::of_path(path) {
            Some((stored, rest)) => built_in(stored, rest),
            None => custom(path),
        };
        match (object, server_key(path)) {
            (_, Some(server)) => Key::Server(server),
            (Some(object), None) => Key::Object(object),
            (None, None) => Key::Unknown,
        }
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self::new(Self::DEFAULT_PREFIX)
    }
}

fn built_in(stored: &StoredResource, rest: &str) -> Option<ObjectPath> {
    let (namespace, name) = match rest.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, rest),
    };
    let is_placed = namespace.is_some() == stored.is_namespaced;
    is_placed.then(|| object(stored.resource.clone(), namespace, name))?
}

/// Reads the path of a custom object, whose group has a dot.
fn custom(path: &str) -> Option<ObjectPath> {
    let parts: Vec<&str> = path.splitn(5, '/').collect();
    let (group, plural, namespace, name) = match parts[..] {
        [group, plural, name] => (group, plural, None, name),
        [group, plural, namespace, name] => (group, plural, Some(namespace), name),
        _ => return None,
    };
    let is_custom = group.contains('.') && !plural.is_empty();
    is_custom.then(|| object(GroupResource::new(group, plural), namespace, name))?
}

/// Returns the place of an object whose namespace and name are parts of a path.
fn object(resource: GroupResource, namespace: Option<&str>, name: &str) -> Option<ObjectPath> {
    let is_part = |part: &str| !part.is_empty() && !part.contains('/');
    let are_parts = is_part(name) && namespace.is_none_or(is_part);
    are_parts.then(|| ObjectPath {
        resource,
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    })
}

fn server_key(path: &str) -> Option<ServerKey> {
    let (folder, name) = path.split_once('/').unwrap_or((path, ""));
    match (folder, name) {
        ("health", "") => Some(ServerKey::Health),
        ("ranges", "serviceips") => Some(ServerKey::ServiceIps),
        ("ranges", "servicenodeports") => Some(ServerKey::ServiceNodePorts),
        ("masterleases", name) if !name.is_empty() => Some(ServerKey::MasterLease),
        ("peerserverleases", name) if !name.is_empty() => Some(ServerKey::PeerLease),
        _ => None,
    }
}
