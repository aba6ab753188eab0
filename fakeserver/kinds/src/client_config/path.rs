//! Paths of webhooks as client-go's REST client asks for them: cleaned and escaped again.

use fakeserver_value::go_url::ESCAPED_IN_PATHS;
use percent_encoding::{percent_decode_str, utf8_percent_encode};

/// Returns the URL `https://host[:port][/path]` with a clean path.
pub(super) fn with_clean_path(url: &str) -> String {
    let after_scheme = url.find("://").map_or(0, |place| place + 3);
    let place = url[after_scheme..].find('/');
    let (host, path) = url.split_at(place.map_or(url.len(), |place| after_scheme + place));
    format!("{host}{}", clean(path))
}

/// Returns the path from the root, without empty segments, `.`, `..`, or a slash at its end.
pub(super) fn clean(path: &str) -> String {
    let decoded = percent_decode_str(path).decode_utf8_lossy();
    let mut segments = Vec::new();
    for segment in decoded.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    let path = format!("/{}", segments.join("/"));
    utf8_percent_encode(&path, ESCAPED_IN_PATHS).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_and_escaped_again() {
        for (path, expected) in [
            ("", "/"),
            ("/", "/"),
            ("//x", "/x"),
            ("/x//y/./z/", "/x/y/z"),
            ("/x/../../y", "/y"),
            ("/a%2Fb%20c", "/a/b%20c"),
            ("/a:b@c;d=e", "/a:b@c;d=e"),
        ] {
            assert_eq!(clean(path), expected, "{path}");
        }
    }

    #[test]
    fn a_url_keeps_its_host_and_port() {
        for (url, expected) in [
            ("https://h:1//x", "https://h:1/x"),
            ("https://h", "https://h/"),
            ("https://[::1]:8443/a/", "https://[::1]:8443/a"),
        ] {
            assert_eq!(with_clean_path(url), expected, "{url}");
        }
    }
}
