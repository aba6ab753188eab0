//! Unified diffs without context, by which the text of a version differs from that of its neighbour.

/// Returns the text that `diff` makes of `old`.
///
/// # Panics
///
/// The diff is not one of `old`, which a test excludes for those that are embedded.
pub(crate) fn apply(old: &str, diff: &str) -> String {
    let mut kept = old.split_inclusive('\n');
    let mut new = String::with_capacity(old.len() + diff.len());
    let mut at = 0;
    for line in diff.split_inclusive('\n') {
        if let Some(head) = line.strip_prefix("@@ -") {
            let start = first_line(head).expect("a hunk names its lines");
            new.extend(kept.by_ref().take(start - at));
            at = start;
        } else if let Some(removed) = line.strip_prefix('-') {
            assert_eq!(kept.next(), Some(removed), "line {}", at + 1);
            at += 1;
        } else {
            new.push_str(&line[1..]);
        }
    }
    new.extend(kept);
    new
}

/// Returns how many lines precede a hunk, by its head without the beginning.
fn first_line(head: &str) -> Option<usize> {
    let (range, _) = head.split_once(' ')?;
    match range.split_once(',') {
        // A hunk that removes nothing names the line before it.
        Some((line, "0")) => line.parse().ok(),
        Some((line, _)) => line.parse::<usize>().ok()?.checked_sub(1),
        None => range.parse::<usize>().ok()?.checked_sub(1),
    }
}
