//! Checks of manifests: every one is created in a server of each version, in the order of dependencies.

pub(crate) mod order;
mod version_check;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_versions::KubernetesVersion;
use rustc_hash::FxHashMap;

use self::version_check::VersionCheck;
use crate::{
    finding::{Finding, ObjectName, Rule, Severity},
    position::Locator,
    sources::ManifestSet,
    verdict::Remark,
};

/// The namespace of objects that name none.
const NAMESPACE_DEFAULT: &str = "default";

/// Options of a check.
#[derive(Clone, Debug)]
#[must_use]
pub struct CheckOptions {
    versions: Vec<KubernetesVersion>,
    namespace: String,
    ignores_missing_definitions: bool,
}

/// The result of a check.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CheckReport {
    /// The versions of Kubernetes, from old to new.
    pub versions: Vec<KubernetesVersion>,
    /// The files that were read, with the objects in them, in the order of reading.
    pub files: Vec<CheckedFile>,
    /// The findings, by file and place.
    pub findings: Vec<Finding>,
}

/// A file that was checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedFile {
    /// The path, as it was named or found.
    pub name: Arc<str>,
    /// The objects, in their order.
    pub objects: Vec<Arc<ObjectName>>,
}

/// A callback that gets the number of manifests that were checked, each once for each version, and their total.
pub type Progress<'a> = &'a dyn Fn(usize, usize);

// === impl CheckOptions ===

impl CheckOptions {
    /// Checks against these versions. Without any, it is the default version.
    pub fn new(versions: impl IntoIterator<Item = KubernetesVersion>) -> Self {
        let mut versions: Vec<KubernetesVersion> = versions.into_iter().collect();
        versions.sort_unstable();
        versions.dedup();
        if versions.is_empty() {
            versions.push(KubernetesVersion::DEFAULT);
        }
        Self {
            versions,
            namespace: NAMESPACE_DEFAULT.to_owned(),
            ignores_missing_definitions: false,
        }
    }

    /// Sets the namespace of objects that name none. By default it is `default`.
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets whether custom resources without a definition are left out. By default each is an error.
    #[doc(alias = "ignore-missing-schemas")]
    pub fn with_missing_definitions_ignored(mut self, are_ignored: bool) -> Self {
        self.ignores_missing_definitions = are_ignored;
        self
    }

    pub(crate) fn first_version(&self) -> KubernetesVersion {
        self.versions.first().copied().unwrap_or_default()
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    pub(crate) fn ignores_missing(&self) -> bool {
        self.ignores_missing_definitions
    }
}

/// Checks manifests against one server of each version, in process and without sockets.
///
/// Namespaces, definitions, classes and policies are created first, so that they count for the other objects, whatever the
/// order of the files. It has to run in a tokio runtime. Equal findings of several versions are one.
///
/// # Cancel safety
///
/// The check ends, and nothing remains of it.
///
/// # Memory
///
/// The objects of one version at a time, beside the manifests and the findings.
pub async fn check(
    set: &ManifestSet,
    options: &CheckOptions,
    progress: Progress<'_>,
) -> CheckReport {
    let mut merged: BTreeMap<(usize, Remark), Vec<KubernetesVersion>> = BTreeMap::new();
    let total = set.len() * options.versions.len();
    for (round, kubernetes) in options.versions.iter().enumerate() {
        let before = round * set.len();
        let check = VersionCheck::new(set, options, *kubernetes);
        let remarks = check.run(&|done| progress(before + done, total)).await;
        for remark in remarks {
            let versions = merged.entry(remark).or_default();
            // Policies judge some objects twice.
            if versions.last() != Some(kubernetes) {
                versions.push(*kubernetes);
            }
        }
    }
    CheckReport {
        versions: options.versions.clone(),
        files: files(set),
        findings: findings(set, merged),
    }
}

fn files(set: &ManifestSet) -> Vec<CheckedFile> {
    let files = set.files.iter().map(|file| CheckedFile {
        name: Arc::clone(&file.name),
        objects: Vec::new(),
    });
    let mut files: Vec<CheckedFile> = files.collect();
    for manifest in &set.manifests {
        let objects = &mut files[manifest.file].objects;
        objects.push(Arc::clone(&manifest.name));
    }
    files
}

/// Returns the findings of texts and of servers, by file and place.
fn findings(
    set: &ManifestSet,
    remarks: BTreeMap<(usize, Remark), Vec<KubernetesVersion>>,
) -> Vec<Finding> {
    let mut locator = Locator::new(set);
    let located = remarks.into_iter().map(|((index, remark), versions)| {
        let manifest = &set.manifests[index];
        Finding {
            rule: remark.rule,
            file: Arc::clone(&set.files[manifest.file].name),
            position: Some(locator.position(manifest, &remark.path, remark.part)),
            object: Some(Arc::clone(&manifest.name)),
            field: if remark.rule.names_fields() {
                remark.path
            } else {
                String::new()
            },
            message: remark.message,
            versions,
        }
    });
    let mut findings: Vec<Finding> = set.findings.iter().cloned().chain(located).collect();
    let places: FxHashMap<Arc<str>, usize> = set
        .files
        .iter()
        .enumerate()
        .map(|(place, file)| (Arc::clone(&file.name), place))
        .collect();
    findings.sort_by_key(|finding| (places[&finding.file], finding.position, finding.rule));
    findings
}

// === impl CheckReport ===

impl CheckReport {
    /// Returns the number of findings of a weight.
    pub fn count(&self, severity: Severity) -> usize {
        let of_severity = |finding: &&Finding| finding.severity() == severity;
        self.findings.iter().filter(of_severity).count()
    }

    /// Returns the number of objects that were checked.
    pub fn object_count(&self) -> usize {
        self.files.iter().map(|file| file.objects.len()).sum()
    }

    /// Returns whether a rule has a finding.
    pub fn has(&self, rule: Rule) -> bool {
        self.findings.iter().any(|finding| finding.rule == rule)
    }
}
