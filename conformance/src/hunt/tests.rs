use super::{hunt, page};
use crate::{bugs::Bug, seed::Seed};

#[test]
fn a_hunt_ends_with_the_first_seed_that_shows_it() {
    let bug = Bug::find("deleted-ignored").unwrap();
    let found = hunt(bug, (0..50).map(Seed::new));
    let caught = found.catch.as_ref().unwrap();
    assert_eq!(caught.seed, Seed::new(found.seed_count - 1));
    let again = hunt(bug, [caught.seed]);
    assert_eq!(again.catch.as_ref(), Some(caught));
    assert_eq!(caught.checkers[0], caught.violation.checker);

    let without_catch = hunt(bug, []);
    assert_eq!((without_catch.seed_count, &without_catch.catch), (0, &None));

    let page = page(&[found.clone(), without_catch]);
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    assert!(rows[0].starts_with("| `deleted-ignored` | `ListWatch` |"));
    assert!(rows[0].contains(&format!("`{}`", caught.checkers[0])));
    assert!(rows[1].ends_with("| none | 0 |"), "{}", rows[1]);
}
