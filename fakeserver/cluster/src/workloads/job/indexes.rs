//! Sets of completion indexes, as statuses and policies write them: `0,2-4,7`.

use std::{collections::BTreeSet, fmt};

/// A set of completion indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Indexes(BTreeSet<i64>);

// === impl Indexes ===

impl Indexes {
    /// Reads a set. Indexes from `end` on and invalid intervals are left out.
    pub(super) fn parse(text: &str, end: i64) -> Self {
        let ranges = text.split(',').filter_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some(first.parse::<i64>().ok()?..=last.parse::<i64>().ok()?.min(end - 1))
        });
        Self(ranges.flatten().collect())
    }

    pub(super) fn insert(&mut self, index: i64) {
        self.0.insert(index);
    }

    pub(super) fn contains(&self, index: i64) -> bool {
        self.0.contains(&index)
    }

    pub(super) fn count(&self) -> i64 {
        i64::try_from(self.0.len()).unwrap_or(i64::MAX)
    }

    /// Returns those that are in the other set, too.
    pub(super) fn within(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }
}

impl fmt::Display for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(i64, i64)> = Vec::new();
        for index in &self.0 {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == *index => *last = *index,
                _ => ranges.push((*index, *index)),
            }
        }
        for (number, (first, last)) in ranges.iter().enumerate() {
            if number > 0 {
                f.write_str(",")?;
            }
            match last - first {
                0 => write!(f, "{first}")?,
                1 => write!(f, "{first},{last}")?,
                _ => write!(f, "{first}-{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_written_as_ranges() {
        for (text, written) in [
            ("", ""),
            ("3", "3"),
            ("1,2", "1,2"),
            ("1-2,3,5-5", "1-3,5"),
            ("0-99", "0-8"),
            ("x,4,-", "4"),
        ] {
            assert_eq!(Indexes::parse(text, 9).to_string(), written, "{text}");
        }
    }
}
