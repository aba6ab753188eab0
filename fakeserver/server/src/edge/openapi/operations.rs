//! Paths, and the operations on each, apart from how a version of OpenAPI writes them.

use fakeserver_value::resource::GroupVersionKind;

use super::parameters::Parameter;

pub(super) const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
pub(super) const PATCH_BODY: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
pub(super) const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
pub(super) const WATCH_EVENT: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent";

/// A path with its operations.
#[derive(Debug)]
pub(super) struct Path {
    /// With its variables: `/api/v1/namespaces/{namespace}/pods/{name}`.
    pub(super) template: String,
    pub(super) operations: Vec<Operation>,
}

/// A method at a path.
#[derive(Debug)]
pub(super) struct Operation {
    /// In lower case.
    pub(super) method: &'static str,
    pub(super) id: String,
    pub(super) tag: String,
    pub(super) description: String,
    /// The value of `x-kubernetes-action`, and the kind that the operation is about; none of discovery.
    pub(super) subject: Option<(&'static str, GroupVersionKind)>,
    /// The parameters of the path and of the query.
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
    /// The definition of the answer; without one it is text.
    pub(super) answer: Option<String>,
    /// The status codes of successful responses.
    pub(super) codes: &'static [(u16, &'static str)],
    /// The formats of the answer.
    pub(super) produces: Vec<&'static str>,
}

/// The body that an operation takes.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) definition: String,
    /// The formats that it may have.
    pub(super) consumes: Vec<&'static str>,
    pub(super) is_required: bool,
}

pub(super) const ANY: &str = "*/*";
pub(super) const JSON: &str = "application/json";
pub(super) const YAML: &str = "application/yaml";
pub(super) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
pub(super) const JSON_STREAM: &str = "application/json;stream=watch";
pub(super) const PROTOBUF_STREAM: &str = "application/vnd.kubernetes.protobuf;stream=watch";

pub(super) const OK: (u16, &str) = (200, "OK");
pub(super) const CREATED: (u16, &str) = (201, "Created");
pub(super) const ACCEPTED: (u16, &str) = (202, "Accepted");

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

// === impl Path ===

impl Path {
    /// Returns the parameters that all operations have, in their order.
    pub(super) fn common(&self) -> Vec<&Parameter> {
        let Some((first, others)) = self.operations.split_first() else {
            return Vec::new();
        };
        let is_common = |parameter: &&Parameter| others.iter().all(|other| other.has(parameter));
        let mut common: Vec<_> = first.parameters.iter().filter(is_common).collect();
        common.sort();
        common
    }
}

// === impl Operation ===

impl Operation {
    /// The definitions that it speaks of.
    pub(super) fn definitions(&self) -> impl Iterator<Item = String> {
        let body = self.body.as_ref().map(|body| &body.definition);
        body.into_iter().chain(&self.answer).cloned()
    }

    /// Returns its parameters but for the `common` ones of its path, in their order.
    pub(super) fn own<'a>(&'a self, common: &[&Parameter]) -> Vec<&'a Parameter> {
        let all = self.parameters.iter();
        let mut own: Vec<_> = all
            .filter(|parameter| !common.contains(parameter))
            .collect();
        own.sort();
        own
    }

    fn has(&self, parameter: &Parameter) -> bool {
        self.parameters.contains(parameter)
    }
}
