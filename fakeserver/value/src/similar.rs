//! Suggestions of similar names.

/// The number of letters that may differ.
const DISTANCE_MAX: usize = 2;

/// Returns the name among `known` that is closest to `name`: at most one letter in three may be wrong.
pub fn closest_name<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = DISTANCE_MAX.min(name.len() / 3);
    let distances = candidates
        .into_iter()
        .map(|candidate| (distance(candidate, name), candidate));
    let near = distances.filter(|(distance, _)| *distance <= limit);
    near.min().map(|(_, candidate)| candidate)
}

/// Returns how many letters of one name have to be put in, left out, replaced, or exchanged with the next one.
#[doc(alias = "optimal string alignment")]
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    // Rows of a table: the distances of a beginning of `from` to all beginnings of `to`.
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let (above, mut row) = (&rows[i - 1], vec![i]);
        for j in 1..=to.len() {
            let replaced = above[j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut least = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_distances() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("abcd", "bacd", 1),
            ("ca", "abc", 3),
            ("é世", "世", 1),
        ] {
            assert_eq!(distance(from, to), expected, "{from} {to}");
            assert_eq!(distance(to, from), expected, "{to} {from}");
        }
    }

    #[test]
    fn one_letter_in_three_may_be_wrong() {
        let words = ["hang", "gone", "throttle", "server_error"];
        assert_eq!(closest_name("server_eror", words), Some("server_error"));
        assert_eq!(closest_name("thorttle", words), Some("throttle"));
        assert_eq!(closest_name("hung", words), Some("hang"));
        assert_eq!(closest_name("flood", words), None);
        assert_eq!(closest_name("", words), None);
    }
}
