//! The facts about a request that rules of faults decide by, read from its head.

use fakeserver::faults::RequestFacts;
use http::{HeaderMap, Method, Uri, header, request::Parts, uri::PathAndQuery};

/// Headers that are about one connection, and not the next one.
const OF_A_CONNECTION: [header::HeaderName; 7] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The parts of a path of the API.
#[derive(Debug, Default, PartialEq, Eq)]
struct ApiPath {
    group: String,
    version: String,
    /// Empty where it asks what the server has.
    resource: String,
    namespace: Option<String>,
    name: Option<String>,
    subresource: Option<String>,
    is_watch: bool,
}

/// The facts about a request to the API, at a server that stood at `revision` when that was last seen. Nothing for any
/// other request: rules are not asked about it.
pub(crate) fn facts(parts: &Parts, revision: u64) -> Option<RequestFacts> {
    let path = ApiPath::parse(parts.uri.path())?;
    let query: Vec<(String, String)> = parameters(&parts.uri);
    let parameter = |name: &str| {
        let found = query.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.as_str())
    };
    let is_true = |name: &str| parameter(name).is_some_and(|value| !matches!(value, "0" | "false"));
    let verb = if path.resource.is_empty() {
        (parts.method == Method::GET).then_some("discover")?
    } else {
        path.verb(&parts.method, is_true("watch"))?
    };
    let mut facts = RequestFacts::default();
    facts.client = client(&parts.headers);
    facts.verb = verb;
    facts.group = path.group;
    facts.version = path.version;
    facts.resource = path.resource;
    facts.subresource = path.subresource;
    facts.namespace = path.namespace;
    facts.name = path.name;
    let version = parameter("resourceVersion").unwrap_or_default();
    version.clone_into(&mut facts.resource_version);
    facts.is_watch_list = verb == "watch" && is_true("sendInitialEvents");
    let token = parameter("continue").unwrap_or_default();
    facts.has_continue = !token.is_empty();
    token.clone_into(&mut facts.continue_token);
    facts.revision = revision;
    Some(facts)
}

/// Returns whether it is a watch that begins with the existing objects.
pub(super) fn begins_with_state(facts: &RequestFacts) -> bool {
    facts.is_watch_list || matches!(facts.resource_version.as_str(), "" | "0")
}

/// Returns `uri` without the parameters of streaming lists.
pub(super) fn without_watch_list(uri: &Uri) -> Uri {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters(uri) {
        if name != "sendInitialEvents" && name != "resourceVersionMatch" {
            query.append_pair(&name, &value);
        }
    }
    let path = format!("{}?{}", uri.path(), query.finish());
    PathAndQuery::try_from(path).map_or_else(|_| uri.clone(), Uri::from)
}

/// Takes out what is about the connection only, and what goes before the body. What `Connection` names goes too.
pub(super) fn strip(headers: &mut HeaderMap) {
    let named: Vec<String> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    for name in named {
        headers.remove(name.as_str());
    }
    for name in OF_A_CONNECTION {
        headers.remove(name);
    }
    headers.remove("keep-alive");
}

/// The user agent up to the first `/`.
fn client(headers: &HeaderMap) -> String {
    let agent = headers.get(header::USER_AGENT);
    let agent = agent.and_then(|agent| agent.to_str().ok());
    let name = agent.and_then(|agent| agent.split('/').next());
    name.unwrap_or_default().to_owned()
}

fn parameters(uri: &Uri) -> Vec<(String, String)> {
    let query = uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect()
}

// === impl ApiPath ===

impl ApiPath {
    fn parse(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let (group, rest) = match parts.as_slice() {
            ["api", rest @ ..] => ("", rest),
            ["apis"] => ("", &[][..]),
            ["apis", group, rest @ ..] => (*group, rest),
            _ => return None,
        };
        let mut found = Self {
            group: group.to_owned(),
            ..Self::default()
        };
        let [version, rest @ ..] = rest else {
            return Some(found);
        };
        (*version).clone_into(&mut found.version);
        let rest = match rest {
            ["watch", rest @ ..] => {
                found.is_watch = true;
                rest
            }
            rest => rest,
        };
        let rest = match rest {
            // Namespaces are objects too, and have subresources of these names.
            ["namespaces", _, "status" | "finalize"] => rest,
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => {
                found.namespace = Some((*namespace).to_owned());
                rest
            }
            rest => rest,
        };
        let mut rest = rest.iter().map(|part| (*part).to_owned());
        found.resource = rest.next().unwrap_or_default();
        found.name = rest.next();
        found.subresource = rest.next();
        Some(found)
    }

    fn verb(&self, method: &Method, is_watch: bool) -> Option<&'static str> {
        let is_object = self.name.is_some();
        Some(match *method {
            Method::GET if self.is_watch || is_watch && !is_object => "watch",
            Method::GET if is_object => "get",
            Method::GET => "list",
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE if is_object => "delete",
            Method::DELETE => "deletecollection",
            _ => return None,
        })
    }
}
