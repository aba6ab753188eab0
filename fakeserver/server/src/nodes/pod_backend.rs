//! Addresses of the user's that stand for pods.

use std::{fmt, str::FromStr};

use fakeserver_value::names::{label_value_problems, qualified_name_problems};

/// An address that serves the pods with a label: connections to any port of such a pod reach it.
///
/// It is written as `LABEL=VALUE=HOST:PORT`.
///
/// # Examples
///
/// ```
/// # use fakeserver_server as fakeserver;
/// let backend: fakeserver::PodBackend = "app=web=127.0.0.1:3000".parse()?;
/// assert_eq!(backend.to_string(), "app=web=127.0.0.1:3000");
/// # Ok::<(), fakeserver::PodBackendError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodBackend {
    label: Box<str>,
    value: Box<str>,
    address: Box<str>,
}

/// A text that is no [`PodBackend`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not of the form LABEL=VALUE=HOST:PORT; try `app=web=127.0.0.1:3000`")]
pub struct PodBackendError {
    text: String,
}

// === impl PodBackend ===

impl PodBackend {
    /// Returns whether the backend serves a pod with these labels.
    pub fn stands_for(&self, labels: &serde_json::Value) -> bool {
        labels[&*self.label] == *self.value
    }

    /// Returns the host and the port.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl FromStr for PodBackend {
    type Err = PodBackendError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || PodBackendError {
            text: text.to_owned(),
        };
        let (label, rest) = text.split_once('=').ok_or_else(wrong)?;
        let (value, address) = rest.split_once('=').ok_or_else(wrong)?;
        let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
        let port: u16 = port.parse().map_err(|_| wrong())?;
        let is_address = !host.is_empty() && !host.contains(['/', '=']) && port != 0;
        let is_label =
            qualified_name_problems(label).is_empty() && label_value_problems(value).is_empty();
        if !is_label || !is_address {
            return Err(wrong());
        }
        Ok(Self {
            label: label.into(),
            value: value.into(),
            address: address.into(),
        })
    }
}

impl fmt::Display for PodBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}={}", self.label, self.value, self.address)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_backend_is_a_label_and_an_address() {
        let backend: PodBackend = "app.kubernetes.io/name=web=localhost:80".parse().unwrap();
        assert_eq!(backend.address(), "localhost:80");
        assert!(backend.stands_for(&json!({"app.kubernetes.io/name": "web"})));
        assert!(!backend.stands_for(&json!({"app.kubernetes.io/name": "api"})));
        assert!(!backend.stands_for(&json!(null)));
        assert!("app=web=[::1]:80".parse::<PodBackend>().is_ok());
        for wrong in [
            "",
            "app=web",
            "app=web=127.0.0.1",
            "app=127.0.0.1:80",
            "=web=127.0.0.1:80",
            "app=web=:80",
            "app=web=127.0.0.1:0",
            "app=web=http://127.0.0.1:80",
            "a b=web=127.0.0.1:80",
            "app=w b=127.0.0.1:80",
        ] {
            let error = wrong.parse::<PodBackend>().unwrap_err();
            assert!(error.to_string().contains("try `app=web="), "{error}");
        }
    }
}
