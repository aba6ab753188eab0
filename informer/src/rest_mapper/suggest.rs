//! Suggestions of similar names.

use super::table::Index;

/// The number of names that an error suggests.
pub(super) const SUGGESTIONS_MAX: usize = 5;

/// The number of letters that may differ.
const DISTANCE_MAX: usize = 2;

/// The names that differ least from `name`, the closest first: at most one letter in three may be wrong.
pub(super) fn closest_names<'a>(index: &'a Index, name: &str) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let limit = DISTANCE_MAX.min(name.len() / 3);
    let mut near: Vec<(usize, &str)> = index
        .keys()
        // A length that differs by more costs at least as many letters.
        .filter(|known| known.len().abs_diff(name.len()) <= limit)
        .map(|known| (strsim::osa_distance(known, &name), known.as_str()))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    near.sort_unstable();
    near.truncate(SUGGESTIONS_MAX);
    near.into_iter().map(|(_, known)| known).collect()
}
