//! Paths of requests.

use fakeserver_value::resource_path::ResourcePath;
use percent_encoding::percent_decode_str;

/// A path of the API, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ApiPath {
    /// `/`.
    Root,
    /// `/api`.
    CoreVersions,
    /// `/apis`.
    Groups,
    /// `/apis/<group>`.
    Group(String),
    /// `/api/<version>` or `/apis/<group>/<version>`.
    Version { group: String, version: String },
    /// Objects of a resource, or one of them.
    Resource(ResourcePath),
    /// A path below a subresource. Custom resources go by its beginning; built-in ones have none.
    Deeper(ResourcePath),
    /// `/api/<version>/watch`, which names no resource.
    NoResource,
    /// `/version`.
    ServerVersion,
    /// `/healthz`, `/livez`, `/readyz`, and their checks.
    Health {
        endpoint: String,
        check: Option<String>,
    },
    /// `/metrics`.
    Metrics,
    /// `/openapi/v2`, `/openapi/v3`, and what is below.
    OpenApi(OpenApiPath),
    /// Anything else.
    Other,
}

/// Which OpenAPI document a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OpenApiPath {
    /// `/openapi/v2`.
    V2,
    /// `/openapi/v3`.
    Index,
    /// The rest of the path, such as `apis/apps/v1`.
    V3(String),
}

// === impl ApiPath ===

impl ApiPath {
    /// Takes the path of a URI apart. Slashes at the end of a path below a version are ignored.
    pub(crate) fn parse(path: &str) -> Self {
        // An escaped slash is one.
        let path = percent_decode_str(path).decode_utf8_lossy();
        let Some(below) = path.strip_prefix('/') else {
            return if path.is_empty() {
                Self::Root
            } else {
                Self::Other
            };
        };
        let segments: Vec<&str> = below.split('/').collect();
        match segments[..] {
            [""] => Self::Root,
            ["api"] | ["api", ""] => Self::CoreVersions,
            ["apis"] | ["apis", ""] => Self::Groups,
            ["api", version, ref rest @ ..] if !version.is_empty() => {
                Self::below_version("", version, rest)
            }
            ["apis", group] | ["apis", group, ""] if !group.is_empty() => {
                Self::Group(group.to_owned())
            }
            ["apis", group, version, ref rest @ ..] if !group.is_empty() && !version.is_empty() => {
                Self::below_version(group, version, rest)
            }
            ["version"] | ["version", ""] => Self::ServerVersion,
            ["metrics"] => Self::Metrics,
            [endpoint @ ("healthz" | "livez" | "readyz"), ref rest @ ..] => Self::Health {
                endpoint: endpoint.to_owned(),
                check: (!rest.is_empty()).then(|| rest.join("/")),
            },
            ["openapi", "v2"] => Self::OpenApi(OpenApiPath::V2),
            ["openapi", "v3"] => Self::OpenApi(OpenApiPath::Index),
            ["openapi", "v3", ref rest @ ..] => Self::OpenApi(OpenApiPath::V3(rest.join("/"))),
            _ => Self::Other,
        }
    }

    fn below_version(group: &str, version: &str, rest: &[&str]) -> Self {
        let length = rest.iter().rposition(|segment| !segment.is_empty());
        let mut rest = &rest[..length.map_or(0, |last| last + 1)];
        if rest.is_empty() {
            return Self::Version {
                group: group.to_owned(),
                version: version.to_owned(),
            };
        }
        let is_watch = rest[0] == "watch";
        if rest.len() == 1 && matches!(rest[0], "watch" | "proxy") {
            return Self::NoResource;
        }
        if is_watch {
            rest = &rest[1..];
        }
        // A namespace is an object with subresources, and the place of others.
        let mut namespace = "";
        if let ["namespaces", place, resource, ..] = *rest
            && !matches!(resource, "status" | "finalize")
        {
            namespace = place;
            rest = &rest[2..];
        }
        let part = |index: usize| rest.get(index).map(|part| (*part).to_owned());
        let resource = ResourcePath {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
            resource: part(0).unwrap_or_default(),
            name: part(1),
            subresource: part(2),
            is_watch,
        };
        if rest.len() > 3 {
            Self::Deeper(resource)
        } else {
            Self::Resource(resource)
        }
    }
}
