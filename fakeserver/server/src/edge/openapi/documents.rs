//! The documents of one state of the registry, each built on first use.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use fakeserver_kinds::registry::{Group, Registry, Version};
use fakeserver_value::resource::api_version;
use fakeserver_versions::{KubernetesVersion, PerVersion};
use serde_json::{Value, json};

use super::{
    Document, RemoteSpec,
    definitions::Dialect,
    operations::{JSON, OK, Operation, PROTOBUF, Path, YAML, group_word, tag, title},
    v2, v3,
};

/// Returns the documents of a server without custom resources, for all servers of a version in a process.
fn builtin(kubernetes: KubernetesVersion) -> &'static Arc<Documents> {
    static BUILTIN: PerVersion<Arc<Documents>> = PerVersion::new();
    BUILTIN.get_or_init(kubernetes, || {
        Arc::new(Documents::new(Registry::builtin(kubernetes), None))
    })
}

/// The documents of one state of the registry.
///
/// # Memory
///
/// A few megabytes once the index was requested, because the index has the hash of each document. States and servers
/// share each document whose content is the same.
#[derive(Debug)]
pub(crate) struct Documents {
    registry: Arc<Registry>,
    /// The documents of version 3 by their paths: `api/v1`, `apis/apps/v1`.
    by_path: BTreeMap<String, Entry>,
    index: OnceLock<Document>,
    v2: OnceLock<Document>,
}

/// The documents of the registry state that was requested last, for each version of Kubernetes that was served.
#[derive(Debug, Default)]
pub(crate) struct DocumentsCache {
    latest: Mutex<BTreeMap<KubernetesVersion, Arc<Documents>>>,
    merged: Mutex<Option<CombinedDocument>>,
}

/// The last merged document of version 2, and its inputs.
#[derive(Debug)]
struct CombinedDocument {
    documents: Arc<Documents>,
    specs: Vec<Arc<RemoteSpec>>,
    document: Arc<Document>,
}

/// The documents of this server, merged with those of aggregated servers.
#[derive(Debug)]
pub(crate) struct MergedDocuments<'a> {
    cache: &'a DocumentsCache,
    pub(super) documents: &'a Arc<Documents>,
    /// Entries of the index of version 3, by path.
    entries: Vec<(String, Value)>,
    specs: Vec<Arc<RemoteSpec>>,
}

/// A document that may not have been made yet.
#[derive(Debug)]
struct Entry {
    subject: Subject,
    document: Arc<OnceLock<Document>>,
}

/// The subject of a document of version 3.
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
    /// `/.well-known/openid-configuration`.
    OpenIdConfiguration,
    /// `/openid/v1/jwks`.
    OpenIdKeys,
}

// === impl DocumentsCache ===

impl DocumentsCache {
    /// Returns the documents of `registry`. They are cached until another registry state is requested.
    pub(crate) fn of(&self, registry: Arc<Registry>) -> Arc<Documents> {
        if registry.has_only_recorded() {
            return Arc::clone(builtin(registry.kubernetes()));
        }
        let kubernetes = registry.kubernetes();
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let before = latest
            .get(&kubernetes)
            .unwrap_or_else(|| builtin(kubernetes));
        if Arc::ptr_eq(&before.registry, &registry) {
            return Arc::clone(before);
        }
        let documents = Arc::new(Documents::new(registry, Some(before)));
        latest.insert(kubernetes, Arc::clone(&documents));
        documents
    }
}

// === impl MergedDocuments ===

impl<'a> MergedDocuments<'a> {
    /// Adds entries of the index of version 3, by path, and parts of version 2 to `documents`. `cache` keeps the result.
    pub(crate) fn new(
        cache: &'a DocumentsCache,
        documents: &'a Arc<Documents>,
        entries: Vec<(String, Value)>,
        specs: Vec<Arc<RemoteSpec>>,
    ) -> Self {
        Self {
            cache,
            documents,
            entries,
            specs,
        }
    }

    /// Returns the index of version 3 with the entries of other servers; `None` if there are none.
    pub(super) fn index(&self) -> Option<Document> {
        if self.entries.is_empty() {
            return None;
        }
        let mut index = self.documents.index_value();
        for (path, entry) in &self.entries {
            index["paths"][path] = entry.clone();
        }
        Some(Document::new(Dialect::V3, &index))
    }

    /// Returns the document of version 2 with the parts of other servers; `None` if there are none.
    pub(super) fn v2(&self) -> Option<Arc<Document>> {
        if self.specs.is_empty() {
            return None;
        }
        let mut kept = self
            .cache
            .merged
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept.as_ref().filter(|kept| self.is_current(kept)) {
            return Some(Arc::clone(&kept.document));
        }
        let mut merged = v2::document(&self.documents.registry);
        for spec in &self.specs {
            spec.add_to(&mut merged);
        }
        let document = Arc::new(Document::new(Dialect::V2, &merged));
        *kept = Some(CombinedDocument {
            documents: Arc::clone(self.documents),
            specs: self.specs.clone(),
            document: Arc::clone(&document),
        });
        Some(document)
    }

    /// Returns whether a merged document has these inputs.
    fn is_current(&self, kept: &CombinedDocument) -> bool {
        let mut pairs = kept.specs.iter().zip(&self.specs);
        Arc::ptr_eq(&kept.documents, self.documents)
            && kept.specs.len() == self.specs.len()
            && pairs.all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

// === impl Documents ===

impl Documents {
    /// Builds the documents of `registry`, reusing those that are unchanged since `before`.
    fn new(registry: Arc<Registry>, before: Option<&Arc<Self>>) -> Self {
        let entry = |subject: Subject| {
            let path = subject.path();
            let same = before.filter(|before| is_same(&subject, &before.registry, &registry));
            let previous = same.and_then(|before| before.by_path.get(&path));
            let document = previous.map(|previous| Arc::clone(&previous.document));
            let document = document.unwrap_or_default();
            (path, Entry { subject, document })
        };
        Self {
            by_path: subjects(&registry).into_iter().map(entry).collect(),
            registry,
            index: OnceLock::new(),
            v2: OnceLock::new(),
        }
    }

    /// Returns the index of version 3: the documents and their hashes.
    pub(crate) fn index(&self) -> &Document {
        self.index
            .get_or_init(|| Document::new(Dialect::V3, &self.index_value()))
    }

    fn index_value(&self) -> Value {
        let paths = self.by_path.keys().filter_map(|path| {
            let url = self.url(path)?;
            Some((path.clone(), json!({"serverRelativeURL": url})))
        });
        json!({"paths": paths.collect::<serde_json::Map<_, _>>()})
    }

    /// Returns the current URL of the document of `path`.
    pub(crate) fn url(&self, path: &str) -> Option<String> {
        let hash = self.v3(path)?.hash();
        Some(format!("/openapi/v3/{path}?hash={hash}"))
    }

    /// The document of version 3 at `path`, such as `apis/apps/v1`.
    pub(crate) fn v3(&self, path: &str) -> Option<&Document> {
        let entry = self.by_path.get(path)?;
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
}

/// Returns whether the document about `subject` is the same for two registries.
fn is_same(subject: &Subject, one: &Registry, other: &Registry) -> bool {
    let Subject::Version { group, version } = subject else {
        return true;
    };
    match (one.version(group, version), other.version(group, version)) {
        (Some(one), Some(other)) => {
            let mut both = one.resources.iter().zip(&other.resources);
            one.resources.len() == other.resources.len()
                && both.all(|(one, other)| Arc::ptr_eq(one, other))
        }
        _ => false,
    }
}

/// Returns the subjects of all documents, in the order of discovery.
pub(super) fn subjects(registry: &Registry) -> Vec<Subject> {
    let mut subjects = vec![
        Subject::CoreVersions,
        Subject::Groups,
        Subject::ServerVersion,
        Subject::OpenIdConfiguration,
        Subject::OpenIdKeys,
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

    /// Returns the path at which it is served, and its document below the index.
    pub(super) fn path(&self) -> String {
        match self {
            Self::CoreVersions => "api".to_owned(),
            Self::Groups => "apis".to_owned(),
            Self::Group(group) => format!("apis/{group}"),
            Self::Version { group, version } if group.is_empty() => format!("api/{version}"),
            Self::Version { group, version } => format!("apis/{}", api_version(group, version)),
            Self::ServerVersion => "version".to_owned(),
            Self::OpenIdConfiguration => ".well-known/openid-configuration".to_owned(),
            Self::OpenIdKeys => "openid/v1/jwks".to_owned(),
        }
    }

    /// Returns whether only definitions have made it.
    pub(super) fn is_custom(&self, registry: &Registry) -> bool {
        let Self::Version { group, version } = self else {
            return false;
        };
        let resources = registry
            .version(group, version)
            .map(|found| &found.resources);
        let mut resources = resources.into_iter().flatten().peekable();
        resources.peek().is_some() && resources.all(|resource| resource.rules.is_custom())
    }

    /// Returns the path at which it is served.
    pub(super) fn discovery(&self) -> Path {
        let (id, tag) = self.names();
        let operation = Operation {
            method: "get",
            id,
            tag,
            description: self.description().to_owned(),
            subject: None,
            parameters: Vec::new(),
            body: None,
            answer: self.definition().map(str::to_owned),
            codes: &[OK],
            produces: match self {
                Self::ServerVersion | Self::OpenIdConfiguration => vec![JSON],
                Self::OpenIdKeys => vec!["application/jwk-set+json"],
                _ => vec![JSON, YAML, PROTOBUF],
            },
        };
        Path {
            template: format!("/{}/", self.path()),
            operations: vec![operation],
        }
    }

    /// The name of the operation that reads it, and its tag.
    fn names(&self) -> (String, String) {
        let (id, word) = match self {
            Self::CoreVersions => ("getCoreAPIVersions", "core"),
            Self::Groups => ("getAPIVersions", "apis"),
            Self::Group(group) => {
                let tag = tag(group, "").trim_end_matches('_').to_owned();
                return (format!("get{}APIGroup", group_word(group)), tag);
            }
            Self::Version { group, version } => {
                let id = format!("get{}{}APIResources", group_word(group), title(version));
                return (id, tag(group, version));
            }
            Self::ServerVersion => ("getCodeVersion", "version"),
            Self::OpenIdConfiguration => {
                ("getServiceAccountIssuerOpenIDConfiguration", "WellKnown")
            }
            Self::OpenIdKeys => ("getServiceAccountIssuerOpenIDKeyset", "openid"),
        };
        (id.to_owned(), word.to_owned())
    }

    fn description(&self) -> &'static str {
        match self {
            Self::CoreVersions => "get available API versions",
            Self::Groups => "get available API groups",
            Self::Group(_) => "get information of a group",
            Self::Version { .. } => "get available resources",
            Self::ServerVersion => "get the version information for this server",
            Self::OpenIdConfiguration => {
                "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'"
            }
            Self::OpenIdKeys => {
                "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)"
            }
        }
    }

    /// The definition of what is answered there; none of text.
    fn definition(&self) -> Option<&'static str> {
        match self {
            Self::CoreVersions => Some("io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions"),
            Self::Groups => Some("io.k8s.apimachinery.pkg.apis.meta.v1.APIGroupList"),
            Self::Group(_) => Some("io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup"),
            Self::Version { .. } => Some("io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList"),
            Self::ServerVersion => Some("io.k8s.apimachinery.pkg.version.Info"),
            Self::OpenIdConfiguration | Self::OpenIdKeys => None,
        }
    }
}

/// The member `info` of a document.
pub(super) fn info(kubernetes: KubernetesVersion, is_custom: bool) -> Value {
    if is_custom {
        json!({"title": "Kubernetes CRD Swagger", "version": "v0.1.0"})
    } else {
        json!({"title": "Kubernetes", "version": kubernetes.name()})
    }
}

/// The way in which users authenticate.
pub(super) fn security_scheme() -> Value {
    json!({"BearerToken": {
        "type": "apiKey",
        "name": "authorization",
        "in": "header",
        "description": "Bearer Token authentication",
    }})
}
