//! URLs as Go reads them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// The bytes that Go escapes in a path.
pub const ESCAPED_IN_PATHS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');
/// Characters other than letters and digits that a path may have as they are.
const OF_PATHS: &str = "-_.~$&+,/:;=@!'()*[]%";
const OF_HOSTS: &str = "-_.~!$&'()*+,;=:[]<>\"%";
const OF_USERS: &str = "-._:~!$&'()*+,;=%@";

/// The parts of a URL.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GoUrl<'a> {
    /// In lower case.
    pub scheme: String,
    pub user: &'a str,
    /// With the port.
    pub host: &'a str,
    path: &'a str,
    pub query: &'a str,
    pub fragment: &'a str,
}

// === impl GoUrl ===

impl<'a> GoUrl<'a> {
    /// Reads a URL, or a part of one.
    ///
    /// # Errors
    ///
    /// Returns Go's message for a text that is no URL.
    pub fn parse(url: &'a str) -> Result<Self, String> {
        let (url, fragment) = url.split_once('#').unwrap_or((url, ""));
        let parsed = Self::read(url, false)?;
        check_escapes(fragment)?;
        Ok(Self { fragment, ..parsed })
    }

    /// Reads an absolute URL, or a path from the root.
    ///
    /// # Errors
    ///
    /// Returns Go's message for a text that is no URL.
    #[doc(alias = "ParseRequestURI")]
    pub fn parse_request(url: &'a str) -> Result<Self, String> {
        if url.is_empty() {
            return Err("empty url".to_owned());
        }
        Self::read(url, true)
    }

    fn read(url: &'a str, is_request: bool) -> Result<Self, String> {
        if url.bytes().any(|byte| byte.is_ascii_control()) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let mut parsed = Self::default();
        if url == "*" {
            parsed.path = url;
            return Ok(parsed);
        }
        let (scheme, rest) = split_scheme(url)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        (parsed.scheme, parsed.query) = (scheme.to_lowercase(), query);
        if !rest.starts_with('/') {
            if !scheme.is_empty() {
                return Ok(parsed);
            }
            if is_request {
                return Err("invalid URI for request".to_owned());
            }
            let segment = rest.split('/').next().unwrap_or_default();
            if segment.contains(':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let has_host = !scheme.is_empty() || (!is_request && !rest.starts_with("///"));
        let after = rest.strip_prefix("//").filter(|_| has_host);
        parsed.path = match after {
            Some(after) => {
                let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
                let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
                check_host(host)?;
                check_user(user)?;
                (parsed.user, parsed.host) = (user, host);
                path
            }
            None => rest,
        };
        check_escapes(parsed.path)?;
        Ok(parsed)
    }

    /// Returns the URL that this one stands for in an answer of `base`. A fragment is left out.
    #[doc(alias = "ResolveReference")]
    pub fn resolved_against(&self, base: &GoUrl<'_>) -> String {
        let is_whole = !self.scheme.is_empty() || !self.host.is_empty() || !self.user.is_empty();
        let (authority, path) = if is_whole {
            (self, resolved_path("", &self.escaped_path()))
        } else {
            (
                base,
                resolved_path(&base.escaped_path(), &self.escaped_path()),
            )
        };
        let query = match self.query {
            "" if !is_whole && self.path.is_empty() => base.query,
            query => query,
        };
        let scheme = if self.scheme.is_empty() {
            &base.scheme
        } else {
            &self.scheme
        };
        let mut url = format!("{scheme}://");
        if !authority.user.is_empty() {
            url.extend([authority.user, "@"]);
        }
        url.extend([authority.host, &path]);
        if !query.is_empty() {
            url.extend(["?", query]);
        }
        url
    }

    /// Returns the host, with its port if it has one.
    pub fn decoded_host(&self) -> String {
        decode(self.host)
    }

    /// Returns the host without its port, and without brackets.
    pub fn hostname(&self) -> String {
        let (name, _) = self.split_port();
        let bare = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'));
        decode(bare.unwrap_or(name))
    }

    /// Returns the port; nothing if it has none.
    pub fn port(&self) -> &'a str {
        self.split_port().1
    }

    fn split_port(&self) -> (&'a str, &'a str) {
        let split = self.host.rsplit_once(':');
        let split = split.filter(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()));
        split.unwrap_or((self.host, ""))
    }

    /// Returns the path with escapes.
    pub fn escaped_path(&self) -> String {
        if has_only(self.path, OF_PATHS) {
            return self.path.to_owned();
        }
        let decoded: Vec<u8> = percent_decode_str(self.path).collect();
        percent_encode(&decoded, ESCAPED_IN_PATHS).to_string()
    }

    /// Returns the names and values of the query. Those with wrong escapes, and with semicolons, are left out.
    pub fn query_pairs(&self) -> impl Iterator<Item = (String, String)> {
        let pairs = self.query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.filter(|pair| !pair.contains(';') && check_escapes(pair).is_ok());
        pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |text: &str| decode(&text.replace('+', " "));
            (decode(name), decode(value))
        })
    }
}

fn split_scheme(url: &str) -> Result<(&str, &str), String> {
    for (place, byte) in url.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if place > 0 => {}
            b':' if place == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&url[..place], &url[place + 1..])),
            _ => break,
        }
    }
    Ok(("", url))
}

/// Resolves a path against a base path, and removes `.` and `..`.
fn resolved_path(base: &str, path: &str) -> String {
    let whole = if path.is_empty() {
        base.to_owned()
    } else if path.starts_with('/') {
        path.to_owned()
    } else {
        let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{folder}/{path}")
    };
    if whole.is_empty() {
        return whole;
    }
    let mut kept = Vec::new();
    for part in whole.trim_start_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(kept.pop()),
            part => kept.push(part),
        }
    }
    if whole.ends_with("/.") || whole.ends_with("/..") {
        kept.push("");
    }
    format!("/{}", kept.join("/"))
}

fn check_host(host: &str) -> Result<(), String> {
    let port = match host.strip_prefix('[') {
        Some(rest) => match rest.rsplit_once(']') {
            Some((_, port)) => port,
            None => return Err("missing ']' in host".to_owned()),
        },
        None => host.rfind(':').map_or("", |place| &host[place..]),
    };
    let digits = port.strip_prefix(':');
    let is_port = port.is_empty()
        || digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_port {
        return Err(format!("invalid port {port:?} after host"));
    }
    let is_allowed = |letter: &char| {
        !letter.is_ascii() || letter.is_ascii_alphanumeric() || OF_HOSTS.contains(*letter)
    };
    match host.chars().find(|letter| !is_allowed(letter)) {
        Some(letter) => Err(format!(
            "invalid character {:?} in host name",
            letter.to_string()
        )),
        None => check_escapes(host),
    }
}

fn check_user(user: &str) -> Result<(), String> {
    if !has_only(user, OF_USERS) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    check_escapes(user)
}

/// Returns whether a text has only letters and digits of ASCII, and these characters.
fn has_only(text: &str, others: &str) -> bool {
    text.chars()
        .all(|letter| letter.is_ascii_alphanumeric() || others.contains(letter))
}

fn check_escapes(text: &str) -> Result<(), String> {
    for (place, _) in text.match_indices('%') {
        let escape = text.as_bytes().get(place + 1..place + 3);
        if !escape.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            let excerpt: String = text[place..].chars().take(3).collect();
            return Err(format!("invalid URL escape {excerpt:?}"));
        }
    }
    Ok(())
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::GoUrl;

    #[test]
    fn urls_are_read_as_go_reads_them() {
        let parts = |url| {
            GoUrl::parse(url).map(|url| (url.scheme, url.user, url.host, url.query, url.fragment))
        };
        assert_eq!(
            parts("HTTPS://u:p@h:1/a?b#c"),
            Ok(("https".to_owned(), "u:p", "h:1", "b", "c"))
        );
        assert_eq!(parts("0 0 * * *"), Ok((String::new(), "", "", "", "")));
        assert_eq!(parts("//h/a"), Ok((String::new(), "", "h", "", "")));
        for (url, problem) in [
            ("::1", "missing protocol scheme"),
            ("1:2", "first path segment in URL cannot contain colon"),
            ("https://h:p/", "invalid port \":p\" after host"),
            ("https://a b/", "invalid character \" \" in host name"),
            ("https://[::1/", "missing ']' in host"),
            ("https://a^b@h/", "net/url: invalid userinfo"),
            ("https://h/%zz", "invalid URL escape \"%zz\""),
            ("https://h/#%z", "invalid URL escape \"%z\""),
            ("a\tb", "net/url: invalid control character in URL"),
        ] {
            assert_eq!(parts(url), Err(problem.to_owned()), "{url}");
        }
    }

    #[test]
    fn addresses_of_requests_are_absolute() {
        for url in ["https://h/a b", "/a", "*", "mailto:a@b", "//h/a"] {
            assert!(GoUrl::parse_request(url).is_ok(), "{url}");
        }
        for (url, problem) in [
            ("", "empty url"),
            ("a", "invalid URI for request"),
            ("a/b:c", "invalid URI for request"),
        ] {
            assert_eq!(GoUrl::parse_request(url), Err(problem.to_owned()), "{url}");
        }
        let path = GoUrl::parse_request("//h/a").unwrap();
        assert_eq!((path.host, path.escaped_path().as_str()), ("", "//h/a"));
    }

    #[test]
    fn references_are_resolved() {
        let base = GoUrl::parse("https://u@h:1/a/b/c?x=1").unwrap();
        for (reference, url) in [
            ("", "https://u@h:1/a/b/c?x=1"),
            ("?y", "https://u@h:1/a/b/c?y"),
            ("d", "https://u@h:1/a/b/d"),
            ("./d/", "https://u@h:1/a/b/d/"),
            ("..", "https://u@h:1/a/"),
            ("../../../d?y#f", "https://u@h:1/d?y"),
            ("/d/./e/../f", "https://u@h:1/d/f"),
            ("/%2f", "https://u@h:1/%2f"),
            ("//g/x", "https://g/x"),
            ("http://g", "http://g"),
        ] {
            let reference = GoUrl::parse(reference).unwrap();
            assert_eq!(reference.resolved_against(&base), url);
        }
        let host = GoUrl::parse("https://h").unwrap();
        assert_eq!(
            GoUrl::parse("d").unwrap().resolved_against(&host),
            "https://h/d"
        );
    }

    #[test]
    fn hosts_paths_and_queries_are_taken_apart() {
        for (url, host, name, port, path) in [
            ("https://a.b:80/c%20d", "a.b:80", "a.b", "80", "/c%20d"),
            ("https://a.b:443", "a.b:443", "a.b", "443", ""),
            ("https://[::1]:8/%2f", "[::1]:8", "::1", "8", "/%2f"),
            (
                "https://[fe80::1%25en0]/",
                "[fe80::1%en0]",
                "fe80::1%en0",
                "",
                "/",
            ),
            ("https://%e4%b8%96/é \"", "世", "世", "", "/%C3%A9%20%22"),
            ("https://h:/a/../b", "h:", "h", "", "/a/../b"),
        ] {
            let read = GoUrl::parse(url).unwrap();
            assert_eq!(read.decoded_host(), host, "{url}");
            assert_eq!(
                (read.hostname(), read.port()),
                (name.to_owned(), port),
                "{url}"
            );
            assert_eq!(read.escaped_path(), path, "{url}");
        }
        let read = GoUrl::parse("/?a=1&b=x+y%21&a=2&&c&d;e=1&f=%z").unwrap();
        let pairs: Vec<String> = read
            .query_pairs()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(pairs, ["a=1", "b=x y!", "a=2", "c="]);
    }
}
