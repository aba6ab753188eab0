//! Reads the documents by which a server tells its kinds.

use serde_json::Value;
use thiserror::Error;

use super::{generate::Generator, request::Request, session::Session};
use crate::{call::DISCOVERY, golden::EndpointError, seed::Seed};

/// The kinds that a server serves.
#[derive(Clone, Debug)]
pub struct ServedKinds {
    discovery: Vec<Value>,
    openapi: Vec<Value>,
}

/// The failure to read the kinds of a server.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServedError {
    /// The server did not answer. A retry may help.
    #[error("no answer to GET {path}")]
    Unanswered {
        /// The path of the document.
        path: String,
        /// The failure.
        #[source]
        source: EndpointError,
    },
    /// The server does not serve a document, or not to this client.
    #[error("GET {path} is answered with {status}, without the document")]
    Refused {
        /// The path of the document.
        path: String,
        /// The status of the answer.
        status: u16,
    },
}

// === impl ServedKinds ===

impl ServedKinds {
    /// Reads discovery and OpenAPI v3 of a server.
    ///
    /// # Errors
    ///
    /// The server does not serve one of them.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn read(session: &Session) -> Result<Self, ServedError> {
        let mut discovery = Vec::new();
        for path in ["/api", "/apis"] {
            discovery.push(document(session, path, DISCOVERY).await?);
        }
        let index = document(session, "/openapi/v3", "application/json").await?;
        let mut openapi = Vec::new();
        for (name, group) in index["paths"].as_object().into_iter().flatten() {
            // The others have no schemas of objects.
            if !(name.starts_with("api/") || name.starts_with("apis/")) {
                continue;
            }
            let Some(path) = group["serverRelativeURL"].as_str() else {
                continue;
            };
            openapi.push(document(session, path, "application/json").await?);
        }
        Ok(Self { discovery, openapi })
    }

    /// Returns the generator of requests about these kinds.
    pub fn generator(&self, seed: Seed) -> Generator {
        Generator::new(seed, &self.discovery, &self.openapi)
    }
}

async fn document(session: &Session, path: &str, accepted: &str) -> Result<Value, ServedError> {
    let request = Request::new("GET", path).with_header("Accept", accepted);
    let answer = session.answer(&request).await;
    let answer = answer.map_err(|source| ServedError::Unanswered {
        path: path.to_owned(),
        source,
    })?;
    // The index of OpenAPI is JSON that is called plain text.
    let document = serde_json::from_slice(&answer.body);
    match document {
        Ok(document) if answer.status == 200 => Ok(document),
        _ => Err(ServedError::Refused {
            path: path.to_owned(),
            status: answer.status,
        }),
    }
}
