//! The documents of one state of the registry, made when they are asked for.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError},
};

use serde_json::{Value, json};

use super::{Document, definitions::Dialect, v2, v3};
use crate::{
    registry::{Group, Registry, Version},
    resource::api_version,
};

/// The documents of a server without custom resources, for all servers of a process.
static BUILTIN: LazyLock<Arc<Documents>> =
    LazyLock::new(|| Arc::new(Documents::new(Registry::builtin(), None)));

/// The documents of one state of the registry.
///
/// # Memory
///
/// A few megabytes once the index was asked for, because it tells the hash of each document. Servers share those of the
/// built-in groups.
#[derive(Debug)]
pub(crate) struct Documents {
    registry: Arc<Registry>,
    /// Those of version 3, by their paths: `api/v1`, `apis/apps/v1`.
    by_path: BTreeMap<String, Entry>,
    index: OnceLock<Document>,
    v2: OnceLock<Document>,
    /// Where the documents are that nothing was added to.
    shared: Option<Arc<Documents>>,
}

/// The documents of the state that was asked for last.
#[derive(Debug, Default)]
pub(crate) struct DocumentsCache {
    latest: Mutex<Option<Arc<Documents>>>,
}

/// A document that may not have been made yet.
#[derive(Debug)]
struct Entry {
    subject: Subject,
    document: OnceLock<Document>,
}

/// What a document of version 3 is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    /// `/api`.
    CoreVersions,
    /// `/apis`.
    Groups,
    /// `/apis/<group>`.
    Group(String),
    /// `/api/<version>`, `/apis/<group>/<version>`.
    Version { group: String, version: String },
    /// `/version`.
    ServerVersion,
}

// === impl DocumentsCache ===

impl DocumentsCache {
    /// The documents of `registry`. They are kept until those of another are asked for.
    pub(crate) fn of(&self, registry: Arc<Registry>) -> Arc<Documents> {
        if registry.definitions().is_empty() {
            return Arc::clone(&BUILTIN);
        }
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let known = latest
            .as_ref()
            .filter(|known| Arc::ptr_eq(&known.registry, &registry));
        if let Some(known) = known {
            return Arc::clone(known);
        }
        let documents = Documents::new(registry, Some(Arc::clone(&BUILTIN)));
        Arc::clone(latest.insert(Arc::new(documents)))
    }
}

// === impl Documents ===

impl Documents {
    fn new(registry: Arc<Registry>, shared: Option<Arc<Documents>>) -> Self {
        let entry = |subject: Subject| Entry {
            subject,
            document: OnceLock::new(),
        };
        let subjects = subjects(&registry).into_iter();
        Self {
            by_path: subjects
                .map(|subject| (subject.path(), entry(subject)))
                .collect(),
            registry,
            index: OnceLock::new(),
            v2: OnceLock::new(),
            shared,
        }
    }

    /// What there is in version 3, and under which hashes.
    pub(crate) fn index(&self) -> &Document {
        self.index.get_or_init(|| {
            let paths = self.by_path.keys().filter_map(|path| {
                let url = self.url(path)?;
                Some((path.clone(), json!({"serverRelativeURL": url})))
            });
            Document::new(
                Dialect::V3,
                &json!({"paths": paths.collect::<serde_json::Map<_, _>>()}),
            )
        })
    }

    /// Where the document of `path` is as it is now.
    pub(crate) fn url(&self, path: &str) -> Option<String> {
        let hash = self.v3(path)?.hash();
        Some(format!("/openapi/v3/{path}?hash={hash}"))
    }

    /// The document of version 3 at `path`, such as `apis/apps/v1`.
    pub(crate) fn v3(&self, path: &str) -> Option<&Document> {
        let entry = self.by_path.get(path)?;
        if let Some(shared) = &self.shared
            && !self.is_custom(&entry.subject)
        {
            return shared.v3(path);
        }
        let document = entry.document.get_or_init(|| {
            Document::new(Dialect::V3, &v3::document(&self.registry, &entry.subject))
        });
        Some(document)
    }

    /// The document of version 2.
    pub(crate) fn v2(&self) -> &Document {
        self.v2
            .get_or_init(|| Document::new(Dialect::V2, &v2::document(&self.registry)))
    }

    /// Whether definitions have a part in it.
    fn is_custom(&self, subject: &Subject) -> bool {
        let Subject::Version { group, version } = subject else {
            return false;
        };
        let version = self.registry.version(group, version);
        version.is_some_and(|version| {
            let mut resources = version.resources.iter();
            resources.any(|resource| resource.custom.is_some())
        })
    }
}

/// What there are documents of, in the order of discovery.
pub(super) fn subjects(registry: &Registry) -> Vec<Subject> {
    let mut subjects = vec![
        Subject::CoreVersions,
        Subject::Groups,
        Subject::ServerVersion,
    ];
    for group in registry.groups() {
        let has_own = !group.name.is_empty() && !group.is_custom;
        subjects.extend(has_own.then(|| Subject::Group(group.name.to_string())));
        let versions = group.versions.iter();
        subjects.extend(versions.map(|version| Subject::of(group, version)));
    }
    subjects
}

// === impl Subject ===

impl Subject {
    fn of(group: &Group, version: &Version) -> Self {
        Self::Version {
            group: group.name.to_string(),
            version: version.name.to_string(),
        }
    }

    /// Where it is served, and where its document is below that of all.
    pub(super) fn path(&self) -> String {
        match self {
            Self::CoreVersions => "api".to_owned(),
            Self::Groups => "apis".to_owned(),
            Self::Group(group) => format!("apis/{group}"),
            Self::Version { group, version } if group.is_empty() => format!("api/{version}"),
            Self::Version { group, version } => format!("apis/{}", api_version(group, version)),
            Self::ServerVersion => "version".to_owned(),
        }
    }

    /// The definition of what is answered there.
    pub(super) fn definition(&self) -> &'static str {
        match self {
            Self::CoreVersions => "io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions",
            Self::Groups => "io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList",
            Self::Group(_) => "io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup",
            Self::Version { .. } => "io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList",
            Self::ServerVersion => "io.k8s.apimachinery.pkg.version.Info",
        }
    }
}

/// The member `info` of a document.
pub(super) fn info(is_custom: bool) -> Value {
    if is_custom {
        json!({"title": "Kubernetes CRD Swagger", "version": "v0.1.0"})
    } else {
        json!({"title": "Kubernetes", "version": "v1.36.2"})
    }
}
