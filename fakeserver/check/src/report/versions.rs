//! The versions for which a finding holds, as text.

use fakeserver_versions::KubernetesVersion;

/// Returns some of the checked versions as text: ranges of neighbours as `1.34..1.36`. It is empty if they are all of several,
/// or the only one.
pub(super) fn text(of_finding: &[KubernetesVersion], checked: &[KubernetesVersion]) -> String {
    if of_finding.is_empty() || of_finding == checked {
        return String::new();
    }
    ranges(of_finding)
}

/// Returns versions as text, ranges of neighbours as `1.34..1.36`.
pub(super) fn ranges(versions: &[KubernetesVersion]) -> String {
    let all: Vec<KubernetesVersion> = KubernetesVersion::all().collect();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for version in versions {
        let Some(place) = all.iter().position(|other| other == version) else {
            continue;
        };
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == place => *last = place,
            _ => ranges.push((place, place)),
        }
    }
    let ranges = ranges.into_iter().map(|(first, last)| {
        let (first, last) = (all[first].name(), all[last].name());
        if first == last {
            first.to_owned()
        } else {
            format!("{first}..{last}")
        }
    });
    ranges.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(of_finding: &str, checked: &str) -> String {
        let read = |text: &str| {
            let versions = text.split_whitespace().map(|name| name.parse().unwrap());
            versions.collect::<Vec<KubernetesVersion>>()
        };
        text(&read(of_finding), &read(checked))
    }

    #[test]
    fn neighbours_are_a_range() {
        let all = "1.31 1.32 1.33 1.34 1.35";
        assert_eq!(check("1.32 1.33", all), "1.32..1.33");
        assert_eq!(check("1.31 1.33 1.34 1.35", all), "1.31, 1.33..1.35");
        assert_eq!(check("1.31 1.35", "1.31 1.35 1.37"), "1.31, 1.35");
    }

    #[test]
    fn what_holds_everywhere_names_no_version() {
        assert_eq!(check("1.36", "1.36"), "");
        assert_eq!(check("1.35 1.36", "1.35 1.36"), "");
        assert_eq!(check("", "1.35 1.36"), "");
    }
}
