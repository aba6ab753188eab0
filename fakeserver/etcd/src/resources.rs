//! The built-in resources as they are stored, read of `data/resources.txt`.

use std::{collections::BTreeMap, sync::LazyLock};

use fakeserver_value::{
    resource::GroupResource,
    schema::{TypeId, type_in},
};
use fakeserver_versions::KubernetesVersion;

/// The table, as it is embedded.
const TABLE: &str = include_str!("../data/resources.txt");

static RESOURCES: LazyLock<Vec<StoredResource>> = LazyLock::new(|| {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            StoredResource::parse(line).expect("every line of the embedded table has eight columns")
        })
        .collect()
});
static BY_FOLDER: LazyLock<BTreeMap<&'static str, &'static StoredResource>> = LazyLock::new(|| {
    RESOURCES
        .iter()
        .map(|stored| (stored.folder, stored))
        .collect()
});
static BY_RESOURCE: LazyLock<BTreeMap<&'static GroupResource, &'static StoredResource>> =
    LazyLock::new(|| {
        RESOURCES
            .iter()
            .map(|stored| (&stored.resource, stored))
            .collect()
    });

/// A built-in resource: where it is stored, and in which form.
#[derive(Debug)]
pub(crate) struct StoredResource {
    pub(crate) resource: GroupResource,
    pub(crate) kind: &'static str,
    pub(crate) is_namespaced: bool,
    /// The part of its keys behind the prefix, without slashes around it.
    pub(crate) folder: &'static str,
    pub(crate) encoding: Encoding,
    /// The version that servers write.
    storage: &'static str,
    /// The versions that servers of some versions of Kubernetes write instead, by the names of these.
    exceptions: Vec<(&'static str, &'static str)>,
    /// The versions that are not written any more, with the same fields.
    readable: Vec<&'static str>,
}

/// The form of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Protobuf,
    Json,
}

// === impl StoredResource ===

impl StoredResource {
    /// Returns all of them, in the order of the table.
    #[cfg(test)]
    pub(crate) fn all() -> &'static [Self] {
        &RESOURCES
    }

    /// Returns that of a resource, if it is built in.
    pub(crate) fn find(resource: &GroupResource) -> Option<&'static Self> {
        BY_RESOURCE.get(resource).copied()
    }

    /// Returns that in whose folder a path below the prefix is, with the rest of the path.
    pub(crate) fn of_path(path: &str) -> Option<(&'static Self, &str)> {
        // Folders have one or two parts.
        let mut ends = path.match_indices('/').map(|(at, _)| at).take(2);
        ends.find_map(|end| Some((*BY_FOLDER.get(&path[..end])?, &path[end + 1..])))
    }

    fn parse(line: &'static str) -> Option<Self> {
        let columns: Vec<&str> = line.split_ascii_whitespace().collect();
        let [
            group,
            resource,
            kind,
            scope,
            folder,
            encoding,
            storage,
            readable,
        ] = columns[..]
        else {
            return None;
        };
        let mut versions = storage.split(',');
        Some(Self {
            resource: GroupResource::new(if group == "-" { "" } else { group }, resource),
            kind,
            is_namespaced: scope == "namespaced",
            folder,
            encoding: match encoding {
                "json" => Encoding::Json,
                _ => Encoding::Protobuf,
            },
            storage: versions.next()?,
            exceptions: versions
                .map(|version| version.split_once(':'))
                .collect::<Option<_>>()?,
            readable: readable
                .split(',')
                .filter(|version| *version != "-")
                .collect(),
        })
    }

    /// Returns the version that a server of a version of Kubernetes writes.
    pub(crate) fn storage_version(&self, kubernetes: KubernetesVersion) -> &'static str {
        let name = kubernetes.name();
        let exception = self.exceptions.iter().find(|(version, _)| *version == name);
        exception.map_or(self.storage, |(_, written)| written)
    }

    /// Returns the versions whose fields are those of the type of [`types`](Self::type_in).
    pub(crate) fn versions(&self) -> impl Iterator<Item = &'static str> {
        let written = self.exceptions.iter().map(|(_, version)| version);
        let written = [&self.storage].into_iter().chain(written);
        written.chain(&self.readable).copied()
    }

    /// Returns the type of its objects in a version of Kubernetes, if that has the kind, and the version of the group that it is of.
    pub(crate) fn type_in(&self, kubernetes: KubernetesVersion) -> Option<(&'static str, TypeId)> {
        let group = self.resource.group();
        self.versions().find_map(|version| {
            let id = type_in(kubernetes, group, version, self.kind)?;
            Some((version, id))
        })
    }
}
