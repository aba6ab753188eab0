//! Names of images, as container runtimes read them.

/// The characters of a tag at most.
const TAG_MAX: usize = 128;
/// The hexadecimal digits of a digest at least.
const DIGEST_MIN: usize = 32;
/// The hexadecimal digits of a name that would be an identifier.
const IDENTIFIER: usize = 64;
const INVALID: &str = "invalid reference format";

/// Returns why a text is no name of an image, in the words of a runtime.
#[doc(alias = "ParseNormalizedNamed")]
pub(super) fn problem(image: &str) -> Option<String> {
    let is_hex = |text: &str| {
        text.bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    if image.len() == IDENTIFIER && is_hex(image) {
        let why = "cannot specify 64-byte hexadecimal strings";
        return Some(format!("invalid repository name ({image}), {why}"));
    }
    let (domain, path) = match image.split_once('/') {
        Some((first, rest)) if is_domain_like(first) => (Some(first), rest.to_owned()),
        Some(_) => (None, image.to_owned()),
        None => (None, format!("library/{image}")),
    };
    let name = path.split(':').next().unwrap_or_default();
    if name.chars().any(char::is_uppercase) {
        return Some(format!(
            "{INVALID}: repository name ({name}) must be lowercase"
        ));
    }
    let is_valid = domain.is_none_or(is_domain) && is_rest(&path);
    (!is_valid).then(|| INVALID.to_owned())
}

/// Returns whether the first part of a name is that of a registry.
fn is_domain_like(first: &str) -> bool {
    first.contains(['.', ':']) || first == "localhost" || first.chars().any(char::is_uppercase)
}

fn is_domain(domain: &str) -> bool {
    let (host, port) = match domain.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (domain, None),
    };
    let is_label = |label: &str| {
        let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !label.is_empty()
            && label.bytes().all(is_inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.split('.').all(is_label)
        && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()))
}

/// Returns whether a text is the path of a name, with a tag and a digest if it has them.
fn is_rest(text: &str) -> bool {
    let (text, digest) = match text.split_once('@') {
        Some((text, digest)) => (text, Some(digest)),
        None => (text, None),
    };
    let (path, tag) = match text.split_once(':') {
        Some((path, tag)) => (path, Some(tag)),
        None => (text, None),
    };
    path.split('/').all(is_component) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest)
}

/// Returns whether a text is letters and digits, with a dot, one or two underscores, or dashes between them.
fn is_component(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut separators = text.split(|it: char| it.is_ascii() && is_plain(it as u8));
    let ends = [text.bytes().next(), text.bytes().last()];
    ends.iter().all(|end| end.is_some_and(is_plain))
        && separators.all(|separator| {
            matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|it| it == b'-')
        })
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut bytes = tag.bytes();
    tag.len() <= TAG_MAX
        && bytes.next().is_some_and(is_word)
        && bytes.all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, hex)) = digest.split_once(':') else {
        return false;
    };
    let is_part = |part: &str| {
        let begins = part
            .bytes()
            .next()
            .is_some_and(|it| it.is_ascii_alphabetic());
        begins && part.bytes().all(|it| it.is_ascii_alphanumeric())
    };
    algorithm.split(['-', '_', '+', '.']).all(is_part)
        && hex.len() >= DIGEST_MIN
        && hex.bytes().all(|it| it.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_images_are_read_as_by_a_runtime() {
        let digest = format!("sha256:{}", "a1".repeat(32));
        for image in [
            "nginx",
            "nginx:1.27-alpine_2",
            "team/web",
            "localhost/web",
            "registry.example.com:5000/team/sub__part/web-x--y.z:v1",
            &format!("nginx@{digest}"),
            &format!("ghcr.io/a/b:v1@{digest}"),
            "Registry/web",
        ] {
            assert_eq!(problem(image), None, "{image}");
        }
        for image in [
            "nginx:::",
            "nginx:",
            ":latest",
            "team//web",
            "-web",
            "web-",
            "a..b",
            "a___b",
            "a b",
            "nginx@sha256:abc",
            "registry.example.com:x/web",
            "-host.example.com/web",
            "",
        ] {
            assert_eq!(problem(image).as_deref(), Some(INVALID), "{image}");
        }
        assert_eq!(
            problem("Nginx").unwrap(),
            "invalid reference format: repository name (library/Nginx) must be lowercase"
        );
        let identifier = problem(&"a".repeat(IDENTIFIER)).unwrap();
        assert!(
            identifier.starts_with("invalid repository name (aaa"),
            "{identifier}"
        );
    }
}
