//! A server whose answers are set path by path, and that remembers what it was asked for.

use std::{
    collections::BTreeMap,
    future::pending,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use http::{Request, Response, header};
use kube::{client::Body, core::discovery::Scope};
use serde_json::{Value, json};

use crate::discovery::{ServerGroup, ServerResource, ServerResources};

pub(crate) const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

#[derive(Clone, Default)]
pub(crate) struct ScriptedServer {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    plain: BTreeMap<String, Reply>,
    aggregated: BTreeMap<String, Reply>,
    requests: Vec<String>,
    running: usize,
    running_max: usize,
}

#[derive(Clone)]
pub(crate) enum Reply {
    /// A document.
    Json(String),
    /// A status code, and a body.
    Status(u16, String),
    /// Never.
    Hang,
    /// The connection breaks.
    Reset,
    /// Something else, but later.
    After(Duration, Box<Reply>),
}

// === impl ScriptedServer ===

impl ScriptedServer {
    /// A server in the plain form.
    pub(crate) fn of(groups: impl IntoIterator<Item = ServerGroup>) -> Self {
        let server = Self::default();
        server.serve(groups);
        server
    }

    /// A server in the aggregated form, which answers the plain one as well.
    pub(crate) fn aggregated_of(groups: impl IntoIterator<Item = ServerGroup>) -> Self {
        let server = Self::default();
        let groups: Vec<_> = groups.into_iter().collect();
        server.serve(groups.clone());
        server.serve_aggregated(&ServerResources::new(groups));
        server
    }

    pub(crate) fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = tower::service_fn(move |request| server.clone().answer(request));
        kube::Client::new(service, "default")
    }

    /// Replaces all documents in the plain form.
    pub(crate) fn serve(&self, groups: impl IntoIterator<Item = ServerGroup>) {
        self.state().plain.clear();
        let groups: Vec<_> = groups.into_iter().collect();
        let (core, others): (Vec<_>, Vec<_>) = groups.iter().partition(|it| it.name.is_empty());
        let versions: Vec<_> = core.iter().flat_map(|it| &it.versions).collect();
        let versions: Vec<_> = versions.iter().map(|it| it.version.as_str()).collect();
        self.set_json(
            "/api",
            &json!({"kind": "APIVersions", "versions": versions}),
        );
        let list: Vec<_> = others.iter().map(|it| plain_group(it)).collect();
        self.set_json("/apis", &json!({"kind": "APIGroupList", "groups": list}));
        for group in groups {
            self.serve_group(&group);
        }
    }

    /// Adds or replaces the documents of one group, but not the list of groups.
    pub(crate) fn serve_group(&self, group: &ServerGroup) {
        let mut root = format!("/apis/{}", group.name);
        if group.name.is_empty() {
            "/api".clone_into(&mut root);
        } else {
            self.set_json(&root, &plain_group(group));
        }
        for version in &group.versions {
            let path = format!("{root}/{}", version.version);
            match &version.resources {
                Ok(resources) => {
                    let resources: Vec<_> = resources.iter().map(plain_resource).collect();
                    let list = json!({"kind": "APIResourceList", "resources": resources});
                    self.set_json(&path, &list);
                }
                Err(error) => self.set(&path, Reply::Status(503, error.to_string())),
            }
        }
    }

    /// Replaces the documents in the aggregated form.
    pub(crate) fn serve_aggregated(&self, resources: &ServerResources) {
        let document = |is_core: bool| {
            let groups = resources
                .groups()
                .filter(|it| it.name.is_empty() == is_core);
            let items: Vec<_> = groups.map(aggregated_group).collect();
            Reply::Json(json!({"kind": "APIGroupDiscoveryList", "items": items}).to_string())
        };
        self.set_aggregated("/api", document(true));
        self.set_aggregated("/apis", document(false));
    }

    /// Returns whether it has any aggregated form.
    pub(crate) fn is_aggregated(&self) -> bool {
        !self.state().aggregated.is_empty()
    }

    pub(crate) fn set(&self, path: &str, reply: Reply) {
        self.state().plain.insert(path.to_owned(), reply);
    }

    pub(crate) fn set_json(&self, path: &str, document: &Value) {
        self.set(path, Reply::Json(document.to_string()));
    }

    pub(crate) fn set_aggregated(&self, path: &str, reply: Reply) {
        self.state().aggregated.insert(path.to_owned(), reply);
    }

    /// Leaves only the plain form of a path.
    pub(crate) fn remove_aggregated(&self, path: &str) {
        self.state().aggregated.remove(path);
    }

    pub(crate) fn remove(&self, path: &str) {
        self.state().plain.remove(path);
    }

    /// The paths that were asked for since the last call, in order.
    pub(crate) fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state().requests)
    }

    /// Returns the maximum number of concurrent requests so far.
    pub(crate) fn running_max(&self) -> usize {
        self.state().running_max
    }

    async fn answer(self, request: Request<Body>) -> Result<Response<Body>, std::io::Error> {
        let path = request.uri().path().to_owned();
        let accept = request.headers()[header::ACCEPT].to_str().unwrap();
        let (reply, content_type) = {
            let mut state = self.state();
            state.requests.push(path.clone());
            let aggregated = state.aggregated.get(&path).cloned();
            match aggregated.filter(|_| accept.starts_with(AGGREGATED)) {
                Some(reply) => (Some(reply), AGGREGATED),
                None => (state.plain.get(&path).cloned(), "application/json"),
            }
        };
        let not_found = Reply::Status(404, "404 page not found".to_owned());
        let mut reply = reply.unwrap_or(not_found);
        let _running = Running::new(&self);
        // Others get a chance to run, so that what is said to run at once does.
        tokio::task::yield_now().await;
        if let Reply::After(delay, later) = reply {
            tokio::time::sleep(delay).await;
            reply = *later;
        }
        let (status, body) = match reply {
            Reply::Json(body) => (200, body),
            Reply::Status(status, body) => (status, body),
            Reply::Hang => pending().await,
            Reply::Reset => return Err(std::io::ErrorKind::ConnectionReset.into()),
            Reply::After(..) => unreachable!("delays are not nested"),
        };
        let response = Response::builder().status(status);
        let response = response.header(header::CONTENT_TYPE, content_type);
        Ok(response.body(Body::from(body.into_bytes())).unwrap())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

struct Running<'a>(&'a ScriptedServer);

impl<'a> Running<'a> {
    fn new(server: &'a ScriptedServer) -> Self {
        let mut state = server.state();
        state.running += 1;
        state.running_max = state.running_max.max(state.running);
        Self(server)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.state().running -= 1;
    }
}

fn plain_group(group: &ServerGroup) -> Value {
    let version = |version: &str| json!({"version": version});
    let versions: Vec<_> = group
        .versions
        .iter()
        .map(|it| version(&it.version))
        .collect();
    let preferred = group.preferred_version.as_deref().map(version);
    json!({
        "kind": "APIGroup",
        "name": group.name,
        "versions": versions,
        "preferredVersion": preferred,
    })
}

fn plain_resource(resource: &ServerResource) -> Value {
    json!({
        "name": resource.resource.resource,
        "singularName": resource.singular_name,
        "namespaced": resource.scope == Scope::Namespaced,
        "kind": resource.kind.kind,
        "verbs": resource.verbs,
        "shortNames": resource.short_names,
        "categories": resource.categories,
    })
}

fn aggregated_group(group: &ServerGroup) -> Value {
    let versions: Vec<_> = group
        .versions
        .iter()
        .map(|version| {
            let resources = version.resources.as_deref().unwrap_or_default();
            let resources: Vec<_> = resources.iter().map(aggregated_resource).collect();
            let is_stale = version.resources.is_err();
            json!({
                "version": version.version,
                "freshness": if is_stale { "Stale" } else { "Current" },
                "resources": resources,
            })
        })
        .collect();
    json!({"metadata": {"name": group.name}, "versions": versions})
}

fn aggregated_resource(resource: &ServerResource) -> Value {
    json!({
        "resource": resource.resource.resource,
        "responseKind": {"group": "", "version": "", "kind": resource.kind.kind},
        "scope": if resource.scope == Scope::Namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular_name,
        "verbs": resource.verbs,
        "shortNames": resource.short_names,
        "categories": resource.categories,
    })
}
