//! Asks a server what it serves: requests with time limits, several at once, partial failure kept apart from failure.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, future, stream};
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use kube::client::Body;

use super::{
    error::DiscoveryError,
    names::GroupVersion,
    options::DiscoveryOptions,
    resource::ServerResource,
    table::{ServerGroup, ServerResources, ServerVersion},
    wire::{self, GroupOutline, Root},
};
use crate::list_watch::Status;

/// A client that asks a server what it serves, with new requests for each call.
/// [`CachedDiscovery`](super::CachedDiscovery) remembers the answers.
#[doc(alias = "DiscoveryInterface")]
#[derive(Clone)]
pub struct DiscoveryClient {
    client: kube::Client,
    options: DiscoveryOptions,
}

/// A whole answer, of any status.
struct Answer {
    status: StatusCode,
    content_type: Option<String>,
    retry_after: Option<Duration>,
    body: Bytes,
}

// === impl DiscoveryClient ===

impl DiscoveryClient {
    /// Asks by `client`.
    pub fn new(client: kube::Client) -> Self {
        Self {
            client,
            options: DiscoveryOptions::default(),
        }
    }

    /// Sets the options.
    #[must_use]
    pub fn with_options(mut self, options: DiscoveryOptions) -> Self {
        self.options = options;
        self
    }

    /// Reads everything that the server serves.
    ///
    /// Group versions that fail are part of the answer: look at [`ServerResources::failures`] before concluding that
    /// something is not there. They have been asked for [`DiscoveryOptions::attempts_max`] times.
    ///
    /// Each of `/api` and `/apis` is asked for the aggregated form. If the server answers in the plain one, its groups
    /// are read version by version, independently of the other endpoint.
    ///
    /// # Errors
    ///
    /// If `/apis` fails, or `/api` with anything but 404: then nothing can be said about any group.
    /// [`DiscoveryError::is_retryable`] reports whether to try again.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the running requests are given up and what was read is lost.
    #[doc(alias = "ServerGroupsAndResources")]
    pub async fn server_resources(&self) -> Result<ServerResources, DiscoveryError> {
        let (core, others) = future::join(self.root(true), self.root(false)).await;
        let core = match core {
            Err(error) if error.is_not_found() => Root::Plain(Vec::new()),
            core => core?,
        };
        let (core, others) = future::join(self.complete(core), self.complete(others?)).await;
        let resources = ServerResources::new(core.into_iter().chain(others));
        for failure in resources.failures() {
            tracing::debug!(error = %failure, "group version could not be discovered");
        }
        Ok(resources)
    }

    /// One group with its versions and their resources, read afresh; `None` if the server does not serve it.
    ///
    /// Asked for in the plain form, which follows a new custom resource sooner than the aggregated one does.
    ///
    /// # Errors
    ///
    /// If the group itself cannot be read. Versions that fail are part of the answer.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the running requests are given up and what was read is lost.
    pub async fn server_group(&self, name: &str) -> Result<Option<ServerGroup>, DiscoveryError> {
        if !is_path_segment(name) && !name.is_empty() {
            return Ok(None);
        }
        let outline = if name.is_empty() {
            let answer = self.get("/api", wire::ACCEPT_PLAIN).await;
            answer.and_then(|answer| wire::parse_core(&answer.body))
        } else {
            let answer = self.get(&format!("/apis/{name}"), wire::ACCEPT_PLAIN).await;
            answer.and_then(|answer| wire::parse_group(&answer.body).map(Some))
        };
        match outline {
            Ok(Some(outline)) => Ok(self.complete(Root::Plain(vec![outline])).await.pop()),
            Ok(None) => Ok(None),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The resources of one group version; `None` if the server does not serve it.
    ///
    /// # Errors
    ///
    /// If the request fails in any other way than by 404.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the request is given up.
    #[doc(alias = "ServerResourcesForGroupVersion")]
    pub async fn server_resources_for(
        &self,
        group_version: &GroupVersion,
    ) -> Result<Option<Vec<ServerResource>>, DiscoveryError> {
        let GroupVersion { group, version } = group_version;
        if !is_path_segment(version) || !(group.is_empty() || is_path_segment(group)) {
            return Ok(None);
        }
        match self.resources(group_version).await {
            Err(error) if error.is_not_found() => Ok(None),
            resources => resources.map(Some),
        }
    }

    /// Asks one of the roots for its aggregated form, if that is wanted and the server has it.
    async fn root(&self, is_core: bool) -> Result<Root, DiscoveryError> {
        let path = if is_core { "/api" } else { "/apis" };
        let mut answer = Err(DiscoveryError::Stale);
        if self.options.is_aggregated {
            answer = self.get(path, wire::ACCEPT_AGGREGATED).await;
        }
        let refuses_form = |error: &DiscoveryError| {
            error
                .status()
                .is_some_and(|status| matches!(status.code, 406 | 415))
        };
        if !self.options.is_aggregated || answer.as_ref().is_err_and(refuses_form) {
            answer = self.get(path, wire::ACCEPT_PLAIN).await;
        }
        let answer = answer?;
        wire::parse_root(is_core, answer.content_type.as_deref(), &answer.body)
    }

    /// Asks for what a root left open: the resources of each group version, and again those that failed.
    async fn complete(&self, root: Root) -> Vec<ServerGroup> {
        let (mut groups, attempts_done) = match root {
            Root::Aggregated(groups) => (groups, 1),
            Root::Plain(outlines) => (outlines.into_iter().map(open_group).collect(), 0),
        };
        for _ in attempts_done..self.options.attempts_max.max(1) {
            let open: Vec<GroupVersion> = groups.iter().flat_map(open_versions).collect();
            if open.is_empty() {
                break;
            }
            // In order, so that the same answers give the same table whichever comes first.
            let mut answers = stream::iter(open)
                .map(|version| async move { self.resources(&version).await })
                .buffered(self.options.concurrent_requests_max.max(1));
            for version in groups.iter_mut().flat_map(|group| &mut group.versions) {
                if version.resources.as_ref().is_err_and(is_worth_asking) {
                    let answer = answers.next().await;
                    version.resources = answer.expect("there is one answer for each open version");
                }
            }
        }
        groups
    }

    async fn resources(
        &self,
        group_version: &GroupVersion,
    ) -> Result<Vec<ServerResource>, DiscoveryError> {
        let path = group_version.path();
        let answer = self.get(&path, wire::ACCEPT_PLAIN).await?;
        wire::parse_resources(group_version, &answer.body)
    }

    /// One request, within the time limit, to the end of its body.
    async fn get(&self, path: &str, accept: &'static str) -> Result<Answer, DiscoveryError> {
        let limit = self.options.request_timeout;
        let answer = tokio::time::timeout(limit, self.exchange(path, accept))
            .await
            .map_err(|_| DiscoveryError::Timeout { limit })??;
        if answer.status.is_success() {
            Ok(answer)
        } else {
            Err(answer.into_status().into())
        }
    }

    async fn exchange(&self, path: &str, accept: &'static str) -> Result<Answer, DiscoveryError> {
        let transport = |error: kube::Error| DiscoveryError::Transport(Arc::new(error));
        let request = Request::get(path)
            .header(header::ACCEPT, accept)
            .body(Body::empty())
            .map_err(|error| transport(kube::Error::HttpError(error)))?;
        let response = self.client.send(request).await.map_err(transport)?;
        let (head, body) = response.into_parts();
        let text = |name| {
            let value = head.headers.get(name)?;
            Some(value.to_str().ok()?.to_owned())
        };
        let limit_bytes = self.options.body_size_bytes_max;
        let body = Limited::new(body, limit_bytes).collect().await;
        let body = body.map_err(|error| {
            if error.is::<LengthLimitError>() {
                DiscoveryError::BodyTooLarge { limit_bytes }
            } else {
                DiscoveryError::Transport(Arc::from(error))
            }
        })?;
        Ok(Answer {
            status: head.status,
            content_type: text(header::CONTENT_TYPE),
            retry_after: text(header::RETRY_AFTER)
                .and_then(|seconds| seconds.parse().ok())
                .map(Duration::from_secs),
            body: body.to_bytes(),
        })
    }
}

impl std::fmt::Debug for DiscoveryClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiscoveryClient")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

// === impl Answer ===

impl Answer {
    /// Returns the status of an unsuccessful answer: a Kubernetes `Status`, or the first line of any other body.
    fn into_status(self) -> Status {
        #[derive(serde::Deserialize)]
        struct Wire {
            #[serde(default)]
            reason: String,
            #[serde(default)]
            message: String,
        }
        let wire = serde_json::from_slice(&self.body).unwrap_or_else(|_| {
            let text = String::from_utf8_lossy(&self.body);
            let line = text.lines().next().unwrap_or_default();
            Wire {
                reason: String::new(),
                message: line.chars().take(200).collect(),
            }
        });
        Status {
            code: self.status.as_u16(),
            reason: wire.reason,
            message: if wire.message.is_empty() {
                let reason = self.status.canonical_reason();
                reason.unwrap_or("an error").to_lowercase()
            } else {
                wire.message
            },
            causes: Vec::new(),
            retry_after: self.retry_after,
        }
    }
}

/// A group none of whose versions has been asked for.
fn open_group(outline: GroupOutline) -> ServerGroup {
    let open = |version: String| ServerVersion {
        version,
        resources: Err(DiscoveryError::Stale),
    };
    ServerGroup {
        name: outline.name,
        versions: outline.versions.into_iter().map(open).collect(),
        preferred_version: outline.preferred_version,
    }
}

/// The versions of a group that are to be asked for, or asked for again.
fn open_versions(group: &ServerGroup) -> impl Iterator<Item = GroupVersion> {
    let open = group
        .versions
        .iter()
        .filter(|version| version.resources.as_ref().is_err_and(is_worth_asking));
    open.map(|version| GroupVersion::new(&group.name, &version.version))
}

/// A refusal stays one however often one asks within a second.
fn is_worth_asking(error: &DiscoveryError) -> bool {
    error.is_retryable()
}

/// Returns whether a name can be sent as one segment of a path, as the names of all served resources can.
fn is_path_segment(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    !name.is_empty() && name.bytes().all(is_plain) && name.bytes().any(|byte| byte != b'.')
}
