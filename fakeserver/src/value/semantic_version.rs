//! Versions of semver.org 2.0.0.

use std::cmp::Ordering;

/// A version, in the order of precedence; builds do not count.
#[derive(Clone, Debug, Default)]
pub(crate) struct SemanticVersion {
    core: [u64; 3],
    release: Vec<Identifier>,
}

/// An identifier of a pre-release: numbers come before words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Word(String),
}

// === impl SemanticVersion ===

impl SemanticVersion {
    /// Reads all of `text`: three numbers, and no prefix. `None` if it is no version.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (text, build) = split(text, '+');
        let (core, release) = split(text, '-');
        let core: Option<Vec<u64>> = core.split('.').map(number).collect();
        let release = release.into_iter().flat_map(|release| release.split('.'));
        let release: Option<Vec<Identifier>> = release.map(Identifier::parse).collect();
        let mut builds = build.into_iter().flat_map(|build| build.split('.'));
        Some(Self {
            core: core?.try_into().ok()?,
            release: release.filter(|_| builds.all(is_word))?,
        })
    }
}

impl Ord for SemanticVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        // A version comes after its pre-releases.
        let is_final = |version: &Self| version.release.is_empty();
        let cores = self.core.cmp(&other.core);
        cores
            .then_with(|| is_final(self).cmp(&is_final(other)))
            .then_with(|| self.release.cmp(&other.release))
    }
}

impl PartialOrd for SemanticVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SemanticVersion {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SemanticVersion {}

// === impl Identifier ===

impl Identifier {
    fn parse(text: &str) -> Option<Self> {
        if !is_word(text) {
            return None;
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return number(text).map(Self::Number);
        }
        Some(Self::Word(text.to_owned()))
    }
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at)
        .map_or((text, None), |(before, after)| (before, Some(after)))
}

fn number(text: &str) -> Option<u64> {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = text == "0" || !text.starts_with('0');
    text.parse().ok().filter(|_| is_digits && is_short)
}

fn is_word(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !text.is_empty() && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_the_standard_says() {
        for text in ["0.0.0", "1.36.2", "1.0.0-0.a.-", "1.0.0+01", "1.0.0-a+b.c"] {
            assert!(SemanticVersion::parse(text).is_some(), "{text}");
        }
        for text in [
            "",
            "1",
            "1.36",
            "v1.36.0",
            "1.36.0.0",
            "01.0.0",
            "1.0.+1",
            "1.0.0-",
            "1.0.0-01",
            "1.0.0-a..b",
            "1.0.0+",
            "1.0.0 ",
            "1.0.0-ä",
            "99999999999999999999.0.0",
        ] {
            assert!(SemanticVersion::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn versions_are_in_order_of_precedence() {
        let ordered = [
            "0.9.10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.9.0",
            "1.10.0",
            "2.0.0",
        ];
        let parsed: Vec<_> = ordered
            .iter()
            .filter_map(|text| SemanticVersion::parse(text))
            .collect();
        assert_eq!(parsed.len(), ordered.len());
        assert!(parsed.is_sorted_by(|one, next| one < next));
        assert_eq!(
            SemanticVersion::parse("1.0.0+a"),
            SemanticVersion::parse("1.0.0+b")
        );
    }
}
