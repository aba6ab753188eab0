//! The operations on a resource, as a real server registers them.

use fakeserver_kinds::{Removal, ResourceType, Subresource};
use fakeserver_value::resource::GroupVersionKind;

use super::{
    definitions::definition_name,
    operations::{
        ACCEPTED, ANY, Body, CREATED, DELETE_OPTIONS, JSON, JSON_STREAM, OK, Operation, PATCH_BODY,
        PROTOBUF, PROTOBUF_STREAM, Path, STATUS, WATCH_EVENT, YAML, group_word, tag, title,
    },
    parameters::{self, Parameter, variable},
};

/// The methods of connections that pass requests on.
const PROXIED: [&str; 7] = ["get", "post", "put", "delete", "head", "options", "patch"];
/// The methods of other connections.
const CONNECTED: [&str; 2] = ["get", "post"];

/// Builds the operations of a resource, or of one of its subresources.
#[derive(Clone, Copy)]
struct OperationBuilder<'a> {
    resource: &'a ResourceType,
    subresource: Option<&'a Subresource>,
    /// The operations concern one namespace, if the resource has any.
    is_in_namespace: bool,
}

/// Returns the paths of a resource and of its subresources.
pub(super) fn paths(resource: &ResourceType) -> Vec<Path> {
    let maker = OperationBuilder::of(resource);
    let mut paths = Vec::new();
    if resource.is_namespaced {
        let all = maker.in_all_namespaces();
        paths.push(all.path("", &["list"]));
        paths.push(all.path("", &["watchlist"]));
    }
    paths.push(maker.path("", &["list", "create", "deletecollection"]));
    paths.push(maker.path("", &["watchlist"]));
    paths.push(maker.path("/{name}", &["get", "update", "delete", "patch"]));
    paths.push(maker.path("/{name}", &["watch"]));
    for subresource in &resource.subresources {
        let below = OperationBuilder {
            subresource: Some(subresource),
            ..maker
        };
        let place = format!("/{{name}}/{}", subresource.name);
        if below.is_connection() {
            paths.extend(below.connections(&place));
        } else {
            paths.push(below.path(&place, &["get", "update", "create", "delete", "patch"]));
        }
    }
    paths.retain(|path| !path.operations.is_empty());
    paths
}

// === impl OperationBuilder ===

impl<'a> OperationBuilder<'a> {
    fn of(resource: &'a ResourceType) -> Self {
        Self {
            resource,
            subresource: None,
            is_in_namespace: resource.is_namespaced,
        }
    }

    fn in_all_namespaces(self) -> Self {
        Self {
            is_in_namespace: false,
            ..self
        }
    }

    fn is_custom(self) -> bool {
        self.resource.rules.is_custom()
    }

    /// Returns the path that ends in `below`, with those of `verbs` that there are.
    fn path(self, below: &str, verbs: &[&'static str]) -> Path {
        let is_watch = verbs.iter().any(|verb| verb.starts_with("watch"));
        let verbs = verbs.iter().filter(|verb| self.has(verb));
        Path {
            template: self.template(below, is_watch),
            operations: verbs.map(|verb| self.operation(verb, below)).collect(),
        }
    }

    /// Returns the paths of a connect subresource: its own, and the one with a proxied path.
    fn connections(self, below: &str) -> Vec<Path> {
        let methods = |methods: &[&'static str], is_behind: bool| {
            let operations = methods.iter();
            operations
                .map(|method| self.connection(method, is_behind))
                .collect()
        };
        let path = |below: &str, operations| Path {
            template: self.template(below, false),
            operations,
        };
        if self.kind().kind.ends_with("ProxyOptions") {
            let behind = format!("{below}/{{path}}");
            vec![
                path(below, methods(&PROXIED, false)),
                path(&behind, methods(&PROXIED, true)),
            ]
        } else {
            vec![path(below, methods(&CONNECTED, false))]
        }
    }

    fn template(self, below: &str, is_watch: bool) -> String {
        let resource = self.resource;
        let root = match &*resource.group {
            "" => format!("/api/{}", resource.version),
            group => format!("/apis/{group}/{}", resource.version),
        };
        let watch = if is_watch { "/watch" } else { "" };
        let namespaces = if self.is_in_namespace {
            "/namespaces/{namespace}"
        } else {
            ""
        };
        format!("{root}{watch}{namespaces}/{}{below}", resource.plural)
    }

    /// Returns whether there is an operation. The old paths of watches are not made for custom resources.
    fn has(self, verb: &str) -> bool {
        let has = |verb: &str| match self.subresource {
            Some(subresource) => subresource.has_verb(verb),
            None => self.resource.has_verb(verb),
        };
        match verb {
            "watch" | "watchlist" => !self.is_custom() && has("watch") && has("list"),
            verb => has(verb),
        }
    }

    fn operation(self, verb: &'static str, below: &str) -> Operation {
        let HttpVerb {
            method,
            action,
            word,
        } = HttpVerb::of(verb);
        let end = if verb == "watchlist" { "List" } else { "" };
        let mut parameters = self.options(verb);
        parameters.push(parameters::pretty());
        parameters.extend(self.variables(below));
        Operation {
            method,
            id: self.id(word, end),
            tag: tag(&self.resource.group, &self.resource.version),
            description: self.description(verb),
            subject: Some((action, self.operation_kind())),
            parameters,
            body: self.body(verb),
            answer: self.answer(verb),
            codes: self.codes(verb),
            produces: self.produces(verb),
        }
    }

    fn connection(self, method: &'static str, is_behind: bool) -> Operation {
        let kind = self.kind();
        let mut parameters = parameters::connection(&kind.kind);
        parameters.extend(self.variables("/{name}"));
        parameters.extend(is_behind.then(|| variable("path", "path to the resource")));
        let end = if is_behind { "WithPath" } else { "" };
        let subresource = self.subresource.map_or("", |below| &below.name);
        Operation {
            method,
            id: self.id(("connect", &title(method)), end),
            tag: tag(&self.resource.group, &self.resource.version),
            description: format!(
                "connect {} requests to {subresource} of {}",
                method.to_ascii_uppercase(),
                self.resource.kind
            ),
            subject: Some(("connect", kind)),
            parameters,
            body: None,
            answer: None,
            codes: &[OK],
            produces: vec![ANY],
        }
    }

    /// Returns the operation id: action, group and version, then the subject.
    fn id(self, (word, extra): (&str, &str), end: &str) -> String {
        let resource = self.resource;
        let scope = if self.is_in_namespace {
            "Namespaced"
        } else {
            ""
        };
        let all = if resource.is_namespaced && !self.is_in_namespace {
            "ForAllNamespaces"
        } else {
            ""
        };
        format!(
            "{word}{}{}{extra}{scope}{}{}{end}{all}",
            group_word(&resource.group),
            title(&resource.version),
            resource.kind,
            self.subresource
                .map(|below| title(&below.name))
                .unwrap_or_default(),
        )
    }

    fn variables(self, below: &str) -> Vec<Parameter> {
        let mut variables = Vec::new();
        if below.contains("{name}") {
            variables.push(variable(
                "name",
                format!("name of the {}", self.resource.kind),
            ));
        }
        if self.is_in_namespace {
            let description = "object name and auth scope, such as for teams and projects";
            variables.push(variable("namespace", description));
        }
        variables
    }

    /// The parameters of the query that depend on the verb.
    fn options(self, verb: &str) -> Vec<Parameter> {
        let kubernetes = self.resource.kubernetes;
        match verb {
            "get" if self.is_log() => parameters::log(),
            "get" if self.is_custom() => parameters::options(kubernetes, "GetOptions"),
            "get" => Vec::new(),
            "create" => parameters::options(kubernetes, "CreateOptions"),
            "update" => parameters::options(kubernetes, "UpdateOptions"),
            "patch" => parameters::options(kubernetes, "PatchOptions"),
            "delete" => parameters::options(kubernetes, "DeleteOptions"),
            "deletecollection" if !self.is_custom() => parameters::delete_collection(kubernetes),
            _ => parameters::list(kubernetes),
        }
    }

    fn description(self, verb: &str) -> String {
        let kind = &self.resource.kind;
        let below = self
            .subresource
            .map_or(String::new(), |below| format!("{} of ", below.name));
        let deprecated = "deprecated: use the 'watch' parameter with a list operation instead";
        match verb {
            "get" => format!("read {below}the specified {kind}"),
            "update" => format!("replace {below}the specified {kind}"),
            "patch" => format!("partially update {below}the specified {kind}"),
            "create" => format!("create {below}{}{kind}", article(kind)),
            "delete" => format!("delete {below}{}{kind}", article(kind)),
            "deletecollection" => format!("delete collection of {below}{kind}"),
            "watchlist" => {
                format!("watch individual changes to a list of {below}{kind}. {deprecated}.")
            }
            "watch" => format!(
                "watch changes to {below}an object of kind {kind}. {deprecated}, filtered to a single item with the \
                 'fieldSelector' parameter."
            ),
            _ if self.resource.has_verb("watch") && !self.is_custom() => {
                format!("list or watch objects of kind {kind}")
            }
            _ => format!("list objects of kind {kind}"),
        }
    }

    /// Returns whether the operation is a connect request, such as `exec` or `proxy`.
    fn is_connection(self) -> bool {
        self.subresource
            .is_some_and(|subresource| subresource.kind.kind.ends_with("Options"))
    }

    fn is_log(self) -> bool {
        self.subresource.is_some_and(|below| &*below.name == "log")
    }

    /// The kind of what goes over the wire.
    fn kind(self) -> GroupVersionKind {
        let own = self.resource.group_version_kind();
        match self.subresource {
            Some(subresource) if !subresource.kind.version.is_empty() => subresource.kind.clone(),
            Some(subresource) => GroupVersionKind {
                kind: subresource.kind.kind.clone(),
                ..own
            },
            None => own,
        }
    }

    /// Returns the kind that the operation declares. Custom resources always declare their own kind.
    fn operation_kind(self) -> GroupVersionKind {
        if self.is_custom() {
            self.resource.group_version_kind()
        } else {
            self.kind()
        }
    }

    fn definition(self) -> Option<String> {
        definition_name(self.resource, &self.kind())
    }

    fn body(self, verb: &str) -> Option<Body> {
        let any = if self.is_custom() {
            vec![JSON, YAML]
        } else {
            vec![ANY]
        };
        let (definition, consumes) = match verb {
            "create" | "update" => (self.definition()?, any),
            "patch" => (PATCH_BODY.to_owned(), self.patch_types()),
            "deletecollection" if self.is_custom() => return None,
            "delete" | "deletecollection" => (DELETE_OPTIONS.to_owned(), any),
            _ => return None,
        };
        Some(Body {
            definition,
            consumes,
            is_required: !matches!(verb, "delete" | "deletecollection"),
        })
    }

    fn patch_types(self) -> Vec<&'static str> {
        let mut types = vec![
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/apply-patch+yaml",
        ];
        if !self.is_custom() {
            types.insert(2, "application/strategic-merge-patch+json");
        }
        types
    }

    fn answer(self, verb: &str) -> Option<String> {
        match verb {
            _ if self.is_log() => None,
            "list" => {
                let list = GroupVersionKind {
                    kind: self.resource.list_kind(),
                    ..self.resource.group_version_kind()
                };
                definition_name(self.resource, &list)
            }
            "watch" | "watchlist" => Some(WATCH_EVENT.to_owned()),
            "delete" if self.returns_deleted() => self.definition(),
            "delete" | "deletecollection" => Some(STATUS.to_owned()),
            _ => self.definition(),
        }
    }

    /// Returns whether a deletion declares the object as its response. Namespaces return the object, but declare a
    /// `Status`.
    fn returns_deleted(self) -> bool {
        let habits = &self.resource.rules.habits;
        !self.is_custom() && habits.returns_deleted && habits.removal != Removal::AfterContent
    }

    fn codes(self, verb: &str) -> &'static [(u16, &'static str)] {
        match verb {
            "create" => &[OK, CREATED, ACCEPTED],
            "update" => &[OK, CREATED],
            "patch" if !self.is_custom() => &[OK, CREATED],
            "delete" => &[OK, ACCEPTED],
            _ => &[OK],
        }
    }

    fn produces(self, verb: &str) -> Vec<&'static str> {
        let mut types = vec![JSON, YAML];
        if self.is_log() {
            types.insert(0, "text/plain");
        }
        if self.is_custom() {
            return types;
        }
        types.push(PROTOBUF);
        if matches!(verb, "list" | "watch" | "watchlist") {
            types.extend([JSON_STREAM, PROTOBUF_STREAM]);
        }
        types
    }
}

/// Returns the article before a kind: none before a plural.
fn article(kind: &str) -> &'static str {
    if kind.ends_with('s') && !kind.ends_with("ss") {
        ""
    } else if kind.starts_with(['A', 'E', 'I', 'O', 'U']) {
        "an "
    } else {
        "a "
    }
}

/// A verb of a resource in HTTP and in OpenAPI.
struct HttpVerb {
    method: &'static str,
    action: &'static str,
    /// The beginning of the operation's name, and what follows group and version.
    word: (&'static str, &'static str),
}

// === impl HttpVerb ===

impl HttpVerb {
    fn of(verb: &'static str) -> Self {
        let (method, action, word) = match verb {
            "get" => ("get", "get", ("read", "")),
            "create" => ("post", "post", ("create", "")),
            "update" => ("put", "put", ("replace", "")),
            "patch" => ("patch", "patch", ("patch", "")),
            "delete" => ("delete", "delete", ("delete", "")),
            "deletecollection" => ("delete", verb, ("delete", "Collection")),
            "watch" | "watchlist" => ("get", verb, ("watch", "")),
            _ => ("get", "list", ("list", "")),
        };
        Self {
            method,
            action,
            word,
        }
    }
}
