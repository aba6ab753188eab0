//! Suggestions of similar names.

/// The number of letters that may differ.
const DISTANCE_MAX: usize = 2;

/// Returns the name among `known` that is closest to `name`: at most one letter in three may be wrong.
pub fn closest_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = DISTANCE_MAX.min(name.len() / 3);
    let distances = known
        .into_iter()
        .map(|known| (strsim::osa_distance(known, name), known));
    let near = distances.filter(|(distance, _)| *distance <= limit);
    near.min().map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_in_three_may_be_wrong() {
        let known = ["hang", "gone", "throttle", "server_error"];
        assert_eq!(closest_name("server_eror", known), Some("server_error"));
        assert_eq!(closest_name("thorttle", known), Some("throttle"));
        assert_eq!(closest_name("hung", known), Some("hang"));
        assert_eq!(closest_name("flood", known), None);
        assert_eq!(closest_name("", known), None);
    }
}
