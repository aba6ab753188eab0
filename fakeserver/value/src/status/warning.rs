//! Warnings, and the headers that carry them.

use std::borrow::Cow;

use http::HeaderValue;

/// The length of all warnings of an answer, in characters, above which each is cut.
const TOTAL_MAX: usize = 4_096;
/// The length of a warning that is cut, in characters.
const CUT_MAX: usize = 256;

/// Returns the headers that carry warnings, which are shorter if they are too many. A warning with control characters
/// has none.
pub fn warning_headers(warnings: &[String]) -> impl Iterator<Item = HeaderValue> {
    let short = shortened(warnings);
    short.into_iter().filter_map(|warning| {
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        HeaderValue::from_bytes(format!("299 - \"{quoted}\"").as_bytes()).ok()
    })
}

/// Returns warnings as they are, or, if they are longer than an answer takes, the beginning of each.
fn shortened(warnings: &[String]) -> Vec<Cow<'_, str>> {
    let length = |warning: &str| warning.chars().count();
    let mut total = 0;
    let fits = |warning: &&String| {
        total += length(warning);
        total <= TOTAL_MAX
    };
    let fitting = warnings.iter().take_while(fits).count();
    if fitting == warnings.len() {
        return warnings.iter().map(Cow::from).collect();
    }
    let mut total = 0;
    let mut cut = Vec::new();
    for (place, warning) in warnings.iter().enumerate() {
        // Warnings before the limit are complete.
        if place > fitting && total >= TOTAL_MAX {
            break;
        }
        let beginning: String = warning.chars().take(CUT_MAX).collect();
        total += length(&beginning);
        cut.push(Cow::from(beginning));
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_cut_if_they_are_too_long_together() {
        let few = vec!["w".repeat(2_000), "x".repeat(2_096)];
        assert_eq!(shortened(&few), few);
        let long: Vec<String> = (0..30).map(|_| "ü".repeat(300)).collect();
        let short = shortened(&long);
        assert_eq!(short.len(), 16);
        assert!(
            short
                .iter()
                .all(|warning| warning.chars().count() == CUT_MAX)
        );
    }

    #[test]
    fn a_warning_is_quoted() {
        let warnings = ["a \"b\" \\ ü".to_owned(), "a\nb".to_owned()];
        let headers: Vec<HeaderValue> = warning_headers(&warnings).collect();
        assert_eq!(headers.len(), 1);
        assert_eq!(
            headers[0].as_bytes(),
            "299 - \"a \\\"b\\\" \\\\ ü\"".as_bytes()
        );
    }
}
