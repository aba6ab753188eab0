//! A parsed request for a resource: the type, the objects and the parameters.

use fakeserver_kinds::{
    apiextensions::custom_resource_definition,
    registry::{Lookup, Registry},
};
use fakeserver_value::{
    audit_annotations::AuditAnnotations, names::path_segment_problems, resource_path::ResourcePath,
    status::Status,
};
use fakeserver_versions::KubernetesVersion;
use http::Uri;
use http::{HeaderMap, Method};

use super::{Requester, Verb};
use crate::{
    edge::request::{Features, ListOptions, MediaTypes, Query, patch_type},
    faults::Connection,
    write::Target,
};

/// A request for objects of one resource type.
pub struct Request<'a> {
    pub target: Target,
    /// The version of Kubernetes of the server that answers, if that is not this one.
    pub peer: Option<KubernetesVersion>,
    pub requester: Requester,
    pub query: Query,
    pub headers: &'a HeaderMap,
    /// The path and the query as sent.
    pub uri: Uri,
    /// The media types of the server.
    pub(crate) media_types: MediaTypes,
    /// True if the server selects by shards.
    pub has_shards: bool,
    /// The features of reads that are on.
    pub(crate) features: Features,
    /// The connection that it came by.
    pub connection: Connection,
    /// Annotations of admission for the audit log.
    pub audit: AuditAnnotations,
}

/// Looks up the resource of `path`.
pub(super) fn find_target(registry: &Registry, path: ResourcePath) -> Result<Target, Status> {
    let Lookup::Found(resource) = registry.lookup(&path.group, &path.version, &path.resource)
    else {
        return Err(Status::unknown_resource());
    };
    // An object of a namespaced type is in a namespace, and nothing else is.
    let is_misplaced = match path.namespace {
        Some(_) => !resource.is_namespaced,
        None => resource.is_namespaced && path.name.is_some(),
    };
    let is_unknown = path
        .subresource
        .as_deref()
        .is_some_and(|name| resource.subresource(name).is_none());
    if is_misplaced || (is_unknown && !resource.rules.is_custom()) {
        return Err(Status::unknown_resource());
    }
    let target = Target { resource, path };
    if is_unknown {
        // A real server looks for an object of that name.
        return Err(Status::not_found(target.named(target.name())));
    }
    Ok(target)
}

/// Returns whether `verb` may change the set of custom resources.
pub(super) fn concerns_definitions(target: &Target, verb: Verb) -> bool {
    let is_read = matches!(verb, Verb::Get | Verb::List | Verb::Watch);
    let custom = target.rules().as_custom();
    let is_terminating = custom.is_some_and(|custom| custom.is_terminating());
    !is_read && (target.rules().is(&custom_resource_definition::KIND) || is_terminating)
}

// === impl Request ===

impl Request<'_> {
    /// Returns the verb of `method` here, if the type has it.
    pub(super) fn verb(&self, method: &Method) -> Result<Verb, Status> {
        let Self { target, query, .. } = self;
        if target.rules().is_custom() {
            return self.custom_verb(method);
        }
        let verb = Verb::of(method, &target.path, query).ok_or_else(Status::method_not_allowed)?;
        let is_across_namespaces = target.resource.is_namespaced && target.path.namespace.is_none();
        let is_read = matches!(verb, Verb::Get | Verb::List | Verb::Watch);
        let is_served = match &target.path.subresource {
            None => target.resource.has_verb(verb.name()),
            Some(subresource) => target
                .resource
                .subresource(subresource)
                .is_some_and(|subresource| subresource.has_verb(verb.name())),
        };
        if !is_served || (is_across_namespaces && !is_read) {
            return Err(Status::method_not_allowed());
        }
        Ok(verb)
    }

    /// Does the same for custom resources. Their handler goes by the verb and the beginning of the path alone.
    fn custom_verb(&self, method: &Method) -> Result<Verb, Status> {
        let Self { target, query, .. } = self;
        let has_name = target.path.name.is_some();
        let verb = match *method {
            _ if target.path.is_watch => Verb::Watch,
            Method::POST => Verb::Create,
            Method::PUT => Verb::Update,
            Method::PATCH => Verb::Patch,
            Method::HEAD => Verb::of(&Method::GET, &target.path, query).unwrap_or(Verb::Get),
            _ => match Verb::of(method, &target.path, query) {
                Some(verb) => verb,
                None => return Err(Status::verb_not_supported("", target.collection())),
            },
        };
        let is_served = match &target.path.subresource {
            None => true,
            Some(_) => matches!(verb, Verb::Get | Verb::Update | Verb::Patch),
        };
        if !is_served {
            return Err(Status::verb_not_supported(verb.name(), target.collection()));
        }
        let custom = target.rules().as_custom();
        if verb == Verb::Create && custom.is_some_and(|custom| custom.is_terminating()) {
            return Err(Status::definition_terminating("create"));
        }
        if verb == Verb::Patch {
            patch_type(self.headers, self.media_types, true)?;
        }
        if !has_name && matches!(verb, Verb::Update | Verb::Patch) {
            return Err(Status::bad_request("name must be provided"));
        }
        Ok(verb)
    }

    /// Refuses a name that could not be a part of a path.
    pub(super) fn check_name(&self, verb: Verb) -> Result<(), Status> {
        let name = match &self.target.path.name {
            Some(name) if verb != Verb::Watch => name,
            _ => return Ok(()),
        };
        let problems = path_segment_problems(name);
        if problems.is_empty() {
            return Ok(());
        }
        let problems = problems.join(";");
        Err(Status::bad_request(format!(
            "Name parameter invalid: {name:?}: {problems}"
        )))
    }

    /// Reads the parameters that select objects, and checks them where they have to go together.
    pub(super) fn list_options(&self, verb: Verb) -> Result<ListOptions, Status> {
        if verb == Verb::Get {
            return Ok(ListOptions {
                resource_version: self.query.text("resourceVersion"),
                ..ListOptions::default()
            });
        }
        let mut options = ListOptions::parse(&self.query)?;
        if verb != Verb::DeleteCollection {
            options.is_watch = verb == Verb::Watch;
        }
        options.validate(self.features)?;
        if !self.has_shards {
            // A server without the feature ignores the parameter.
            options.shard_selector.clear();
        }
        Ok(options)
    }
}
