//! The requests of a corpus.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use serde_json::{Value, json};

/// The query parameter of a dry run.
pub(super) const DRY_RUN: &str = "dryRun=All";

/// A request. Its path and its JSON body may have references to objects of the set-up: `${rv:KEY}`, `${uid:KEY}`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers besides the default ones.
    pub headers: BTreeMap<String, String>,
    /// The body, if there is one.
    pub body: Option<Body>,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition of the format"
)]
pub enum Body {
    /// A JSON value as text: the order of its fields matters to some answers.
    Json(String),
    /// Any characters up to U+00FF, each a byte, without references.
    Raw(String),
}

/// A request that makes an object which others are about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetUp {
    /// The request.
    pub request: Request,
    /// The name of the object, by which it is read if it exists already.
    pub name: Option<String>,
    /// The name of the object in references.
    pub key: Option<String>,
    /// True if the request is repeated for a while until it succeeds.
    pub until: bool,
}

/// A dry run or a read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Case {
    /// The category: `create`, `update`, `read` and so on.
    pub category: String,
    /// The short name of the kind.
    pub kind: String,
    /// The changes that were made to a valid request.
    pub note: String,
    /// The request.
    pub request: Request,
}

// === impl Request ===

impl Request {
    /// Creates a request without headers and body.
    pub fn new(method: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            path: path.into(),
            headers: BTreeMap::new(),
            body: None,
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn with_body(mut self, body: Body) -> Self {
        self.body = Some(body);
        self
    }
}

impl Request {
    /// Returns true if a correct server changes nothing: a read or a dry run.
    ///
    /// The option of a delete with a body belongs in the body: the server then ignores the query.
    pub fn is_harmless(&self) -> bool {
        if ["GET", "HEAD", "OPTIONS"].contains(&&*self.method) {
            return true;
        }
        let query = self.path.split_once('?').map_or("", |(_, query)| query);
        let is_dry_run = query.split('&').any(|parameter| parameter == DRY_RUN);
        let has_options = self.method == "DELETE" && self.body.is_some();
        is_dry_run && (!has_options || self.options_are_harmless())
    }

    fn options_are_harmless(&self) -> bool {
        let Some(Body::Json(text)) = &self.body else {
            return false;
        };
        let options: Value = serde_json::from_str(text).unwrap_or_default();
        options["dryRun"] == json!(["All"])
    }
}

impl Display for Request {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

// === impl Body ===

impl Body {
    /// Returns the body as text.
    pub fn text(&self) -> &str {
        match self {
            Self::Json(text) | Self::Raw(text) => text,
        }
    }
}
