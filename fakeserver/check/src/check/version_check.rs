//! The check of all manifests against a server of one version.

use std::collections::BTreeSet;

use fakeserver_versions::KubernetesVersion;
use rustc_hash::FxHashMap;
use serde_json::json;

use super::{
    CheckOptions,
    order::{Phase, in_order, needs_conversion, without_conversion},
};
use crate::{
    catalogue::{Catalogue, Resource},
    finding::Rule,
    session::{Answer, Session},
    sources::{Manifest, ManifestSet},
    verdict::{Remark, remarks},
};

/// The namespaces of every cluster.
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];
/// The path of the namespace of an object.
const NAMESPACE: &str = "metadata.namespace";
const WITHOUT_WEBHOOKS: &str =
    "its webhooks are not called: what they reject or change is not checked";
const WITHOUT_CONVERSION: &str =
    "its conversion webhook is not called: objects keep their fields in all versions";
const WITHOUT_SERVER: &str = "the API server behind it is not called: its objects are not checked";

/// A server, and what is in it.
pub(super) struct VersionCheck<'a> {
    set: &'a ManifestSet,
    options: &'a CheckOptions,
    session: Session,
    catalogue: Catalogue,
    /// The namespaces that the server has.
    namespaces: BTreeSet<String>,
    /// The namespaces of manifests, whether the server takes these or not.
    declared: BTreeSet<&'a str>,
    /// The first manifest of each object.
    first: FxHashMap<ObjectKey, usize>,
    remarks: Vec<(usize, Remark)>,
}

/// The identity of an object: group, kind, namespace and name. Its version does not matter.
type ObjectKey = (String, String, String, String);

// === impl VersionCheck ===

impl<'a> VersionCheck<'a> {
    pub(super) fn new(
        set: &'a ManifestSet,
        options: &'a CheckOptions,
        kubernetes: KubernetesVersion,
    ) -> Self {
        let names = set.manifests.iter().map(|manifest| &*manifest.name);
        let namespaces = names.filter(|name| name.kind == "Namespace" && name.api_version == "v1");
        Self {
            set,
            options,
            session: Session::new(kubernetes),
            catalogue: Catalogue::of(kubernetes),
            namespaces: NAMESPACES.map(str::to_owned).into(),
            declared: namespaces.map(|name| &*name.name).collect(),
            first: FxHashMap::default(),
            remarks: Vec::new(),
        }
    }

    /// Returns the remarks about all manifests, by their indices. `progress` gets the number of manifests that were sent.
    pub(super) async fn run(mut self, progress: &dyn Fn(usize)) -> Vec<(usize, Remark)> {
        let order = in_order(self.set);
        for (done, (phase, index)) in order.iter().enumerate() {
            self.send(*phase, *index).await;
            progress(done + 1);
        }
        let has_policies = order.iter().any(|(phase, _)| *phase == Phase::Policy);
        if has_policies {
            let earlier = order.iter().filter(|(phase, _)| *phase < Phase::Policy);
            for (_, index) in earlier {
                self.judge(*index).await;
            }
        }
        self.remarks
    }

    fn add(&mut self, index: usize, remark: Remark) {
        self.remarks.push((index, remark));
    }

    /// Sends a manifest, and adds what the server says.
    async fn send(&mut self, phase: Phase, index: usize) {
        let manifest = &self.set.manifests[index];
        let Some((resource, namespace)) = self.place(index) else {
            return;
        };
        let name = &*manifest.name;
        if let Some(warning) = self.catalogue.deprecation(&name.api_version, &name.kind) {
            self.add(
                index,
                Remark::new(Rule::DeprecatedApi, "apiVersion", warning),
            );
        }
        if resource.is_namespaced && !self.ensure_namespace(index, namespace).await {
            return;
        }
        let is_first = self.is_first(index, &resource, namespace);
        let path = resource.path(namespace);
        let answer = match phase {
            _ if !is_first => self.session.create(&path, &manifest.object, true).await,
            Phase::Definition => self.create_definition(index, &path).await,
            Phase::Callout => {
                self.add_note(index);
                self.session.create(&path, &manifest.object, true).await
            }
            _ => self.session.create(&path, &manifest.object, false).await,
        };
        if !is_existing(&answer) {
            let found = remarks(&answer, &manifest.object);
            self.remarks
                .extend(found.into_iter().map(|remark| (index, remark)));
        } else if is_first && phase != Phase::Callout {
            self.replace(index, &path).await;
        }
        if phase == Phase::Namespace && (answer.is_success() || is_existing(&answer)) {
            self.namespaces.insert(name.name.clone());
        }
    }

    /// Returns the kind of a manifest and its namespace; none, with a remark, if the server has no such kind.
    fn place(&mut self, index: usize) -> Option<(Resource, &'a str)> {
        let (set, options) = (self.set, self.options);
        let name = &set.manifests[index].name;
        match self.catalogue.find(&name.api_version, &name.kind) {
            Ok(resource) => {
                let resource = resource.clone();
                let own = &*name.namespace;
                let namespace = if !resource.is_namespaced {
                    ""
                } else if own.is_empty() {
                    &options.namespace
                } else {
                    own
                };
                Some((resource, namespace))
            }
            Err(absence) => {
                let is_ignored =
                    absence.rule == Rule::MissingDefinition && options.ignores_missing_definitions;
                let is_of_kind = [Rule::UnknownKind, Rule::MissingDefinition];
                let path = if is_of_kind.contains(&absence.rule) {
                    "kind"
                } else {
                    "apiVersion"
                };
                if !is_ignored {
                    self.add(index, Remark::new(absence.rule, path, absence.message));
                }
                None
            }
        }
    }

    /// Creates the namespace of an object if it is missing. Returns false, with a remark, if there can be no such namespace.
    async fn ensure_namespace(&mut self, index: usize, namespace: &str) -> bool {
        if self.namespaces.contains(namespace) {
            return true;
        }
        let object =
            json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": namespace}});
        let path = "/api/v1/namespaces";
        let answer = self.session.create(path, &object, false).await;
        if !answer.is_success() {
            let found = remarks(&answer, &object).into_iter().next();
            let message = found.map_or_else(String::new, |remark| remark.message);
            let remark = Remark::new(Rule::InvalidField, NAMESPACE, message);
            self.add(index, remark);
            return false;
        }
        self.namespaces.insert(namespace.to_owned());
        if !self.declared.contains(namespace) {
            let message =
                format!("no manifest creates the namespace {namespace}; it is taken to exist");
            self.add(
                index,
                Remark::new(Rule::MissingNamespace, NAMESPACE, message),
            );
        }
        true
    }

    /// Returns whether no manifest before this one is the same object; otherwise adds a remark.
    fn is_first(&mut self, index: usize, resource: &Resource, namespace: &str) -> bool {
        let manifest = &self.set.manifests[index];
        let name = &*manifest.name;
        if manifest.object["metadata"]["name"] != *name.name {
            // It has none, or a generated one.
            return true;
        }
        let key = (
            resource.group.to_string(),
            name.kind.clone(),
            namespace.to_owned(),
            name.name.clone(),
        );
        let first = *self.first.entry(key).or_insert(index);
        if first != index {
            let other = &self.set.manifests[first];
            let file = &self.set.files[other.file];
            let line = file.position(other.start).line;
            let message = format!("{name} is in {}:{line} already", file.name);
            self.add(
                index,
                Remark::new(Rule::DuplicateObject, "metadata.name", message),
            );
        }
        first == index
    }

    /// Creates a definition whose objects the server can convert, and returns the answer about the manifest.
    async fn create_definition(&mut self, index: usize, path: &str) -> Answer {
        let manifest = &self.set.manifests[index];
        let object = &manifest.object;
        let answer = if needs_conversion(object) {
            let message = WITHOUT_CONVERSION;
            self.add(
                index,
                Remark::new(Rule::NotCalled, "spec.conversion", message),
            );
            let answer = self.session.create(path, object, true).await;
            let converted = without_conversion(object);
            self.session.create(path, &converted, false).await;
            answer
        } else {
            self.session.create(path, object, false).await
        };
        if answer.is_success() {
            self.catalogue.define(object);
        } else {
            self.catalogue.reject(object);
        }
        answer
    }

    /// Adds a note that a webhook or a server is not called.
    fn add_note(&mut self, index: usize) {
        let manifest = &self.set.manifests[index];
        let is_service = manifest.name.kind == "APIService";
        let (path, message) = if is_service {
            ("spec.service", WITHOUT_SERVER)
        } else {
            ("webhooks", WITHOUT_WEBHOOKS)
        };
        let has_server = !is_service || !manifest.object["spec"]["service"].is_null();
        if has_server {
            self.add(index, Remark::new(Rule::NotCalled, path, message));
        }
    }

    /// Replaces an object that every cluster has.
    async fn replace(&mut self, index: usize, collection: &str) {
        let manifest = &self.set.manifests[index];
        let path = Resource::object_path(collection, &manifest.name.name);
        let answer = self.session.replace(&path, &manifest.object).await;
        let found = remarks(&answer, &manifest.object);
        self.remarks
            .extend(found.into_iter().map(|remark| (index, remark)));
    }

    /// Asks the policies about an object that was created before them.
    async fn judge(&mut self, index: usize) {
        let manifest: &Manifest = &self.set.manifests[index];
        let Ok(resource) = self
            .catalogue
            .find(&manifest.name.api_version, &manifest.name.kind)
        else {
            return;
        };
        let own = &*manifest.name.namespace;
        let namespace = if own.is_empty() {
            &*self.options.namespace
        } else {
            own
        };
        let path = resource.path(namespace);
        let answer = self.session.create(&path, &manifest.object, true).await;
        let of_policies = [Rule::PolicyDenied, Rule::ServerWarning];
        let found = remarks(&answer, &manifest.object);
        let found = found
            .into_iter()
            .filter(|remark| of_policies.contains(&remark.rule));
        self.remarks.extend(found.map(|remark| (index, remark)));
    }
}

/// Returns whether an object was not created because there is one of its name.
fn is_existing(answer: &Answer) -> bool {
    answer.code == 409 && answer.object()["reason"] == "AlreadyExists"
}
