//! The lives of APIs: the releases that introduced, deprecated and removed them.

use std::{collections::BTreeMap, sync::LazyLock};

use fakeserver_versions::KubernetesVersion;

/// A line for each API that was not stable: group and version, kind, the three releases, and what replaces it.
const TEXT: &str = include_str!("../../data/lifecycles.txt");

static ALL: LazyLock<BTreeMap<(&str, &str), Lifecycle>> = LazyLock::new(read);

/// A minor release: `(1, 25)`.
type Release = (u32, u32);

/// The life of an API that goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lifecycle {
    introduced: &'static str,
    deprecated: &'static str,
    pub(super) removed: &'static str,
    /// The group and version that has the kind later.
    pub(super) replacement: Option<&'static str>,
}

/// The stage of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Age {
    NotYet,
    Current,
    Deprecated,
    Removed,
}

/// Returns the life of a kind, if it ends.
pub(super) fn find(api_version: &str, kind: &str) -> Option<Lifecycle> {
    ALL.get(&(api_version, kind)).copied()
}

/// Returns whether a group has kinds whose life ends.
pub(super) fn has_group(group: &str) -> bool {
    let of_group = |api_version: &str| api_version.split('/').next() == Some(group);
    ALL.keys().any(|(api_version, _)| of_group(api_version))
}

fn read() -> BTreeMap<(&'static str, &'static str), Lifecycle> {
    let rows = TEXT.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [
            api_version,
            kind,
            introduced,
            deprecated,
            removed,
            replacement @ ..,
        ] = &words[..]
        else {
            panic!("a life has a kind and three releases: {line}");
        };
        let life = Lifecycle {
            introduced,
            deprecated,
            removed,
            replacement: replacement.first().copied(),
        };
        ((*api_version, *kind), life)
    });
    rows.collect()
}

// === impl Lifecycle ===

impl Lifecycle {
    /// Returns its stage in a version of Kubernetes.
    pub(super) fn age(&self, kubernetes: KubernetesVersion) -> Age {
        let now = release(kubernetes.name());
        if now >= release(self.removed) {
            Age::Removed
        } else if now >= release(self.deprecated) {
            Age::Deprecated
        } else if now >= release(self.introduced) {
            Age::Current
        } else {
            Age::NotYet
        }
    }

    /// Returns the words of an API server about the deprecated kind.
    pub(super) fn warning(&self, api_version: &str, kind: &str) -> String {
        let mut text = format!(
            "{api_version} {kind} is deprecated in v{}+, unavailable in v{}+",
            self.deprecated, self.removed
        );
        if let Some(replacement) = self.replacement {
            text.extend(["; use ", replacement, " ", kind]);
        }
        text
    }

    pub(super) fn introduced(&self) -> &'static str {
        self.introduced
    }
}

fn release(text: &str) -> Release {
    let parts = text.split_once('.');
    let parts = parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    parts.expect("a release has two numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lives_go_forward_and_end_in_something_that_lives_longer() {
        for ((api_version, kind), life) in &*ALL {
            let releases = [life.introduced, life.deprecated, life.removed].map(release);
            assert!(releases.is_sorted(), "{api_version} {kind}: {releases:?}");
            let Some(replacement) = life.replacement else {
                continue;
            };
            let (group, version) = replacement.split_once('/').unwrap();
            assert!(
                !group.is_empty() && version.starts_with('v'),
                "{replacement}"
            );
            if let Some(next) = find(replacement, kind) {
                assert!(release(next.removed) > releases[2], "{api_version} {kind}");
            }
        }
    }
}
