use std::collections::BTreeSet;

use super::{Bug, Seam};

#[test]
fn each_bug_has_a_name_of_its_own_and_says_what_is_wrong() {
    let names: Vec<&str> = Bug::all().map(|bug| bug.name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for bug in Bug::all() {
        assert_eq!(Bug::find(bug.name), Some(bug));
        let is_plain = |character: char| character.is_ascii_lowercase() || character == '-';
        assert!(bug.name.chars().all(is_plain), "{}", bug.name);
        assert!(!bug.about.is_empty() && !bug.about.ends_with('.'));
    }
    assert_eq!(Bug::find("none"), None);
    let seams: BTreeSet<Seam> = Bug::all().map(Bug::seam).collect();
    assert_eq!(seams.len(), 4);
}
