//! One of the two sets: its manifests are applied to the server, over what is there.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::json;

use super::{AppliedObject, ObjectKey, Objects, normal_form};
use crate::{
    catalogue::{Catalogue, Resource},
    check::{
        CheckOptions,
        order::{Phase, in_order, needs_conversion, without_conversion},
    },
    finding::{Finding, ObjectName, Rule},
    position::Locator,
    session::{Answer, Session},
    sources::{Manifest, ManifestSet},
    verdict::{Remark, remarks},
};

/// The code of an answer about an object that is there already.
const EXISTS: u16 = 409;

/// A set, the server, and the kinds that it has.
pub(super) struct Side<'a> {
    set: &'a ManifestSet,
    options: &'a CheckOptions,
    session: &'a mut Session,
    catalogue: &'a mut Catalogue,
    namespaces: BTreeSet<String>,
    objects: Objects,
    findings: Vec<Finding>,
    locator: Locator<'a>,
}

// === impl Side ===

impl<'a> Side<'a> {
    pub(super) fn new(
        set: &'a ManifestSet,
        options: &'a CheckOptions,
        session: &'a mut Session,
        catalogue: &'a mut Catalogue,
    ) -> Self {
        Self {
            set,
            options,
            session,
            catalogue,
            namespaces: BTreeSet::new(),
            objects: Objects::new(),
            findings: set.findings.clone(),
            locator: Locator::new(set),
        }
    }

    /// Applies all manifests over the objects of the other set, and returns the objects and what is wrong with the manifests.
    pub(super) async fn apply(mut self, before: &Objects) -> (Objects, Vec<Finding>) {
        let set = self.set;
        for (phase, index) in in_order(set) {
            let manifest = &set.manifests[index];
            let name = &manifest.name;
            let resource = match self.catalogue.find(&name.api_version, &name.kind) {
                Ok(resource) => resource.clone(),
                Err(absence) => {
                    let is_ignored =
                        absence.rule == Rule::MissingDefinition && self.options.ignores_missing();
                    if !is_ignored {
                        self.add(manifest, Remark::new(absence.rule, "kind", absence.message));
                    }
                    continue;
                }
            };
            self.apply_one(phase, manifest, &resource, before).await;
        }
        (self.objects, self.findings)
    }

    /// Applies a manifest; deletes the object before if the server does not allow the change.
    async fn apply_one(
        &mut self,
        phase: Phase,
        manifest: &Manifest,
        resource: &Resource,
        before: &Objects,
    ) {
        let namespace = self.namespace(manifest, resource);
        if !namespace.is_empty() {
            self.ensure_namespace(&namespace).await;
        }
        let key = (
            Arc::clone(&resource.group),
            manifest.name.kind.clone(),
            namespace.clone(),
            manifest.name.name.clone(),
        );
        let path = Resource::object_path(&resource.path(&namespace), &manifest.name.name);
        let mut answer = self.send(phase, &path, manifest).await;
        let mut replaced_because = None;
        if !answer.is_success() && before.contains_key(&key) {
            let why = messages(&remarks(&answer, &manifest.object));
            self.session.delete(&path).await;
            answer = self.send(phase, &path, manifest).await;
            replaced_because = answer.is_success().then_some(why);
        }
        for remark in remarks(&answer, &manifest.object) {
            self.add(manifest, remark);
        }
        if !answer.is_success() {
            return;
        }
        if phase == Phase::Definition {
            self.catalogue.define(&manifest.object);
        }
        let applied = AppliedObject {
            name: ObjectName {
                namespace,
                ..(*manifest.name).clone()
            },
            file: Arc::clone(&self.set.files[manifest.file].name),
            object: normal_form::of(answer.object(), &manifest.object),
            replaced_because,
        };
        self.insert(manifest, key, applied);
    }

    fn namespace(&self, manifest: &Manifest, resource: &Resource) -> String {
        let own = &manifest.name.namespace;
        if !resource.is_namespaced {
            String::new()
        } else if own.is_empty() {
            self.options.namespace().to_owned()
        } else {
            own.clone()
        }
    }

    /// Creates a namespace unless it is there.
    async fn ensure_namespace(&mut self, namespace: &str) {
        if self.namespaces.insert(namespace.to_owned()) {
            let object =
                json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": namespace}});
            let path = "/api/v1/namespaces";
            self.session.create(path, &object, false).await;
        }
    }

    /// Applies a manifest. One that server-side apply cannot merge is created, or replaces the object.
    async fn send(&mut self, phase: Phase, path: &str, manifest: &Manifest) -> Answer {
        let object = &manifest.object;
        let is_dry = phase == Phase::Callout;
        if phase == Phase::Definition && needs_conversion(object) {
            let object = without_conversion(object);
            return self.session.apply(path, &object, is_dry).await;
        }
        let answer = self.session.apply(path, object, is_dry).await;
        if answer.is_success() || !is_unmergeable(&answer) {
            return answer;
        }
        let collection = path
            .rsplit_once('/')
            .map_or(path, |(collection, _)| collection);
        let created = self.session.create(collection, object, is_dry).await;
        if created.code == EXISTS {
            return self.session.replace(path, object).await;
        }
        created
    }

    /// Keeps an object. A second one of its name changes the first one, as it does in a cluster.
    fn insert(&mut self, manifest: &Manifest, key: ObjectKey, applied: AppliedObject) {
        if let Some(first) = self.objects.insert(key, applied) {
            let message = format!("{} is in {} as well", manifest.name, first.file);
            let remark = Remark::new(Rule::DuplicateObject, "metadata.name", message);
            self.add(manifest, remark);
        }
    }

    fn add(&mut self, manifest: &Manifest, remark: Remark) {
        self.findings.push(Finding {
            rule: remark.rule,
            file: Arc::clone(&self.set.files[manifest.file].name),
            position: Some(self.locator.position(manifest, &remark.path, remark.part)),
            object: Some(Arc::clone(&manifest.name)),
            field: if remark.rule.names_fields() {
                remark.path
            } else {
                String::new()
            },
            message: remark.message,
            versions: Vec::new(),
        });
    }
}

/// Returns whether server-side apply cannot merge an object that a create takes, such as one with a variable twice.
fn is_unmergeable(answer: &Answer) -> bool {
    let status = answer.object();
    let message = status["message"].as_str().unwrap_or_default();
    message.starts_with("failed to create typed patch object")
}

/// Returns the messages of remarks in one line.
fn messages(remarks: &[Remark]) -> String {
    let texts = remarks.iter().map(|remark| {
        if remark.path.is_empty() {
            remark.message.clone()
        } else {
            format!("{}: {}", remark.path, remark.message)
        }
    });
    texts.collect::<Vec<_>>().join("; ")
}
