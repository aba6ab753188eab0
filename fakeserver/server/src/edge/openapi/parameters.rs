//! The parameters that operations take in their path and their query.

use std::borrow::Cow;

use fakeserver_value::schema::{Field, FieldValue, types_in};
use fakeserver_versions::KubernetesVersion;

/// A parameter of a path or of a query.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parameter {
    pub(super) name: Cow<'static, str>,
    pub(super) place: ParameterLocation,
    /// `string`, `integer` or `boolean`.
    pub(super) ty: &'static str,
    /// May be empty.
    pub(super) description: Cow<'static, str>,
}

/// The part of a URL that has a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ParameterLocation {
    Path,
    Query,
}

/// The parameters of a watch that deletions of collections do not have.
const OF_WATCHES: [&str; 2] = ["watch", "allowWatchBookmarks"];

/// The options of requests that connect to something, in the query.
const CONNECTIONS: [(&str, &[(&str, &str)]); 6] = [
    (
        "PodAttachOptions",
        &[
            ("container", STRING),
            ("stderr", BOOLEAN),
            ("stdin", BOOLEAN),
            ("stdout", BOOLEAN),
            ("tty", BOOLEAN),
        ],
    ),
    (
        "PodExecOptions",
        &[
            ("command", STRING),
            ("container", STRING),
            ("stderr", BOOLEAN),
            ("stdin", BOOLEAN),
            ("stdout", BOOLEAN),
            ("tty", BOOLEAN),
        ],
    ),
    ("PodPortForwardOptions", &[("ports", INTEGER)]),
    ("NodeProxyOptions", &[("path", STRING)]),
    ("PodProxyOptions", &[("path", STRING)]),
    ("ServiceProxyOptions", &[("path", STRING)]),
];

/// The options of requests for logs.
const LOG: [(&str, &str); 9] = [
    ("container", STRING),
    ("follow", BOOLEAN),
    ("insecureSkipTLSVerifyBackend", BOOLEAN),
    ("limitBytes", INTEGER),
    ("previous", BOOLEAN),
    ("sinceSeconds", INTEGER),
    ("stream", STRING),
    ("tailLines", INTEGER),
    ("timestamps", BOOLEAN),
];

const STRING: &str = "string";
const INTEGER: &str = "integer";
const BOOLEAN: &str = "boolean";

/// Returns a part of the path.
pub(super) fn variable(name: &'static str, description: impl Into<Cow<'static, str>>) -> Parameter {
    Parameter {
        name: name.into(),
        place: ParameterLocation::Path,
        ty: STRING,
        description: description.into(),
    }
}

/// Returns the parameter that all operations on objects have.
pub(super) fn pretty() -> Parameter {
    query("pretty", STRING)
}

/// Returns the parameters of lists and watches.
pub(super) fn list(kubernetes: KubernetesVersion) -> Vec<Parameter> {
    options(kubernetes, "ListOptions")
}

/// Returns the parameters of deletions of collections.
pub(super) fn delete_collection(kubernetes: KubernetesVersion) -> Vec<Parameter> {
    let mut parameters = options(kubernetes, "DeleteOptions");
    let selection = list(kubernetes).into_iter();
    parameters.extend(selection.filter(|parameter| !OF_WATCHES.contains(&&*parameter.name)));
    parameters
}

/// Returns the parameters that the fields of the options `kind` are, but for those that are objects.
pub(super) fn options(kubernetes: KubernetesVersion, kind: &str) -> Vec<Parameter> {
    let types = types_in(kubernetes);
    let Some(ty) = types.meta(kind) else {
        return Vec::new();
    };
    let fields = types.json_fields(ty);
    let parameters = fields.filter_map(|field: &Field| {
        let ty = match field.value {
            FieldValue::String | FieldValue::Bytes => STRING,
            FieldValue::Bool => BOOLEAN,
            FieldValue::Int32 | FieldValue::Int64 => INTEGER,
            FieldValue::Double | FieldValue::Message(_) => return None,
        };
        Some(query(field.name.clone(), ty))
    });
    parameters.collect()
}

/// Returns the parameters of connect requests with options of `kind`.
pub(super) fn connection(kind: &str) -> Vec<Parameter> {
    let connection = CONNECTIONS.iter().find(|(name, _)| *name == kind);
    let fields = connection.map_or(&[][..], |(_, fields)| fields);
    fields.iter().map(|(name, ty)| query(*name, ty)).collect()
}

/// Returns the parameters of requests for logs.
pub(super) fn log() -> Vec<Parameter> {
    LOG.iter().map(|(name, ty)| query(*name, ty)).collect()
}

fn query(name: impl Into<Cow<'static, str>>, ty: &'static str) -> Parameter {
    let name = name.into();
    Parameter {
        description: description(&name).into(),
        name,
        place: ParameterLocation::Query,
        ty,
    }
}

fn description(name: &str) -> &'static str {
    match name {
        "allowWatchBookmarks" => "Whether a watch may send events of type BOOKMARK.",
        "continue" => "Where the list goes on: the token of the page before.",
        "dryRun" => "Everything is done but storing the result. The only value is All.",
        "fieldManager" => {
            "Who makes the change: the name under which the fields that it sets are recorded. Required to apply."
        }
        "fieldSelector" => "Selects objects by the values of their fields.",
        "fieldValidation" => {
            "What becomes of unknown and duplicate fields: Ignore drops them, Warn warns of them, Strict refuses the \
             request."
        }
        "force" => "Takes fields over from other managers where applying conflicts with them.",
        "gracePeriodSeconds" => "How long the object may take to end; zero means at once.",
        "ignoreStoreReadErrorWithClusterBreakingPotential" => {
            "Deletes the object though it cannot be read."
        }
        "labelSelector" => "Selects objects by their labels.",
        "limit" => "How many items a page has at most.",
        "orphanDependents" => "Deprecated: use propagationPolicy. Keeps dependent objects if true.",
        "pretty" => "Prints the answer for people if true.",
        "propagationPolicy" => {
            "What becomes of dependent objects: Orphan, Background or Foreground."
        }
        "resourceVersion" => "Which version is asked for.",
        "resourceVersionMatch" => {
            "Whether that version is meant exactly (Exact) or at least (NotOlderThan)."
        }
        "sendInitialEvents" => "Whether a watch begins with what is there already.",
        "timeoutSeconds" => "How long the request may last.",
        "watch" => "Watches instead of listing.",
        _ => "",
    }
}
