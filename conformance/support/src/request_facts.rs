//! The facts about a request that rules of faults decide by, read from its head.

use fakeserver::faults::RequestFacts;
use http::{HeaderMap, Method, Uri, header, request::Parts};

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

/// Returns the facts about a request to the API, at a server that stood at `revision` when that was last seen. Nothing for any
/// other request: rules are not asked about it.
pub fn facts(parts: &Parts, revision: u64) -> Option<RequestFacts> {
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

/// Returns the user agent up to the first `/`.
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

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    /// Returns the facts of a request: verb, group, version, resource, namespace, name, subresource.
    fn understood(method: Method, uri: &str) -> Option<String> {
        let request = Request::builder().method(method).uri(uri);
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let facts = facts(&parts, 7)?;
        assert_eq!(facts.revision, 7);
        let or = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
        Some(format!(
            "{} {}/{} {} {} {} {}",
            facts.verb,
            facts.group,
            facts.version,
            facts.resource,
            or(facts.namespace),
            or(facts.name),
            or(facts.subresource),
        ))
    }

    #[test]
    fn requests_are_understood_as_the_api_server_does() {
        let pods = "/api/v1/namespaces/default/pods";
        let check = |method: &str, uri: &str, expected: &str| {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            assert_eq!(understood(method, uri).as_deref(), Some(expected), "{uri}");
        };
        check("GET", pods, "list /v1 pods default - -");
        check(
            "GET",
            &format!("{pods}?watch=1"),
            "watch /v1 pods default - -",
        );
        check(
            "GET",
            &format!("{pods}?watch=true"),
            "watch /v1 pods default - -",
        );
        check(
            "GET",
            &format!("{pods}?watch=0"),
            "list /v1 pods default - -",
        );
        check("GET", &format!("{pods}/a"), "get /v1 pods default a -");
        check("POST", pods, "create /v1 pods default - -");
        check(
            "PUT",
            &format!("{pods}/a/status"),
            "update /v1 pods default a status",
        );
        check("PATCH", &format!("{pods}/a"), "patch /v1 pods default a -");
        check(
            "DELETE",
            &format!("{pods}/a"),
            "delete /v1 pods default a -",
        );
        check("DELETE", pods, "deletecollection /v1 pods default - -");
        check("GET", "/api/v1/watch/pods", "watch /v1 pods - - -");
        check("GET", "/api/v1/namespaces", "list /v1 namespaces - - -");
        check("GET", "/api/v1/namespaces/a", "get /v1 namespaces - a -");
        check(
            "PUT",
            "/api/v1/namespaces/a/finalize",
            "update /v1 namespaces - a finalize",
        );
        check(
            "GET",
            "/apis/apps/v1/namespaces/a/deployments/b/scale",
            "get apps/v1 deployments a b scale",
        );
        check("GET", "/apis/apps/v1", "discover apps/v1  - - -");
        check("GET", "/apis", "discover /  - - -");
        check("GET", "/api", "discover /  - - -");
        for (method, uri) in [
            (Method::GET, "/healthz"),
            (Method::HEAD, pods),
            (Method::POST, "/apis"),
        ] {
            assert_eq!(understood(method, uri), None, "{uri}");
        }
    }
}
