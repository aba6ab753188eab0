//! A request for a resource, understood: which type, which objects, in which form.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method, header};

use super::{Api, Requester, Verb};
use crate::{
    edge::{
        request::{ListOptions, Query},
        response::{
            Delivery, Encoding, IncludeObject, ListMeta, Representation, Shape, TableView, View,
            negotiate,
        },
    },
    faults::{Connection, RequestFacts},
    kinds::{apiextensions::custom_resource_definition, registry::Lookup, table::Printer},
    store::{Range, StoredObject},
    value::{
        names::path_segment_problems,
        object::selectors::{FieldSelector, LabelSelector},
        parse::internal_package,
        resource::GroupVersionKind,
        resource_path::ResourcePath,
        schema::type_of_kind,
        status::Status,
    },
    watch::Selection,
    write::{Author, Converter, Target, WriteOptions, manager},
};

/// A request for objects of one resource type.
pub(crate) struct Call<'a> {
    pub(crate) api: &'a Api,
    pub(crate) requester: Requester,
    pub(crate) target: Target,
    pub(crate) query: Query,
    pub(crate) headers: &'a HeaderMap,
    /// The connection that it came by.
    pub(crate) connection: Connection,
}

// === impl Call ===

impl<'a> Call<'a> {
    /// Looks up the resource of `path`.
    pub(crate) fn new(
        api: &'a Api,
        requester: Requester,
        path: ResourcePath,
        query: Query,
        headers: &'a HeaderMap,
    ) -> Result<Self, Status> {
        let registry = api.backend.registry();
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
        if is_misplaced || is_unknown {
            return Err(Status::unknown_resource());
        }
        Ok(Self {
            api,
            requester,
            target: Target { resource, path },
            query,
            headers,
            connection: Connection::default(),
        })
    }

    /// Says what it came by.
    pub(super) fn by(mut self, connection: Connection) -> Self {
        self.connection = connection;
        self
    }

    /// Returns the verb of `method` here, if the type has it.
    pub(crate) fn verb(&self, method: &Method) -> Result<Verb, Status> {
        let verb = Verb::of(method, &self.target.path, &self.query)
            .ok_or_else(Status::method_not_allowed)?;
        let is_across_namespaces =
            self.target.resource.is_namespaced && self.target.path.namespace.is_none();
        let is_read = matches!(verb, Verb::Get | Verb::List | Verb::Watch);
        let is_served = match &self.target.path.subresource {
            None => self.target.resource.has_verb(verb.name()),
            Some(subresource) => self
                .target
                .resource
                .subresource(subresource)
                .is_some_and(|subresource| subresource.has_verb(verb.name())),
        };
        if !is_served || (is_across_namespaces && !is_read) {
            return Err(Status::method_not_allowed());
        }
        let custom = self.target.rules().as_custom();
        if verb == Verb::Create && custom.is_some_and(|custom| custom.is_terminating()) {
            return Err(Status::definition_terminating("create"));
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

    /// Returns whether this may change the set of custom resources.
    pub(super) fn concerns_definitions(&self, verb: Verb) -> bool {
        let is_read = matches!(verb, Verb::Get | Verb::List | Verb::Watch);
        let is_terminating = self.target.rules().as_custom();
        let is_terminating = is_terminating.is_some_and(|custom| custom.is_terminating());
        !is_read && (self.target.rules().is(&custom_resource_definition::KIND) || is_terminating)
    }

    /// The parameters of a read, checked where they have to go together.
    pub(super) fn list_options(&self, verb: Verb) -> Result<ListOptions, Status> {
        let mut options = ListOptions::parse(&self.query)?;
        options.is_watch = verb == Verb::Watch;
        if verb != Verb::Get {
            options.validate()?;
        }
        Ok(options)
    }

    /// Returns the delivery of an answer in `encoding`.
    pub(crate) fn delivery(&self, encoding: &Encoding) -> Delivery {
        Delivery::new(encoding.format(), &self.query, self.headers)
    }

    /// Returns the client: the user agent up to the first `/`.
    pub(crate) fn client(&self) -> &str {
        client_of(self.headers)
    }

    /// Returns the author of a write with these options.
    pub(crate) fn author<'b>(&'b self, options: &'b WriteOptions) -> Author<'b> {
        Author {
            user: &self.requester.user,
            access: &self.requester.access,
            manager: manager(options, self.client()),
        }
    }

    /// Returns the author of a deletion.
    pub(crate) fn deleter(&self) -> Author<'_> {
        Author {
            user: &self.requester.user,
            access: &self.requester.access,
            manager: "",
        }
    }

    /// Returns what is stored as the type shows it, which may need a webhook.
    pub(super) async fn present(
        &self,
        stored: &Arc<StoredObject>,
    ) -> Result<Arc<StoredObject>, Status> {
        let shown = self.present_all(vec![Arc::clone(stored)]).await?;
        Ok(shown
            .into_iter()
            .next()
            .unwrap_or_else(|| Arc::clone(stored)))
    }

    /// Returns what is stored as the type shows it, by at most one question to a webhook.
    pub(super) async fn present_all(
        &self,
        stored: Vec<Arc<StoredObject>>,
    ) -> Result<Vec<Arc<StoredObject>>, Status> {
        let backend = &self.api.backend;
        match self.target.rules().as_custom() {
            Some(custom) => {
                let converter = Converter::new(&backend.webhooks, &backend.entropy);
                converter.present(custom, stored).await
            }
            None => Ok(stored),
        }
    }

    /// The form of the answer: what the client accepts.
    pub(crate) fn encoding(&self, shape: Shape) -> Result<Encoding, Status> {
        let encoding = self.encoding_of(&self.target.resource.group_version_kind(), shape)?;
        let encoding = match self.target.resource.converted_form() {
            Some(form) => encoding.with_form(form),
            None => encoding,
        };
        Ok(match self.target.rules().as_custom() {
            Some(custom) => encoding
                .with_whole_items()
                .with_custom(custom)
                .with_list_kind(self.target.resource.list_kind.clone()),
            None => encoding,
        })
    }

    /// Lists of custom resources always say where they go on, be it nowhere.
    pub(super) fn complete(&self, metadata: &mut ListMeta) {
        if self.target.rules().as_custom().is_some() {
            metadata.continue_token.get_or_insert_default();
        }
    }

    /// The form of an answer of another kind than the resource's.
    pub(crate) fn encoding_of(
        &self,
        shown: &GroupVersionKind,
        shape: Shape,
    ) -> Result<Encoding, Status> {
        let has_protobuf = type_of_kind(&shown.group, &shown.version, &shown.kind).is_some();
        let accepted = negotiate(self.headers, shape, has_protobuf)?;
        if let Some(why) = misfit(accepted.view, shape) {
            let go_type = self.go_type(shown, shape);
            return Err(Status::not_representable(format!("{why} ({go_type})")));
        }
        let representation = match accepted.view {
            View::Metadata | View::MetadataList => Representation::Metadata,
            View::Object | View::Table => Representation::Object,
        };
        let encoding = Encoding::new(&shown.kind, &shown.api_version(), representation)
            .in_format(accepted.format)
            .in_meta_version(accepted.meta_version);
        if accepted.view != View::Table {
            return Ok(encoding);
        }
        let include = self.query.get("includeObject").unwrap_or_default();
        let include = IncludeObject::parse(include).ok_or_else(|| {
            Status::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {include:?}: must be \
                 'Metadata', 'Object', 'None', or empty"
            ))
        })?;
        let printer = Printer::of(&self.target.resource);
        Ok(encoding.with_table(TableView::new(printer, include, self.api.backend.clock)))
    }

    /// Returns the name of a real server's Go type of the shown objects.
    fn go_type(&self, shown: &GroupVersionKind, shape: Shape) -> String {
        let list = match shape {
            Shape::List => "List",
            Shape::Object | Shape::Watch => "",
        };
        if self.target.rules().as_custom().is_some() {
            return format!("*unstructured.Unstructured{list}");
        }
        let package = internal_package(&shown.group);
        format!("*{package}.{}{list}", shown.kind)
    }

    /// Which objects a list, a watch or a deletion of a collection is about.
    pub(crate) fn selection(&self, options: &ListOptions) -> Result<Selection, Status> {
        let labels = LabelSelector::parse(&options.label_selector)?;
        let supported = |field: &str| self.target.resource.check_field(field);
        let mut fields = FieldSelector::parse(&options.field_selector, supported)?
            .renamed(|field| self.target.resource.rules.stored_field(field));
        // A watch below the deprecated path of an object is one of the collection, for that name.
        if let Some(name) = &self.target.path.name {
            fields = fields.and("metadata.name", name);
        }
        Ok(Selection {
            range: Range::of(self.target.path.namespace.as_deref()),
            labels,
            fields,
        })
    }

    /// Returns the facts of the request for fault rules.
    pub(super) fn facts(&self, verb: Verb, options: &ListOptions) -> RequestFacts {
        RequestFacts {
            client: self.client().to_owned(),
            verb: verb.name(),
            group: self.target.path.group.clone(),
            version: self.target.path.version.clone(),
            resource: self.target.path.resource.clone(),
            subresource: self.target.path.subresource.clone(),
            namespace: self.target.path.namespace.clone(),
            name: self.target.path.name.clone(),
            resource_version: options.resource_version.clone(),
            is_watch_list: verb == Verb::Watch && options.send_initial_events == Some(true),
            has_continue: verb == Verb::List && !options.continue_token.is_empty(),
            continue_token: options.continue_token.clone(),
            user: self.requester.user.name().to_owned(),
            revision: self.api.backend.storage.revision().get(),
        }
    }
}

/// Returns the problem of showing a shape as a view, if there is one.
fn misfit(view: View, shape: Shape) -> Option<&'static str> {
    match (view, shape) {
        (View::Metadata, Shape::List) => {
            Some("you requested PartialObjectMetadata, but the requested object is a list")
        }
        (View::MetadataList, Shape::Object | Shape::Watch) => {
            Some("you requested PartialObjectMetadataList, but the requested object is not a list")
        }
        _ => None,
    }
}

/// Returns the client: the user agent up to the first `/`.
pub(super) fn client_of(headers: &HeaderMap) -> &str {
    let agent = headers.get(header::USER_AGENT);
    let agent = agent
        .map(HeaderValue::as_bytes)
        .and_then(|agent| std::str::from_utf8(agent).ok());
    let agent = agent.unwrap_or_default();
    agent.split('/').next().unwrap_or_default()
}
