//! A proxy for a fake server that fails or changes discovery responses, and records requests.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard},
};

use bytes::Bytes;
use fakeserver::FakeServer;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use kube::client::Body;
use serde_json::Value;
use tower::ServiceExt;

type Edit = Arc<dyn Fn(&mut Value) + Send + Sync>;
type BoxError = Box<dyn std::error::Error + Send + Sync>;
type AnyBody = UnsyncBoxBody<Bytes, BoxError>;

/// A way to a fake server. Clones are the same way.
#[derive(Clone)]
pub(crate) struct Front {
    server: FakeServer,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    failing: BTreeMap<String, StatusCode>,
    edits: BTreeMap<String, Edit>,
    seen: Vec<String>,
}

// === impl Front ===

impl Front {
    pub(crate) fn new(server: &FakeServer) -> Self {
        Self {
            server: server.clone(),
            state: Arc::default(),
        }
    }

    pub(crate) fn client(&self) -> kube::Client {
        let front = self.clone();
        let service = tower::service_fn(move |request| front.clone().answer(request));
        kube::Client::new(service, "default")
    }

    /// Answers `path` with this code instead of asking the server.
    pub(crate) fn fail(&self, path: &str, code: u16) {
        let code = StatusCode::from_u16(code).unwrap();
        self.state().failing.insert(path.to_owned(), code);
    }

    /// Changes the document at `path` on its way.
    pub(crate) fn edit(&self, path: &str, edit: impl Fn(&mut Value) + Send + Sync + 'static) {
        self.state().edits.insert(path.to_owned(), Arc::new(edit));
    }

    /// Hides a group, as if the extension API server behind it had not been installed.
    pub(crate) fn hide_group(&self, group: &str) {
        let name = group.to_owned();
        self.edit("/apis", move |document| {
            retain(document, "groups", |group| group["name"] != *name);
            retain(document, "items", |group| {
                group["metadata"]["name"] != *name
            });
        });
        self.fail(&format!("/apis/{group}"), 404);
    }

    /// Lets the extension API server behind a group version be down, so that its aggregator knows nothing current.
    pub(crate) fn fail_version(&self, group: &str, version: &str) {
        let (name, stale) = (group.to_owned(), version.to_owned());
        self.edit("/apis", move |document| {
            let groups = document["items"].as_array_mut().into_iter().flatten();
            let versions = groups
                .filter(|group| group["metadata"]["name"] == *name)
                .flat_map(|group| group["versions"].as_array_mut().unwrap())
                .filter(|version| version["version"] == *stale);
            for version in versions {
                version["freshness"] = "Stale".into();
                version["resources"] = Value::Array(Vec::new());
            }
        });
        self.fail(&format!("/apis/{group}/{version}"), 503);
    }

    /// Lets everything through again.
    pub(crate) fn heal(&self) {
        let mut state = self.state();
        state.failing.clear();
        state.edits.clear();
    }

    /// The paths that were asked for since the last call, in order.
    pub(crate) fn take_seen(&self) -> Vec<String> {
        std::mem::take(&mut self.state().seen)
    }

    async fn answer(self, request: Request<Body>) -> Result<Response<AnyBody>, Infallible> {
        let path = request.uri().path().to_owned();
        let (failing, edit) = {
            let mut state = self.state();
            state.seen.push(path.clone());
            (
                state.failing.get(&path).copied(),
                state.edits.get(&path).cloned(),
            )
        };
        if let Some(code) = failing {
            let mut response = Response::new(whole("told by the test"));
            *response.status_mut() = code;
            return Ok(response);
        }
        let (head, body) = self.server.router().oneshot(request).await?.into_parts();
        let body = match edit {
            None => body.map_err(Into::into).boxed_unsync(),
            Some(edit) => {
                let bytes = body.collect().await.unwrap().to_bytes();
                let mut document = serde_json::from_slice(&bytes).unwrap();
                edit(&mut document);
                whole(document.to_string())
            }
        };
        Ok(Response::from_parts(head, body))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

fn whole(text: impl Into<Bytes>) -> AnyBody {
    let body = Full::new(text.into()).map_err(|never| match never {});
    body.boxed_unsync()
}

/// Keeps those elements of the list under `name` of which `is_kept` holds, if there is such a list.
fn retain(document: &mut Value, name: &str, is_kept: impl Fn(&Value) -> bool) {
    if let Some(list) = document[name].as_array_mut() {
        list.retain(is_kept);
    }
}
