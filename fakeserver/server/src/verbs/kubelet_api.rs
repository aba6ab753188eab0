//! The API of the kubelets, to which the API server forwards requests about containers.

use std::fmt::Debug;

use axum::{body::Body, response::Response};
use fakeserver_value::status::Status;
use futures::future::BoxFuture;
use serde_json::Value;

use super::{Api, LogOptions, Request, Verb};

/// Answers for the containers of pods that are on a node.
pub trait KubeletApi: Debug + Send + Sync {
    /// Answers a request for the log of a container of `pod`.
    ///
    /// # Errors
    ///
    /// The container has no log; the words are a real kubelet's.
    fn log(
        &self,
        api: &Api,
        request: &Request<'_>,
        pod: &Value,
        container: &str,
        options: &LogOptions,
    ) -> Result<Response, Status>;

    /// Answers a request for a connection with `pod`: `exec`, `attach` or `portforward`. The answer carries a
    /// [`PendingSession`](crate::server::session::PendingSession) among its extensions.
    ///
    /// # Errors
    ///
    /// The request asks for no connection, or for one that the requester may not have.
    fn connect(
        &self,
        api: &Api,
        request: &Request<'_>,
        pod: &Value,
        container: &str,
    ) -> Result<Response, Status>;

    /// Forwards a request to a pod or a service.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the forwarded request ends too.
    fn proxy<'a>(
        &'a self,
        api: &'a Api,
        request: &'a Request<'a>,
        verb: Verb,
        body: Body,
    ) -> BoxFuture<'a, Result<Response, Status>>;
}
