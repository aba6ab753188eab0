//! Addresses as Go reads those of requests.

/// Returns whether `text` is an address of a request: absolute, or a path from the root.
pub(super) fn is_request_uri(text: &str) -> bool {
    parse(text).is_some()
}

/// Returns whether `text` is an absolute address with a host.
pub(super) fn has_scheme_and_host(text: &str) -> bool {
    parse(text).is_some_and(|(scheme, host)| !scheme.is_empty() && !host.is_empty())
}

/// Reads the scheme and the host of an address, each of which may be empty.
#[doc(alias = "ParseRequestURI")]
fn parse(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() || text.contains(|letter: char| letter.is_ascii_control()) {
        return None;
    }
    if text == "*" {
        return Some(("", ""));
    }
    let (scheme, rest) = split_scheme(text)?;
    let (rest, _query) = rest.split_once('?').unwrap_or((rest, ""));
    if !rest.starts_with('/') {
        // Without a slash behind its scheme the address is opaque.
        return (!scheme.is_empty()).then_some((scheme, ""));
    }
    let authority = rest.strip_prefix("//");
    let (authority, path) = match authority {
        Some(rest) if !scheme.is_empty() || !rest.starts_with('/') => {
            let end = rest.find('/').unwrap_or(rest.len());
            rest.split_at(end)
        }
        _ => ("", rest),
    };
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    (is_host(host) && has_valid_escapes(path)).then_some((scheme, host))
}

fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (at, letter) in text.char_indices() {
        match letter {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at > 0 => return Some((&text[..at], &text[at + 1..])),
            ':' => return None,
            _ => break,
        }
    }
    Some(("", text))
}

fn is_host(host: &str) -> bool {
    let name = match host.rfind(']') {
        Some(end) if host.starts_with('[') => return is_port(&host[end + 1..]),
        Some(_) => return false,
        None if host.starts_with('[') => return false,
        None => match host.rfind(':') {
            Some(at) if is_port(&host[at..]) => &host[..at],
            Some(_) => return false,
            None => host,
        },
    };
    let is_allowed = |letter: char| {
        !letter.is_ascii()
            || letter.is_ascii_alphanumeric()
            || "-_.~!$&'()*+,;=:[]<>\"%".contains(letter)
    };
    name.chars().all(is_allowed) && has_valid_escapes(name)
}

fn is_port(text: &str) -> bool {
    text.is_empty()
        || text
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn has_valid_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let digits = after.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}
