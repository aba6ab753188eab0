//! The paths of a resource, and the operations on each.

use super::{
    definitions::definition_name,
    parameters::{self, Parameter},
};
use crate::{
    kinds::{ResourceType, Subresource},
    value::resource::GroupVersionKind,
};

pub(super) const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
pub(super) const PATCH_BODY: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
pub(super) const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";

/// A path with its operations.
#[derive(Debug)]
pub(super) struct Path {
    /// With its variables: `/api/v1/namespaces/{namespace}/pods/{name}`.
    pub(super) template: String,
    /// The variables: name and description of each.
    pub(super) variables: Vec<(&'static str, String)>,
    pub(super) operations: Vec<Operation>,
}

/// A method at a path.
#[derive(Debug)]
pub(super) struct Operation {
    /// In lower case.
    pub(super) method: &'static str,
    /// The value of `x-kubernetes-action`.
    pub(super) action: &'static str,
    pub(super) id: String,
    pub(super) tag: String,
    pub(super) description: String,
    pub(super) kind: GroupVersionKind,
    pub(super) query: &'static [Parameter],
    pub(super) body: Option<Body>,
    /// The definition of the answer; without one it is text.
    pub(super) answer: Option<String>,
    /// The codes that tell of success.
    pub(super) codes: &'static [(u16, &'static str)],
    /// The formats of the answer.
    pub(super) produces: Vec<&'static str>,
}

/// The body that an operation takes.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) definition: String,
    /// The formats that differ in meaning; empty if any format will do.
    pub(super) consumes: Vec<&'static str>,
    pub(super) is_required: bool,
}

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const JSON_STREAM: &str = "application/json;stream=watch";
const PROTOBUF_STREAM: &str = "application/vnd.kubernetes.protobuf;stream=watch";

const OK: (u16, &str) = (200, "OK");
const CREATED: (u16, &str) = (201, "Created");
const ACCEPTED: (u16, &str) = (202, "Accepted");

/// The paths of a resource and of its subresources.
pub(super) fn paths(resource: &ResourceType) -> Vec<Path> {
    let mut paths = Vec::new();
    let maker = Maker::of(resource);
    if resource.is_namespaced && resource.has_verb("list") {
        let list = maker.operation("list", "", "ForAllNamespaces");
        paths.push(Path {
            template: format!("{}/{}", maker.root(), resource.plural),
            variables: Vec::new(),
            operations: vec![list],
        });
    }
    let collection = maker.operations(&["list", "create", "deletecollection"]);
    paths.push(maker.path("", collection, false));
    let item = maker.operations(&["get", "update", "delete", "patch"]);
    paths.push(maker.path("/{name}", item, true));
    for subresource in &resource.subresources {
        let below = Maker {
            subresource: Some(subresource),
            ..maker
        };
        let operations = below.operations(&["get", "update", "create", "delete", "patch"]);
        paths.push(maker.path(&format!("/{{name}}/{}", subresource.name), operations, true));
    }
    paths.retain(|path| !path.operations.is_empty());
    paths
}

/// The tag of the operations of a group and version.
pub(super) fn tag(group: &str, version: &str) -> String {
    let mut group = group_word(group);
    group[..1].make_ascii_lowercase();
    format!("{group}_{version}")
}

/// A group as names of operations have it: `Core`, `RbacAuthorization`.
pub(super) fn group_word(group: &str) -> String {
    let group = group.strip_suffix(".k8s.io").unwrap_or(group);
    match group {
        "" => "Core".to_owned(),
        group => group.split(['.', '-']).map(title).collect(),
    }
}

pub(super) fn title(word: &str) -> String {
    let mut word = word.to_owned();
    if let Some(first) = word.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    word
}

// === impl Operation ===

impl Operation {
    /// The definitions that it speaks of.
    pub(super) fn definitions(&self) -> impl Iterator<Item = String> {
        let body = self.body.as_ref().map(|body| &body.definition);
        body.into_iter().chain(&self.answer).cloned()
    }
}

/// Makes the operations of a resource, or of one of its subresources.
#[derive(Clone, Copy)]
struct Maker<'a> {
    resource: &'a ResourceType,
    subresource: Option<&'a Subresource>,
}

// === impl Maker ===

impl<'a> Maker<'a> {
    fn of(resource: &'a ResourceType) -> Self {
        Self {
            resource,
            subresource: None,
        }
    }

    fn root(self) -> String {
        let resource = self.resource;
        match &*resource.group {
            "" => format!("/api/{}", resource.version),
            group => format!("/apis/{group}/{}", resource.version),
        }
    }

    fn path(self, below: &str, operations: Vec<Operation>, is_named: bool) -> Path {
        let resource = self.resource;
        let namespaces = if resource.is_namespaced {
            "/namespaces/{namespace}"
        } else {
            ""
        };
        let mut variables = Vec::new();
        if is_named {
            variables.push(("name", format!("name of the {}", resource.kind)));
        }
        if resource.is_namespaced {
            variables.push(("namespace", "namespace of the object".to_owned()));
        }
        Path {
            template: format!("{}{namespaces}/{}{below}", self.root(), resource.plural),
            variables,
            operations,
        }
    }

    /// The operations of those of `verbs` that there are.
    fn operations(self, verbs: &[&'static str]) -> Vec<Operation> {
        let has = |verb: &str| match self.subresource {
            Some(subresource) => subresource.has_verb(verb),
            None => self.resource.has_verb(verb),
        };
        let scope = if self.resource.is_namespaced {
            "Namespaced"
        } else {
            ""
        };
        let verbs = verbs.iter().filter(|verb| has(verb));
        verbs.map(|verb| self.operation(verb, scope, "")).collect()
    }

    fn operation(self, verb: &'static str, scope: &str, end: &str) -> Operation {
        let Meaning {
            method,
            action,
            word,
            query,
            codes,
        } = Meaning::of(verb);
        let resource = self.resource;
        let (group, version) = (&*resource.group, &*resource.version);
        let is_connection = self.is_connection();
        let below = self.subresource.map(|subresource| title(&subresource.name));
        let (word, extra) = match word {
            _ if is_connection => ("connect", title(method)),
            "deleteCollection" => ("delete", "Collection".to_owned()),
            word => (word, String::new()),
        };
        Operation {
            method,
            action: if is_connection { "connect" } else { action },
            id: format!(
                "{word}{}{}{extra}{scope}{}{}{end}",
                group_word(group),
                title(version),
                resource.kind,
                below.unwrap_or_default(),
            ),
            tag: tag(group, version),
            description: match self.subresource {
                Some(subresource) => format!("{word} {} of {}", subresource.name, resource.kind),
                None => format!("{word} {}", resource.kind),
            },
            kind: self.shown_kind(),
            query: if is_connection { &[] } else { query },
            body: self.body(verb),
            answer: self.answer(verb),
            codes,
            produces: self.produces(verb),
        }
    }

    /// Returns whether it connects to something that is no object of the API.
    fn is_connection(self) -> bool {
        self.subresource
            .is_some_and(|subresource| subresource.kind.kind.ends_with("Options"))
    }

    fn is_text(self) -> bool {
        self.is_connection() || self.subresource.is_some_and(|below| &*below.name == "log")
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

    /// The kind that the operation is said to be about. Those of custom resources are all about their own.
    fn shown_kind(self) -> GroupVersionKind {
        if self.resource.rules.is_custom() {
            self.resource.group_version_kind()
        } else {
            self.kind()
        }
    }

    fn definition(self) -> Option<String> {
        definition_name(self.resource, &self.kind())
    }

    fn body(self, verb: &str) -> Option<Body> {
        if self.is_connection() {
            return None;
        }
        let is_required = !matches!(verb, "delete" | "deletecollection");
        let (definition, consumes) = match verb {
            "create" | "update" => (self.definition()?, Vec::new()),
            "patch" => (PATCH_BODY.to_owned(), self.patch_types()),
            "delete" | "deletecollection" => (DELETE_OPTIONS.to_owned(), Vec::new()),
            _ => return None,
        };
        Some(Body {
            definition,
            consumes,
            is_required,
        })
    }

    fn patch_types(self) -> Vec<&'static str> {
        let mut types = vec![
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/apply-patch+yaml",
        ];
        if !self.resource.rules.is_custom() {
            types.insert(2, "application/strategic-merge-patch+json");
        }
        types
    }

    fn answer(self, verb: &str) -> Option<String> {
        match verb {
            _ if self.is_text() => None,
            "list" => {
                let list = GroupVersionKind {
                    kind: self.resource.list_kind(),
                    ..self.resource.group_version_kind()
                };
                definition_name(self.resource, &list)
            }
            "delete" | "deletecollection" => Some(STATUS.to_owned()),
            _ => self.definition(),
        }
    }

    fn produces(self, verb: &str) -> Vec<&'static str> {
        if self.is_text() {
            return vec!["text/plain"];
        }
        let mut types = vec![JSON, YAML];
        if !self.resource.rules.is_custom() {
            types.push(PROTOBUF);
        }
        if verb == "list" {
            types.push(JSON_STREAM);
        }
        if verb == "list" && !self.resource.rules.is_custom() {
            types.push(PROTOBUF_STREAM);
        }
        types
    }
}

/// A verb of a resource in HTTP and in OpenAPI.
struct Meaning {
    method: &'static str,
    action: &'static str,
    /// The beginning of the operation's name.
    word: &'static str,
    query: &'static [Parameter],
    codes: &'static [(u16, &'static str)],
}

// === impl Meaning ===

impl Meaning {
    fn of(verb: &str) -> Self {
        let (method, action, word, query, codes): (_, _, _, _, &'static [_]) = match verb {
            "get" => ("get", "get", "read", &[][..], &[OK]),
            "create" => (
                "post",
                "post",
                "create",
                parameters::WRITE,
                &[OK, CREATED, ACCEPTED],
            ),
            "update" => ("put", "put", "replace", parameters::WRITE, &[OK, CREATED]),
            "patch" => ("patch", "patch", "patch", parameters::PATCH, &[OK, CREATED]),
            "delete" => (
                "delete",
                "delete",
                "delete",
                parameters::DELETE,
                &[OK, ACCEPTED],
            ),
            "deletecollection" => (
                "delete",
                "deletecollection",
                "deleteCollection",
                parameters::SELECTION,
                &[OK],
            ),
            _ => ("get", "list", "list", parameters::SELECTION, &[OK]),
        };
        Self {
            method,
            action,
            word,
            query,
            codes,
        }
    }
}
