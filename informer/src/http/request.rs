//! Turns lists and watches into HTTP requests.

use form_urlencoded::Serializer;
use http::{HeaderValue, Request, header};
use kube::client::Body;

use super::{Scope, negotiation::Preference};
use crate::{
    encoding::Encoding,
    list_watch::{ListRequest, ListWatchError, VersionMatch, WatchRequest},
};

/// The resource and the selection of it that requests are for.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The path of the resource in its scope, as in `/api/v1/pods`.
    pub(super) path: String,
    pub(super) plural: String,
    pub(super) scope: Scope,
    pub(super) labels: String,
    pub(super) fields: String,
    /// The selector of the shard; empty for all.
    pub(super) shard: String,
    pub(super) form: Form,
}

/// The parameter of a media type that asks a server to leave `metadata.managedFields` out.
const WITHOUT_MANAGED_FIELDS: &str = ";drop=metadata.managedFields";

/// In which form the objects are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Whole,
    MetadataOnly,
}

/// A target for which no request can be made.
#[derive(Debug, thiserror::Error)]
enum BadTarget {
    #[error("{0:?} is not the name of a namespace")]
    Namespace(String),
    #[error("the path is not valid")]
    Path(#[from] http::Error),
}

// === impl Target ===

impl Target {
    pub(super) fn list(
        &self,
        request: &ListRequest,
        preference: Preference,
    ) -> Result<Request<Body>, ListWatchError> {
        let mut query = self.selectors();
        if let Some(limit) = request.limit {
            query.append_pair("limit", &limit.to_string());
        }
        if let Some(token) = &request.continue_token {
            // The token names the version; the server refuses a request that names another.
            query.append_pair("continue", token);
        } else {
            let version = request.resource_version.as_str();
            append_nonempty(&mut query, "resourceVersion", version);
            let version_match = match request.version_match {
                None => "",
                Some(VersionMatch::NotOlderThan) => "NotOlderThan",
                Some(VersionMatch::Exact) => "Exact",
            };
            append_nonempty(&mut query, "resourceVersionMatch", version_match);
        }
        let mut request = self.build(&query.finish(), &self.form.accept_list(preference))?;
        if preference.accepts_gzip {
            let gzip = HeaderValue::from_static("gzip");
            request.headers_mut().insert(header::ACCEPT_ENCODING, gzip);
        }
        Ok(request)
    }

    pub(super) fn watch(
        &self,
        request: &WatchRequest,
        preference: Preference,
    ) -> Result<Request<Body>, ListWatchError> {
        let mut query = self.selectors();
        query.append_pair("watch", "true");
        append_nonempty(
            &mut query,
            "resourceVersion",
            request.resource_version.as_str(),
        );
        if request.allow_bookmarks {
            query.append_pair("allowWatchBookmarks", "true");
        }
        if request.send_initial_events {
            query.append_pair("sendInitialEvents", "true");
            query.append_pair("resourceVersionMatch", "NotOlderThan");
        }
        if let Some(timeout) = request.timeout {
            query.append_pair("timeoutSeconds", &timeout.as_secs().max(1).to_string());
        }
        // A compressor on the way may hold events back until its window is full.
        let coding = if request.send_initial_events && preference.accepts_gzip {
            "gzip"
        } else {
            "identity"
        };
        let mut request = self.build(&query.finish(), &self.form.accept_watch(preference))?;
        request
            .headers_mut()
            .insert(header::ACCEPT_ENCODING, HeaderValue::from_static(coding));
        Ok(request)
    }

    fn selectors(&self) -> Serializer<'static, String> {
        let mut query = Serializer::new(String::new());
        append_nonempty(&mut query, "labelSelector", &self.labels);
        append_nonempty(&mut query, "fieldSelector", &self.fields);
        append_nonempty(&mut query, "shardSelector", &self.shard);
        query
    }

    fn build(&self, query: &str, accept: &str) -> Result<Request<Body>, ListWatchError> {
        let refused = |error: BadTarget| ListWatchError::Request(Box::new(error));
        self.check_namespace().map_err(refused)?;
        let uri = if query.is_empty() {
            self.path.clone()
        } else {
            format!("{}?{query}", self.path)
        };
        Request::get(uri)
            .header(header::ACCEPT, accept)
            .body(Body::empty())
            .map_err(|error| refused(error.into()))
    }

    /// Anything else than a name would make the path of something that was not asked for.
    fn check_namespace(&self) -> Result<(), BadTarget> {
        let Scope::Namespace(namespace) = &self.scope else {
            return Ok(());
        };
        let is_in_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if namespace.is_empty() || !namespace.bytes().all(is_in_name) {
            return Err(BadTarget::Namespace(namespace.clone()));
        }
        Ok(())
    }
}

// === impl Form ===

impl Form {
    fn accept_list(self, preference: Preference) -> String {
        match self {
            Self::Whole => accept(preference, ""),
            Self::MetadataOnly => accept(
                preference,
                ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            ),
        }
    }

    fn accept_watch(self, preference: Preference) -> String {
        match self {
            Self::Whole => accept(preference, ""),
            Self::MetadataOnly => {
                accept(preference, ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
            }
        }
    }
}

/// Lists the media types that are accepted, the best first.
///
/// Whole JSON comes last: a server that cannot reduce an object to its metadata sends all of it, which decodes alike. Each type
/// also comes without the parameter that a server may not know.
fn accept(preference: Preference, parameters: &str) -> String {
    let json = Encoding::Json.media_type();
    let mut types = Vec::new();
    let mut add = |media_type: &str, parameters: &str| {
        if preference.drops_managed_fields {
            types.push(format!("{media_type}{parameters}{WITHOUT_MANAGED_FIELDS}"));
        }
        types.push(format!("{media_type}{parameters}"));
    };
    if preference.encoding != Encoding::Json {
        add(preference.encoding.media_type(), parameters);
    }
    if !parameters.is_empty() {
        add(json, parameters);
    }
    add(json, "");
    types.join(",")
}

fn append_nonempty(query: &mut Serializer<'static, String>, name: &str, value: &str) {
    if !value.is_empty() {
        query.append_pair(name, value);
    }
}
