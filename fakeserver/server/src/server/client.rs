//! Clients without sockets.

use fakeserver_value::{object::ObjectError, user::UserInfo};
use http::{HeaderValue, Request, header};
use kube::{Resource, client::Body};
use serde::de::DeserializeOwned;
use serde_json::json;
use tower::ServiceExt;

use super::{
    FakeServer,
    objects::{identity, refused},
    transport_error::deliver,
};
use crate::verbs;

// === impl FakeServer ===

impl FakeServer {
    /// A client of this server, without sockets, with the default namespace `default`. It may do everything.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn client(&self) -> kube::Client {
        self.client_as(UserInfo::administrator())
    }

    /// Returns a [client](Self::client) for requests of `user`, who is also in the group `system:authenticated`.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn client_as(&self, user: UserInfo) -> kube::Client {
        let service = ServiceExt::<Request<Body>>::map_result(self.router_as(user), deliver);
        kube::Client::new(service, "default")
    }

    /// Returns a [client](Self::client) with the user agent `name`: the manager of the fields that it writes, and the
    /// client in fault rules.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, or if `name` cannot stand in a header.
    pub fn client_named(&self, name: &str) -> kube::Client {
        let agent = HeaderValue::from_str(name).expect("a client's name is printable ASCII");
        let router = self.router_as(UserInfo::administrator());
        let named = router.map_request(move |mut request: Request<Body>| {
            request
                .headers_mut()
                .insert(header::USER_AGENT, agent.clone());
            request.map(axum::body::Body::new)
        });
        kube::Client::new(named.map_result(deliver), "default")
    }

    /// Returns the current object `name` of the type `K`; `namespace` is for namespaced types.
    ///
    /// # Errors
    ///
    /// [`ObjectError::Unreadable`]: the stored object is no value of the type; [`ObjectError::Refused`]: the kind is
    /// not served.
    pub fn get<K>(&self, namespace: Option<&str>, name: &str) -> Result<Option<K>, ObjectError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let wanted = json!({
            "kind": K::kind(&()),
            "apiVersion": K::api_version(&()),
            "metadata": {"name": name, "namespace": namespace},
        });
        let found = verbs::find_object(self.backend(), &wanted);
        let found = found.map_err(|status| refused(&identity(&wanted), &status))?;
        let Some(object) = found else {
            return Ok(None);
        };
        let named = identity(&object);
        match K::deserialize(object) {
            Ok(object) => Ok(Some(object)),
            Err(source) => Err(ObjectError::Unreadable {
                object: named,
                source,
            }),
        }
    }
}
