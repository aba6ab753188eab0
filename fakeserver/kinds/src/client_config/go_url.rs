//! URLs as Go reads them.

/// The parts of a URL.
#[derive(Debug, PartialEq, Eq)]
pub struct GoUrl<'a> {
    /// In lower case.
    pub(super) scheme: String,
    pub(super) user: &'a str,
    /// With the port.
    pub(super) host: &'a str,
    pub(super) query: &'a str,
    pub(super) fragment: &'a str,
}

// === impl GoUrl ===

impl<'a> GoUrl<'a> {
    /// Reads a URL, or a part of one.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the text.
    pub fn parse(url: &'a str) -> Result<Self, String> {
        let (url, fragment) = url.split_once('#').unwrap_or((url, ""));
        if url.bytes().any(|byte| byte.is_ascii_control()) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let (scheme, rest) = split_scheme(url)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut parsed = Self {
            scheme: scheme.to_lowercase(),
            user: "",
            host: "",
            query,
            fragment,
        };
        if !rest.starts_with('/') {
            if !scheme.is_empty() {
                return Ok(parsed);
            }
            let segment = rest.split('/').next().unwrap_or_default();
            if segment.contains(':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let has_host = !scheme.is_empty() || !rest.starts_with("///");
        let after = rest.strip_prefix("//").filter(|_| has_host);
        let path = match after {
            Some(after) => {
                let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
                let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
                check_host(host)?;
                (parsed.user, parsed.host) = (user, host);
                path
            }
            None => rest,
        };
        check_escapes(path)?;
        check_escapes(fragment)?;
        Ok(parsed)
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
    let is_allowed = |letter: char| {
        !letter.is_ascii()
            || letter.is_ascii_alphanumeric()
            || "-_.~!$&'()*+,;=:[]<>\"%".contains(letter)
    };
    match host.chars().find(|letter| !is_allowed(*letter)) {
        Some(letter) => Err(format!(
            "invalid character {:?} in host name",
            letter.to_string()
        )),
        None => check_escapes(host),
    }
}

fn check_escapes(text: &str) -> Result<(), String> {
    for (place, _) in text.match_indices('%') {
        let escape = text.as_bytes().get(place + 1..place + 3);
        if !escape.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            let shown: String = text[place..].chars().take(3).collect();
            return Err(format!("invalid URL escape {shown:?}"));
        }
    }
    Ok(())
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
        for (url, problem) in [
            ("::1", "missing protocol scheme"),
            ("1:2", "first path segment in URL cannot contain colon"),
            ("https://h:p/", "invalid port \":p\" after host"),
            ("https://a b/", "invalid character \" \" in host name"),
            ("https://h/%zz", "invalid URL escape \"%zz\""),
        ] {
            assert_eq!(parts(url), Err(problem.to_owned()), "{url}");
        }
    }
}
