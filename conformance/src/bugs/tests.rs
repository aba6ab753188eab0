use std::collections::BTreeSet;

use super::{Bug, Seam, hunt, page};
use crate::seed::Seed;

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

#[test]
fn a_hunt_ends_with_the_first_seed_that_shows_it() {
    let bug = Bug::find("deleted-ignored").unwrap();
    let found = hunt(bug, (0..50).map(Seed::new));
    let caught = found.catch.as_ref().unwrap();
    assert_eq!(caught.seed, Seed::new(found.seed_count - 1));
    let again = hunt(bug, [caught.seed]);
    assert_eq!(again.catch.as_ref(), Some(caught));
    assert_eq!(caught.checkers[0], caught.violation.checker);

    let nobody = hunt(bug, []);
    assert_eq!((nobody.seed_count, &nobody.catch), (0, &None));

    let page = page(&[found.clone(), nobody]);
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    assert!(rows[0].starts_with("| `deleted-ignored` | `ListWatch` |"));
    assert!(rows[0].contains(&format!("`{}`", caught.checkers[0])));
    assert!(rows[1].ends_with("| nobody | 0 |"), "{}", rows[1]);
}
