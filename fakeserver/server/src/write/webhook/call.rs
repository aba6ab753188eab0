//! A request of a call, and its successor if the response is a redirect.

use bytes::Bytes;
use fakeserver_value::go_url::GoUrl;
use http::{Method, Request, StatusCode, header};

use super::routes::Answer;

/// A request that is still to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// The host with the port as configured, for the header `Host` and errors.
    pub(super) url: String,
    pub(super) method: Method,
    /// Empty where the method is `GET`.
    pub(super) body: Bytes,
}

// === impl Call ===

impl Call {
    /// Returns the request, whose target is `target`.
    pub(super) fn request(&self, target: &str) -> Result<Request<Bytes>, String> {
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(target)
            .header(header::USER_AGENT, "kube-apiserver-admission")
            .header(header::ACCEPT, "application/json, */*");
        if self.method == Method::POST {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let request = request.body(self.body.clone());
        request.map_err(|error| error.to_string())
    }

    /// Returns the call to which `answer` redirects, or `None` if it is no redirect.
    ///
    /// As in Go, 301 to 303 are followed by a `GET`, 307 and 308 by the same request at the new location, and a
    /// redirect without a location is an ordinary response.
    ///
    /// # Errors
    ///
    /// The location is no URL.
    pub(super) fn redirected(&self, answer: &Answer) -> Result<Option<Self>, String> {
        let keeps_body = match answer.code {
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => false,
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
            _ => return Ok(None),
        };
        let Some(location) = answer.headers.get(header::LOCATION) else {
            return Ok(None);
        };
        let location = String::from_utf8_lossy(location.as_bytes());
        let url = self.resolve(&location).map_err(|error| {
            format!("failed to parse Location header {location:?}: parse {location:?}: {error}")
        })?;
        let scheme = url.split(':').next().unwrap_or_default();
        if !matches!(scheme, "http" | "https") {
            return Err(format!("unsupported protocol scheme {scheme:?}"));
        }
        Ok(Some(if keeps_body {
            Self {
                url,
                ..self.clone()
            }
        } else {
            Self {
                url,
                method: Method::GET,
                body: Bytes::new(),
            }
        }))
    }

    /// Returns the URL that `reference` stands for in an answer to this request.
    fn resolve(&self, reference: &str) -> Result<String, String> {
        let base = GoUrl::parse(&self.url)?;
        Ok(GoUrl::parse(reference)?.resolved_against(&base))
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    fn answer(code: u16, location: Option<&str>) -> Answer {
        let mut headers = HeaderMap::new();
        if let Some(location) = location {
            headers.insert(header::LOCATION, HeaderValue::from_str(location).unwrap());
        }
        Answer {
            code: StatusCode::from_u16(code).unwrap(),
            headers,
            body: Bytes::new(),
        }
    }

    /// Follows an answer to `https://h:1/a/b?timeout=5s`.
    fn followed(code: u16, location: Option<&str>) -> String {
        let call = Call {
            url: "https://h:1/a/b?timeout=5s".to_owned(),
            method: Method::POST,
            body: Bytes::from_static(b"{}"),
        };
        match call.redirected(&answer(code, location)) {
            Ok(Some(next)) => format!("{} {} {}", next.method, next.url, next.body.len()),
            Ok(None) => "an answer".to_owned(),
            Err(problem) => problem,
        }
    }

    #[test]
    fn redirects_are_followed_as_go_follows_them() {
        for (code, location, expected) in [
            (200, Some("/x"), "an answer"),
            (304, Some("/x"), "an answer"),
            (307, None, "an answer"),
            (302, None, "an answer"),
            (307, Some("/x"), "POST https://h:1/x 2"),
            (308, Some("c"), "POST https://h:1/a/c 2"),
            (307, Some("//g/x?y=1"), "POST https://g/x?y=1 2"),
            (301, Some("http://g/x"), "GET http://g/x 0"),
            (303, Some("/x"), "GET https://h:1/x 0"),
            (307, Some("../d?y"), "POST https://h:1/d?y 2"),
            (
                307,
                Some("ftp://g/x"),
                "unsupported protocol scheme \"ftp\"",
            ),
            (
                307,
                Some("https://["),
                "failed to parse Location header \"https://[\": parse \"https://[\": missing ']' in host",
            ),
        ] {
            assert_eq!(followed(code, location), expected, "{code} {location:?}");
        }
    }
}
