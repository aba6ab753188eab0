//! The group `coordination.k8s.io`.

pub mod lease;
pub mod lease_candidate;

use fakeserver_value::{field::Field, findings::Findings, names::qualified_name_problems};
use semver::{BuildMetadata, Version};

/// The strategy of elections that the server holds itself.
pub const OLDEST_EMULATION_VERSION: &str = "OldestEmulationVersion";

/// Checks the strategy of an election: a known one, or a qualified name. Findings call it a member of itself.
fn check_strategy(strategy: &Field<'_>, found: &mut Findings) {
    let place = strategy.called_within(strategy, "strategy");
    if strategy.text().contains('/') {
        found.problems(&place, qualified_name_problems(strategy.text()));
    } else {
        found.optional_one_of(&place, &[OLDEST_EMULATION_VERSION]);
    }
}

/// Reads a version of semver.org 2.0.0, whose build does not count; `None` if the text is no version.
pub fn version(text: &str) -> Option<Version> {
    let version = Version::parse(text).ok()?;
    Some(Version {
        build: BuildMetadata::EMPTY,
        ..version
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_the_standard_says() {
        for text in ["0.0.0", "1.36.2", "1.0.0-0.a.-", "1.0.0+01", "1.0.0-a+b.c"] {
            assert!(version(text).is_some(), "{text}");
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
            assert!(version(text).is_none(), "{text}");
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
        let parsed: Vec<_> = ordered.iter().filter_map(|text| version(text)).collect();
        assert_eq!(parsed.len(), ordered.len());
        assert!(parsed.is_sorted_by(|one, next| one < next));
        assert_eq!(version("1.0.0+a"), version("1.0.0+b"));
    }
}
