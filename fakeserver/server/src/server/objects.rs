//! Access to objects behind the API, and to the log of requests.

use std::sync::Arc;

use fakeserver_value::{object::ObjectError, status::Status};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{FakeServer, RequestRecord};
use crate::{
    faults::{self, Answer, Filter, RequestFacts, RuleGuard},
    verbs,
};

// === impl FakeServer ===

impl FakeServer {
    /// Creates or replaces the object of this kind and name, and returns the stored object.
    ///
    /// The object is applied by forced server-side apply as the manager `fakeserver`; then its status is, if it has
    /// one. It is defaulted and validated as a client's object, and watchers are notified. Its resource version does
    /// not matter: its uid, version, managers and times are left out. Its namespace is created if it does not exist;
    /// without a namespace the object is created in `default`. Fault rules, hooks and the log of requests do not see
    /// the write.
    ///
    /// Any type that serializes `kind` and `apiVersion` can be used: those of `k8s-openapi`, those that derive
    /// `kube::CustomResource`, or a [`serde_json::Value`].
    ///
    /// # Errors
    ///
    /// The status that a client would get, with the object and the field; see [`ObjectError`]. Nothing is written then.
    ///
    /// # Examples
    ///
    /// ```
    /// # use fakeserver_server as fakeserver;
    /// let server = fakeserver::FakeServer::builder().build();
    /// let stored = server.apply(&serde_json::json!({
    ///     "kind": "Pod",
    ///     "apiVersion": "v1",
    ///     "metadata": {"name": "p", "namespace": "made-for-it"},
    ///     "spec": {"containers": [{"name": "c", "image": "i"}]},
    ///     "status": {"phase": "Running"},
    /// }))?;
    /// assert_eq!(stored["status"]["phase"], "Running");
    /// assert_eq!(stored["spec"]["restartPolicy"], "Always");
    /// # Ok::<(), fakeserver::ObjectError>(())
    /// ```
    pub fn apply<T>(&self, object: &T) -> Result<T, ObjectError>
    where
        T: Serialize + DeserializeOwned,
    {
        let value = to_value(object)?;
        let named = identity(&value);
        let stored = verbs::apply_object(self.backend(), value)
            .map_err(|status| refused(&named, &status))?;
        T::deserialize(stored).map_err(|source| ObjectError::Unreadable {
            object: named,
            source,
        })
    }

    /// Deletes the object with the kind and name of `object`, as a client would: an object with finalizers stays until
    /// they are removed.
    ///
    /// # Errors
    ///
    /// The status that a client would get: [`ObjectError::is_not_found`] if the object does not exist.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, if the deleted object contains others: a namespace, or a definition of custom
    /// resources.
    pub fn delete<T: Serialize>(&self, object: &T) -> Result<(), ObjectError> {
        let value = to_value(object)?;
        verbs::delete_object(self.backend(), &value)
            .map_err(|status| refused(&identity(&value), &status))
    }

    /// Returns the last requests to the API, oldest first, including those in flight.
    ///
    /// # Memory
    ///
    /// A thousand are kept, or [a configured number](crate::FakeServerBuilder::with_requests_kept); the oldest are
    /// dropped, and counted in [`Stats::requests_forgotten`](crate::Stats::requests_forgotten). Of a path and of a
    /// query the first 8 KiB are kept, of a user agent the first 1 KiB.
    ///
    /// # Examples
    ///
    /// ```
    /// # use fakeserver_server as fakeserver;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use tower::ServiceExt;
    ///
    /// let server = fakeserver::FakeServer::builder().build();
    /// let request = http::Request::get("/api/v1/pods?limit=5").body(axum::body::Body::empty());
    /// server.router().oneshot(request.unwrap()).await.unwrap();
    /// let requests = server.requests();
    /// let facts = &requests[0].facts;
    /// assert_eq!((facts.verb, &*facts.resource), ("list", "pods"));
    /// assert_eq!(requests[0].parameter("limit"), Some("5"));
    /// assert_eq!(requests[0].code, Some(http::StatusCode::OK));
    /// # }
    /// ```
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.server.logs.requests.all()
    }

    /// The last requests, which are forgotten with that: what comes next belongs to the next step of a test.
    pub fn take_requests(&self) -> Vec<RequestRecord> {
        self.server.logs.requests.take()
    }

    /// Lets `answer` answer requests that match `filter`, instead of the server; where it gives nothing, the server does.
    ///
    /// It is in force until the guard is dropped. It is the rule [`faults::hook`], and stands behind the rules that are
    /// in force already.
    ///
    /// # Examples
    ///
    /// ```
    /// # use fakeserver_server as fakeserver;
    /// use fakeserver::faults::{Answer, Filter};
    ///
    /// let server = fakeserver::FakeServer::builder().build();
    /// let pods = Filter::any().verb("create").resource("pods");
    /// let guard = server.on_request(pods, |request| {
    ///     let code = http::StatusCode::FORBIDDEN;
    ///     (request.client == "scheduler").then(|| Answer::status(code, Some("Forbidden"), "not you"))
    /// });
    /// drop(guard);
    /// ```
    pub fn on_request<F>(&self, filter: Filter, answer: F) -> RuleGuard
    where
        F: Fn(&RequestFacts) -> Option<Answer> + Send + 'static,
    {
        self.faults().install(faults::hook(answer).matching(filter))
    }
}

pub(super) fn to_value<T: Serialize>(object: &T) -> Result<Value, ObjectError> {
    serde_json::to_value(object).map_err(|error| ObjectError::NotJson(Arc::new(error)))
}

pub(super) fn refused(object: &str, status: &Status) -> ObjectError {
    ObjectError::Refused {
        object: object.to_owned(),
        code: status.code,
        reason: status.reason.to_string(),
        message: status.message.clone(),
    }
}

/// Returns the name of an object in errors: `Pod default/p`.
pub(super) fn identity(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = match &object["kind"] {
        Value::String(kind) if !kind.is_empty() => kind.clone(),
        _ => "object without a kind".to_owned(),
    };
    let metadata = object.get("metadata").cloned().unwrap_or_else(|| json!({}));
    let (namespace, name) = (text(&metadata["namespace"]), text(&metadata["name"]));
    match (namespace.is_empty(), name.is_empty()) {
        (_, true) => kind,
        (true, false) => format!("{kind} {name}"),
        (false, false) => format!("{kind} {namespace}/{name}"),
    }
}
