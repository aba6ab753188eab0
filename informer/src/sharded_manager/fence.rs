//! A client that writes only while a lease is held.

use http::Method;
use kube::{Client, client::Body};

use crate::leader_election::Fence;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The reason why a write was not sent.
#[derive(Debug, thiserror::Error)]
#[error("the shard is not owned any more")]
struct NotOwned;

/// Returns a client whose writes fail, unsent, once the lease is not held. Reads are not checked.
pub(super) fn fenced(client: &Client, fence: Fence) -> Client {
    let namespace = client.default_namespace().to_owned();
    let client = client.clone();
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (client, fence) = (client.clone(), fence.clone());
        async move {
            if is_write(request.method()) && !fence.is_open() {
                return Err(BoxError::from(NotOwned));
            }
            let answer: http::Response<Body> =
                client.send(request).await.map_err(BoxError::from)?;
            Ok(answer)
        }
    });
    Client::new(service, namespace)
}

fn is_write(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}
