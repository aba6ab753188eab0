//! Paths of requests.

use percent_encoding::percent_decode_str;

use crate::value::resource_path::ResourcePath;

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
    /// Takes the path of a URI apart. A slash at the end of a collection is accepted.
    pub(crate) fn parse(path: &str) -> Self {
        let path = path.strip_suffix('/').unwrap_or(path);
        let Some(segments) = segments(path) else {
            return Self::Other;
        };
        let mut segments = segments.into_iter();
        let Some(first) = segments.next() else {
            return Self::Root;
        };
        let mut rest: Vec<String> = segments.collect();
        match (first.as_str(), rest.len()) {
            ("api", 0) => Self::CoreVersions,
            ("apis", 0) => Self::Groups,
            ("apis", 1) => Self::Group(rest.remove(0)),
            ("api", _) => {
                let version = rest.remove(0);
                Self::below_version(String::new(), version, rest)
            }
            ("apis", _) => {
                let group = rest.remove(0);
                let version = rest.remove(0);
                Self::below_version(group, version, rest)
            }
            ("version", 0) => Self::ServerVersion,
            ("metrics", 0) => Self::Metrics,
            ("healthz" | "livez" | "readyz", depth) => Self::Health {
                endpoint: first,
                check: (depth > 0).then(|| rest.join("/")),
            },
            ("openapi", _) => match rest.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["v2"] => Self::OpenApi(OpenApiPath::V2),
                ["v3"] => Self::OpenApi(OpenApiPath::Index),
                ["v3", ..] => Self::OpenApi(OpenApiPath::V3(rest[1..].join("/"))),
                _ => Self::Other,
            },
            _ => Self::Other,
        }
    }

    fn below_version(group: String, version: String, mut rest: Vec<String>) -> Self {
        if rest.is_empty() {
            return Self::Version { group, version };
        }
        let is_watch = rest[0] == "watch" && rest.len() > 1;
        if is_watch {
            rest.remove(0);
        }
        // A namespace is an object with subresources, and the place of others.
        let is_placed = rest[0] == "namespaces"
            && rest.len() > 2
            && (rest.len() > 3 || !matches!(rest[2].as_str(), "status" | "finalize"));
        let namespace = is_placed.then(|| {
            rest.remove(0);
            rest.remove(0)
        });
        let mut rest = rest.into_iter();
        let resource = ResourcePath {
            group,
            version,
            namespace,
            resource: rest.next().unwrap_or_default(),
            name: rest.next(),
            subresource: rest.next(),
            is_watch,
        };
        match rest.next() {
            None => Self::Resource(resource),
            Some(_) => Self::Other,
        }
    }
}

/// The decoded segments; none if one is empty or no UTF-8.
fn segments(path: &str) -> Option<Vec<String>> {
    let Some(path) = path.strip_prefix('/') else {
        return path.is_empty().then(Vec::new);
    };
    // An escaped slash is one.
    let path = percent_decode_str(path).decode_utf8().ok()?;
    path.split('/')
        .map(|segment| (!segment.is_empty()).then(|| segment.to_owned()))
        .collect()
}
